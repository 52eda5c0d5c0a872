import BluetoothLESimulator

/// A minimal host: sends packets, waits for events, counts credits.
@LoopActor
final class TestHost {
  let controller: VirtualController
  /// All received packets, with their times since the host's creation in µs.
  private(set) var log: [(time: Int64, packet: [UInt8])] = []
  fileprivate(set) var events: [Event] = []
  private(set) var acl: [ACLData] = []
  private(set) var closed: (any Error)?
  /// The number of packets that the controller can still accept.
  var credits = 0
  private let start = EventLoop.shared.now.nanoseconds
  private var arrival = Wait<Void>()

  init(_ controller: VirtualController) {
    self.controller = controller
    controller.handler = { [weak self] in self?.take($0) }
  }

  convenience init(air: Air, _ configure: (inout VirtualController.Configuration) -> Void = { _ in }) {
    var configuration = VirtualController.Configuration()
    configure(&configuration)
    self.init(VirtualController(air: air, configuration: configuration))
  }

  private func take(_ event: TransportEvent) {
    switch event {
    case .received(let packet):
      log.append(((EventLoop.shared.now.nanoseconds - start) / 1000, packet))
      switch try? Packet(packet) {
      case .event(let event):
        if case .numberOfCompletedPackets(let entries) = event { credits += entries.reduce(0) { $0 + Int($1.count) } }
        events.append(event)
      case .acl(let data): acl.append(data)
      default: break
      }
    case .closed(let error), .refused(_, let error), .linkEnded(_, let error), .linkExhausted(_, let error): closed = error
    }
    let arrival = arrival
    self.arrival = Wait()
    arrival.resume(returning: ())
  }

  struct NothingCame: Error {}

  /// Waits until the condition holds, for at most a minute. Checks it after every packet.
  func wait(until condition: () -> Bool) async throws {
    let deadline = EventLoop.shared.now.advanced(by: .seconds(60))
    while !condition() {
      guard try await arrival.value(until: deadline) != nil else { throw NothingCame() }
    }
  }

  /// Removes and returns the first matching event.
  func event<T>(_ match: (Event) -> T?) async throws -> T {
    var found: T?
    try await wait {
      for (index, event) in events.enumerated() {
        guard let value = match(event) else { continue }
        found = value
        events.remove(at: index)
        return true
      }
      return false
    }
    guard let found else { throw NothingCame() }
    return found
  }

  func send(_ command: some Command) { controller.send(command.encoded) }

  /// Sends a command and returns its return parameters from Command Complete.
  @discardableResult
  func complete<C: Command>(_ command: C) async throws -> Result<C.Return, ControllerErrorCode> {
    send(command)
    return try C.Return.decode(
      await event { event -> [UInt8]? in
        guard case .commandComplete(let complete) = event, complete.opcode == command.opcode else { return nil }
        return complete.parameters
      })
  }

  /// Sends a command and returns the status of Command Complete. Nil means success.
  func refusal<C: Command>(_ command: C) async throws -> ControllerErrorCode? {
    if case .failure(let status) = try await complete(command) { status } else { nil }
  }

  /// Sends a command and returns the status of Command Status.
  @discardableResult
  func status(_ command: some Command) async throws -> ControllerErrorCode { try await status(command.packet) }

  func status(_ command: CommandPacket) async throws -> ControllerErrorCode {
    controller.send(command.encoded)
    return try await event {
      guard case .commandStatus(let status) = $0, status.opcode == command.opcode else { return nil }
      return status.status
    }
  }

  /// Sends Reset and enables all events.
  func setUp() async throws {
    try await complete(Reset())
    try await complete(SetEventMask(.max))
    try await complete(LESetEventMask(.max))
    credits = Int(try await complete(LEReadBufferSize()).get().aclCount)
  }

  func connect(
    _ peer: PeerAddress, interval: ConnectionInterval = 24, latency: UInt16 = 0, timeout: Centiseconds = 500
  ) async throws -> Event.ConnectionComplete {
    try await status(.create(peer, interval: interval, latency: latency, timeout: timeout))
    return try await connectionComplete()
  }

  func connectionComplete() async throws -> Event.ConnectionComplete {
    try await event { if case .leConnectionComplete(let complete) = $0 { complete } else { nil } }
  }

  func disconnection() async throws -> ControllerErrorCode {
    try await event { if case .disconnectionComplete(_, _, let reason) = $0 { reason } else { nil } }
  }

  /// Sends one L2CAP frame in packets of at most `length` bytes, when the controller has room.
  func send(_ payload: [UInt8], onChannel cid: UInt16 = 4, handle: ConnectionHandle, length: Int = 251) async throws {
    var frame = ByteWriter()
    frame.uint16(UInt16(payload.count))
    frame.uint16(cid)
    frame.append(payload)
    for start in stride(from: 0, to: frame.bytes.count, by: length) {
      try await wait { credits > 0 || closed != nil || events.contains { if case .disconnectionComplete = $0 { true } else { false } } }
      credits -= 1
      let part = Array(frame.bytes[start..<min(frame.bytes.count, start + length)])
      controller.send(ACLData(handle: handle, boundary: start == 0 ? .firstNonFlushable : .continuing, payload: part).encoded)
    }
  }

  /// The received frames, put together from their fragments.
  var frames: [[UInt8]] {
    acl.reduce(into: [[UInt8]]()) { frames, data in
      if data.boundary == .continuing, let last = frames.popLast() {
        frames.append(last + data.payload)
      } else {
        frames.append(data.payload)
      }
    }
  }

  var reports: [AdvertisingReport] {
    events.flatMap { event -> [AdvertisingReport] in
      switch event {
      case .leAdvertisingReports(let reports): reports.reports.compactMap(\.report)
      case .leExtendedAdvertisingReports(let reports): reports.reports.map(\.report)
      default: []
      }
    }
  }
}

// Commands with these tests' usual parameters.

extension Command where Self == LECreateConnection {
  static func create(_ peer: PeerAddress, interval: ConnectionInterval = 24, latency: UInt16 = 0, timeout: Centiseconds = 500) -> Self {
    Self(
      scanInterval: 0x10, scanWindow: 0x10, peer: peer, ownAddressType: 0,
      parameters: ConnectionParameters(intervalMin: interval, intervalMax: interval, latency: latency, supervisionTimeout: timeout))
  }
}

extension Command where Self == LEExtendedCreateConnection {
  static func extendedCreate(_ peer: PeerAddress, interval: ConnectionInterval = 24) -> Self {
    Self(
      ownAddressType: 0, peer: peer, phys: .le1M,
      initiating: [
        .init(
          scanInterval: 0x10, scanWindow: 0x10,
          parameters: ConnectionParameters(intervalMin: interval, intervalMax: interval, latency: 0, supervisionTimeout: 500))
      ])
  }
}

extension Command where Self == LESetScanEnable {
  static func scan(_ isOn: Bool, filterDuplicates: Bool = false) -> Self { Self(isOn, filterDuplicates: filterDuplicates) }
}

extension Command where Self == LESetScanParameters {
  static func scanParameters(active: Bool = true, interval: Slots = 0x10, window: Slots = 0x10) -> Self {
    Self(ScanTiming(isActive: active, interval: interval, window: window), ownAddressType: 0, filterPolicy: 0)
  }
}

extension Command where Self == LESetExtendedScanParameters {
  static func extendedScanParameters(active: Bool = true, phys: PHYMask = .le1M) -> Self {
    Self(
      ownAddressType: 0, filterPolicy: 0, phys: phys,
      Array(repeating: ScanTiming(isActive: active, interval: 0x10, window: 0x10), count: phys.rawValue.nonzeroBitCount))
  }
}

extension Command where Self == LESetExtendedScanEnable {
  static func extendedScan(_ isOn: Bool, filter: UInt8 = 0, duration: Centiseconds = 0, period: UInt16 = 0) -> Self {
    Self(isOn, filterDuplicates: filter, duration: duration, period: period)
  }
}

extension TestHost {
  func forget() { events = [] }

  func scan(active: Bool, extended: Bool) async throws {
    if extended {
      try await complete(.extendedScanParameters(active: active))
      try await complete(.extendedScan(true))
    } else {
      try await complete(.scanParameters(active: active))
      try await complete(.scan(true))
    }
  }

  func stopScan(extended: Bool) async throws {
    if extended { try await complete(.extendedScan(false)) } else { try await complete(.scan(false)) }
  }
}
