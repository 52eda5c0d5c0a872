import BluetoothLESimulator
import TestSupport

/// Two controllers in one air, with a host each: one advertises, the other connects.
@LoopActor
struct ControllerPair {
  let air: Air
  let central: TestHost
  let peripheral: TestHost

  /// The address of the peripheral's controller.
  static nonisolated var peer: PeerAddress { PeerAddress(Address(rawValue: 0x5E00_5311), .public) }

  init(_ air: Air = Air(), _ configure: (inout VirtualController.Configuration) -> Void = { _ in }) async throws {
    self.air = air
    central = TestHost(air: air, configure)
    peripheral = Self.host(in: air, 0x11, configure)
    try await central.setUp()
    try await peripheral.setUp()
  }

  /// Returns a host whose controller has the address 00:00:5E:00:53:`number`.
  static func host(
    in air: Air, _ number: UInt64 = 0x11, _ configure: (inout VirtualController.Configuration) -> Void = { _ in }
  ) -> TestHost {
    var configuration = VirtualController.Configuration()
    configure(&configuration)
    return TestHost(VirtualController(air: air, address: Address(rawValue: 0x5E00_5300 + number), configuration: configuration))
  }

  func connect(interval: ConnectionInterval = 6, timeout: Centiseconds = 500) async throws -> ControllerLinks {
    try await peripheral.advertise()
    let mine = try await central.connect(Self.peer, interval: interval, timeout: timeout)
    return ControllerLinks(central: mine.handle, peripheral: try await peripheral.connectionComplete().handle)
  }

  func close() {
    central.controller.close()
    peripheral.controller.close()
  }
}

/// The handles of one link at both ends.
struct ControllerLinks {
  let central: ConnectionHandle
  let peripheral: ConnectionHandle
}

extension TestHost {
  static nonisolated let data: [UInt8] = [2, 1, 6, 3, 9, 0x41, 0x42]
  static nonisolated let response: [UInt8] = [5, 9, 0x41, 0x42, 0x43, 0x44]

  /// Advertises with legacy commands.
  func advertise(
    _ type: UInt8 = 0, interval: Slots = 0xA0, to peer: PeerAddress = PeerAddress(Address(rawValue: 0), .public)
  ) async throws {
    for refused in [
      try await refusal(LESetAdvertisingParameters(intervalMin: interval, intervalMax: interval, type: type, peer: peer)),
      try await refusal(LESetAdvertisingData(Self.data)), try await refusal(LESetScanResponseData(Self.response)),
      try await refusal(LESetAdvertisingEnable(true)),
    ] { #expect(refused == nil) }
  }

  /// Advertises with extended commands.
  func advertise(
    set handle: UInt8, _ properties: UInt16, data: [UInt8] = data, response: [UInt8] = [], primary: UInt8 = 1, secondary: UInt8 = 1,
    sid: UInt8 = 0, duration: Centiseconds = 0, maxEvents: UInt8 = 0
  ) async throws {
    let parameters = LESetExtendedAdvertisingParameters.parameters(handle, properties, primary: primary, secondary: secondary, sid: sid)
    #expect(try await complete(parameters) == .success(.init(selectedTXPower: 0)))
    for (bytes, isResponse) in [(data, false), (response, true)] where !bytes.isEmpty {
      for start in stride(from: 0, to: bytes.count, by: 200) {
        let isLast = start + 200 >= bytes.count
        let operation: UInt8 = start == 0 ? isLast ? 3 : 1 : isLast ? 2 : 0
        let part = Array(bytes[start..<min(bytes.count, start + 200)])
        let refused =
          isResponse
          ? try await refusal(LESetExtendedScanResponseData(advertisingHandle: handle, operation: operation, part))
          : try await refusal(LESetExtendedAdvertisingData(advertisingHandle: handle, operation: operation, part))
        #expect(refused == nil)
      }
    }
    let entry = LESetExtendedAdvertisingEnable.Entry(advertisingHandle: handle, duration: duration, maxEvents: maxEvents)
    #expect(try await refusal(LESetExtendedAdvertisingEnable(true, sets: [entry])) == nil)
  }

  /// The status, the advertising handle, the connection handle and the events of LE Advertising Set Terminated.
  func termination() async throws -> (status: ControllerErrorCode, set: UInt8, handle: ConnectionHandle, events: UInt8) {
    try await event {
      if case .leAdvertisingSetTerminated(let status, let set, let handle, let events) = $0 { (status, set, handle, events) } else { nil }
    }
  }

  var extendedReports: [ExtendedAdvertisingReport] {
    events.flatMap { event -> [ExtendedAdvertisingReport] in
      if case .leExtendedAdvertisingReports(let reports) = event { reports.reports } else { [] }
    }
  }
}

extension Command where Self == LESetExtendedAdvertisingParameters {
  static func parameters(
    _ handle: UInt8, _ properties: UInt16, interval: UInt32 = 0xA0, own: UInt8 = 0, primary: UInt8 = 1, secondary: UInt8 = 1, sid: UInt8 = 0
  ) -> Self {
    Self(
      advertisingHandle: handle, properties: properties, intervalMin: interval, intervalMax: interval, ownAddressType: own,
      peer: PeerAddress(Address(rawValue: 0x5E00_5301), .public), primaryPHY: primary, secondaryPHY: secondary, sid: sid)
  }
}
