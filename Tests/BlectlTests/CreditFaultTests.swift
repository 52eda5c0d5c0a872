import BluetoothLESimulator
import TestSupport

@testable import Presentation

/// Our host loses, doubles or delays one Number Of Completed Packets event (Vol 4 Part E §7.7.19): each event of a transfer in turn.
@Suite(.timeLimit(.minutes(15))) struct CreditFaultTests {
  typealias Way = TransferFaultTests.Way

  enum Fault: String, CaseIterable, Sendable {
    case dropped, doubled, delayed
  }

  /// A transport that alters events from the controller to the host.
  @LoopActor private final class Transport: BluetoothLE.Transport {
    var handler: (@LoopActor (TransportEvent) -> Void)? {
      didSet { controller.handler = { [weak self] in self?.receive($0) } }
    }
    /// The credit events since `arm`, while armed.
    private(set) var events = 0
    var isArmed = false
    private let controller: VirtualController
    private var fault: (kind: Fault, number: Int)?

    init(_ controller: VirtualController) { self.controller = controller }

    func arm(_ fault: Fault?, at number: Int) {
      (events, isArmed) = (0, true)
      self.fault = fault.map { ($0, number) }
    }

    func send(_ packet: [UInt8]) { controller.send(packet) }
    func close() { controller.close() }

    private func receive(_ event: TransportEvent) {
      guard case .received(let packet) = event, packet.starts(with: [Packet.eventIndicator, 0x13]) else {
        handler?(event)
        return
      }
      if isArmed { events += 1 }
      guard isArmed, let fault, events == fault.number else {
        handler?(event)
        return
      }
      switch fault.kind {
      case .dropped: break
      case .doubled:
        handler?(event)
        handler?(event)
      case .delayed: EventLoop.shared.schedule(after: .milliseconds(300)) { self.handler?(event) }
      }
    }
  }

  private static let segment = 20
  private static let file = (0..<segment * 60).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  private static let limit = Duration.seconds(5)

  /// A host and a sink that counts.
  @LoopActor private struct Setting {
    let transport: Transport
    let central: HostCentral
    private static let peer = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_12), .random)

    init(buffers: Int) async throws {
      let text = """
        {"name": "Sink", "address": "\(Self.peer)", "mtu": 23, "link": {"controller_buffers": \(buffers)}, "services": [
          {"uuid": "fff0", "characteristics": [{"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}},
            {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
        """
      let air = Air()
      air.add(try PeripheralFile.parse(Array(text.utf8), name: "test"))
      transport = Transport(VirtualController(air: air))
      central = HostCentral(transport, name: "sim")
      try await central.start()
    }

    /// Sends over a new link. - Returns: The failure, and the sink's report from the next link.
    func send(_ way: Way, from offset: Int = 0, _ fault: Fault? = nil, at number: Int = 0) async throws -> (Failure?, ArrivalReport?) {
      let link = try await central.connect(Self.peer, timeout: .seconds(5))
      let client = Client(link.channel)
      client.limit = limit
      let target = try await client.characteristic(Selector("fff6")).valueHandle
      let report = try await client.characteristic(Selector("fff7")).valueHandle
      var options = TransferOptions()
      options.pacing.provesEvery = 16
      let begin = try #require(ArrivalReport(await client.read(report))).count
      let question = ArrivalQuestion(.read(report)) { response in
        if case .read(let value) = response { ArrivalReport(value).map { $0.count - begin + offset } } else { nil }
      }
      let transfer = Transfer(
        client, to: target, mode: way.mode.writeMode, segment: segment, pacing: options.pacing(segment: segment), ByteArray(file),
        from: offset, asking: way == .countedCommands ? question : nil,
        pace: TransferPace().begin(on: way == .probedCommands ? .milliseconds(30) : nil))
      transport.arm(fault, at: number)
      let task = EventLoop.shared.spawn { () -> Failure? in
        do { try await transfer.run() } catch {
          return Failure(
            transfer: IncompleteWrite(
              mode: way.mode.writeMode, progress: transfer.progress, total: file.count, segments: .max, cause: error))
        }
        return nil
      }
      var hangs = false
      let timer = EventLoop.shared.schedule(after: limit * 4) {
        hangs = true
        task.cancel()
      }
      let failure = await task.value
      timer.cancel()
      try #require(!hangs, "it hangs: event \(number) \(fault.map { "\($0)" } ?? "")")
      transport.isArmed = false
      client.close()
      await link.disconnect()
      let next = try await central.connect(Self.peer, timeout: .seconds(5))
      let reader = Client(next.channel)
      let value = try await reader.read(report)
      reader.close()
      await next.disconnect()
      return (failure, ArrivalReport(value))
    }
  }

  private static func report(_ count: Int) -> ArrivalReport { ArrivalReport(of: Array(file[..<count])) }

  /// With few buffers, a lost event takes all of them.
  @Test(.onLoop, arguments: Way.allCases, [1, 2, 8]) @LoopActor func everyFaultAtEveryEvent(_ way: Way, _ buffers: Int) async throws {
    let intact = try await Setting(buffers: buffers)
    let (failure, arrived) = try await intact.send(way)
    #expect(failure == nil && arrived == Self.report(Self.file.count))
    let events = intact.transport.events
    #expect(events >= 10)
    for fault in Fault.allCases {
      for number in 1...events { try await Self.check(fault, number, way, buffers) }
    }
  }

  @LoopActor private static func check(_ fault: Fault, _ number: Int, _ way: Way, _ buffers: Int) async throws {
    let place: Comment = "event \(number) \(fault), \(way), \(buffers) buffers"
    let setting = try await Setting(buffers: buffers)
    let (failure, arrived) = try await setting.send(way, fault, at: number)
    guard let failure else {
      #expect(arrived == report(file.count), place)
      return await setting.central.close()
    }
    // A delay below the limit causes no failure. A host that counts an event twice sends too much, which the controller reports.
    #expect(failure.exitStatus.rawValue == (fault == .dropped ? 4 : 6) && fault != .delayed, "\(place): \(failure.message)")
    if fault != .dropped { #expect(failure.name == "data_buffer_overflow", "\(place): \(failure.message)") }
    let (told, count) = (try #require(failure.resumeOffset, place), try #require(arrived, place).count)
    #expect(arrived == report(count) && told <= count, "\(place): told \(told), arrived \(count)")
    // The end of the link freed the buffers.
    let (again, whole) = try await setting.send(way, from: count)
    #expect(again == nil && whole == report(file.count), "\(place): \(again?.message ?? "")")
    await setting.central.close()
  }
}
