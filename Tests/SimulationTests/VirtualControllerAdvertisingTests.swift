import BluetoothLESimulator
import TestSupport

/// Tests the advertisements of a controller, as another controller of the air hears them, and the checks of the commands.
@Suite(.timeLimit(.minutes(15))) struct VirtualControllerAdvertisingTests {
  typealias PDU = AdvertisingReport.PDU

  @Test(
    .onLoop,
    arguments: [(0, [.connectable, .scanResponse]), (2, [.scannable, .scanResponse]), (3, [.nonConnectable])] as [(UInt8, Set<PDU>)],
    [false, true])
  @LoopActor func legacyPDUs(_ row: (type: UInt8, pdus: Set<PDU>), extended: Bool) async throws {
    let it = try await ControllerPair()
    try await it.central.scan(active: true, extended: extended)
    try await it.peripheral.scan(active: true, extended: false)
    try await it.peripheral.advertise(row.type)
    try await EventLoop.shared.sleep(for: .seconds(10))
    let reports = it.central.reports
    #expect(Set(reports.map(\.pdu)) == row.pdus)
    #expect(reports.allSatisfy { $0.peer == ControllerPair.peer })
    #expect(reports.filter { $0.pdu != .scanResponse }.allSatisfy { $0.data == TestHost.data })
    #expect(reports.filter { $0.pdu == .scanResponse }.allSatisfy { $0.data == TestHost.response })
    // 100 ms, and 0–10 ms for each event.
    #expect((90...100).contains(reports.count / row.pdus.count))
    // It does not hear itself.
    #expect(it.peripheral.reports.isEmpty)
    // New data need no new start. Afterwards, the air is silent.
    #expect(try await it.peripheral.refusal(LESetAdvertisingData([2, 1, 4])) == nil)
    it.central.forget()
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(it.central.reports.filter { $0.pdu != .scanResponse }.allSatisfy { $0.data == [2, 1, 4] } && !it.central.reports.isEmpty)
    #expect(try await it.peripheral.refusal(LESetAdvertisingEnable(false)) == nil)
    it.central.forget()
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(it.central.reports.isEmpty)
    it.close()
  }

  /// Only the device that a directed advertisement invites reports it, and connects.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func directed(extended: Bool) async throws {
    let it = try await ControllerPair()
    let other = ControllerPair.host(in: it.air, 0x22)
    try await other.setUp()
    for host in [it.central, other] { try await host.scan(active: true, extended: extended) }
    let central = PeerAddress(VirtualController.defaultAddress, .public)
    try await it.peripheral.advertise(4, to: central)
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(other.reports.isEmpty && it.central.reports.count > 40)
    if extended {
      #expect(it.central.extendedReports.allSatisfy { $0.eventType == 0x15 && $0.directAddress == central.address && $0.data.isEmpty })
    } else {
      #expect(it.central.reports.allSatisfy { $0.data.isEmpty })
    }
    let create: any Command =
      extended ? LEExtendedCreateConnection.extendedCreate(ControllerPair.peer) : LECreateConnection.create(ControllerPair.peer)
    try await other.status(create)
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(!other.events.contains { if case .leConnectionComplete = $0 { true } else { false } })
    try await it.central.status(create)
    #expect(try await it.central.connectionComplete().peer == ControllerPair.peer)
    #expect(try await it.peripheral.connectionComplete().peer == central)
    other.controller.close()
    it.close()
  }

  @Test(.onLoop) @LoopActor func highDutyCycleEndsBySelf() async throws {
    let it = try await ControllerPair()
    let start = EventLoop.shared.now
    try await it.peripheral.advertise(1, to: TestDevice.nobody)
    let complete = try await it.peripheral.connectionComplete()
    #expect(complete.status.rawValue == 0x3C && complete.role == 1)
    #expect(start.duration(to: EventLoop.shared.now).inMilliseconds == 1280)
    // It can start again.
    #expect(try await it.peripheral.refusal(LESetAdvertisingEnable(true)) == nil)
    it.close()
  }

  @Test(.onLoop) @LoopActor func extendedPDUs() async throws {
    let it = try await ControllerPair()
    let long = (0..<1650).map { UInt8(truncatingIfNeeded: $0) }
    // Several sets at the same time: non-connectable, scannable, connectable, with the transmit power, anonymous, and legacy PDUs.
    try await it.peripheral.advertise(set: 0, 0, data: long, secondary: 2, sid: 3)
    try await it.peripheral.advertise(set: 1, 0x02, data: [], response: Array(long.prefix(300)), sid: 4)
    try await it.peripheral.advertise(set: 0xEF, 0x41, data: Array(long.prefix(245)), primary: 3, secondary: 3, sid: 5)
    try await it.peripheral.advertise(set: 7, 0x20, sid: 6)
    try await it.peripheral.advertise(set: 8, 0x13, response: TestHost.response)
    try await it.central.complete(.extendedScanParameters(phys: [.le1M, .coded]))
    try await it.central.complete(.extendedScan(true, filter: 1))
    try await EventLoop.shared.sleep(for: .seconds(2))
    let reports = it.central.extendedReports
    func of(_ sid: UInt8) -> [ExtendedAdvertisingReport] { reports.filter { $0.sid == sid } }
    #expect(of(3).map(\.data.count) == [229, 229, 229, 229, 229, 229, 229, 47] && of(3).flatMap(\.data) == long)
    #expect(of(3).map(\.eventType) == [0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0])
    #expect(of(3).allSatisfy { $0.primaryPHY == 1 && $0.secondaryPHY == 2 && $0.txPower == 127 })
    #expect(of(4).map(\.eventType) == [0x02, 0x2A, 0x0A] && of(4).flatMap(\.data) == Array(long.prefix(300)))
    #expect(of(5).map(\.eventType) == [0x21, 0x01] && of(5).allSatisfy { $0.primaryPHY == 3 && $0.secondaryPHY == 3 && $0.txPower == 0 })
    #expect(of(6).map(\.eventType) == [0] && of(6).allSatisfy { $0.addressType == 0xFF && $0.data == TestHost.data })
    #expect(of(0xFF).map(\.eventType) == [0x13, 0x1B])
    // New data count as new for the filter, and "unchanged" means so too.
    it.central.forget()
    #expect(try await it.peripheral.refusal(LESetExtendedAdvertisingData(advertisingHandle: 7, [1, 2])) == nil)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(try await it.peripheral.refusal(LESetExtendedAdvertisingData(advertisingHandle: 7, operation: 4, [])) == nil)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(it.central.extendedReports.map(\.data) == [[1, 2], [1, 2]])
    // A scanner of 1M does not hear coded, and legacy commands hear no extended PDUs.
    try await it.central.setUp()
    it.central.forget()
    try await it.central.scan(active: false, extended: true)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(Set(it.central.extendedReports.map(\.sid)) == [3, 4, 6, 0xFF])
    try await it.central.setUp()
    it.central.forget()
    try await it.central.scan(active: true, extended: false)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(Set(it.central.reports.map(\.pdu)) == [.connectable, .scanResponse])
    it.close()
  }

  /// A set ends after its duration, or after its events, which count also while nobody listens.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func limits(isHeard: Bool) async throws {
    let it = try await ControllerPair()
    if isHeard { try await it.central.scan(active: false, extended: true) }
    let start = EventLoop.shared.now
    try await it.peripheral.advertise(set: 2, 0x13, maxEvents: 20)
    let counted = try await it.peripheral.termination()
    #expect(counted.status.rawValue == 0x43 && counted.set == 2 && counted.events == 20)
    #expect((1900...2100).contains(start.duration(to: EventLoop.shared.now).inMilliseconds))
    if isHeard { #expect(it.central.reports.count == 20) }
    let again = EventLoop.shared.now
    try await it.peripheral.advertise(set: 2, 0x13, duration: 300)
    let timed = try await it.peripheral.termination()
    #expect(timed.status.rawValue == 0x3C && timed.set == 2 && timed.events == 0)
    #expect(again.duration(to: EventLoop.shared.now) == .seconds(3))
    it.central.forget()
    try await EventLoop.shared.sleep(for: .seconds(3))
    #expect(it.central.reports.isEmpty)
    it.close()
  }

  // MARK: Refusals

  private static let nobody = PeerAddress(Address(rawValue: 0), .public)

  private static func legacy(
    _ min: Slots = 0x20, _ max: Slots = 0x20, _ type: UInt8 = 0, own: UInt8 = 0, map: UInt8 = 7, policy: UInt8 = 0
  ) -> LESetAdvertisingParameters {
    LESetAdvertisingParameters(
      intervalMin: min, intervalMax: max, type: type, ownAddressType: own, peer: nobody, channelMap: map, filterPolicy: policy)
  }

  @Test(
    .onLoop,
    arguments: [
      (legacy(0x1F), .invalidParameters), (legacy(0x21, 0x20), .invalidParameters), (legacy(0x20, 0x4001), .invalidParameters),
      (legacy(0, 0, 1), nil), (legacy(0x20, 0x20, 5), .invalidParameters), (legacy(map: 0), .invalidParameters),
      (legacy(map: 8), .invalidParameters), (legacy(own: 4), .invalidParameters), (legacy(policy: 1), .unsupportedFeature),
      (legacy(policy: 4), .invalidParameters), (legacy(), nil),
    ] as [(LESetAdvertisingParameters, ControllerErrorCode?)])
  @LoopActor func legacyParameters(_ row: (LESetAdvertisingParameters, ControllerErrorCode?)) async throws {
    let host = TestHost(air: Air())
    #expect(try await host.refusal(row.0) == row.1)
    host.controller.close()
  }

  @Test(
    .onLoop,
    arguments: [
      (.parameters(0xF0, 0), 0x12), (.parameters(0, 0, interval: 0x1F), 0x12), (.parameters(0, 0, own: 4), 0x12),
      (.parameters(0, 0, sid: 16), 0x12), (.parameters(0, 0, primary: 2), 0x12), (.parameters(0, 0, secondary: 4), 0x12),
      // Connectable and scannable; anonymous and connectable; high duty cycle; reserved; no legacy PDU; legacy on coded.
      (.parameters(0, 0x03), 0x12), (.parameters(0, 0x21), 0x12), (.parameters(0, 0x0D), 0x12), (.parameters(0, 0x80), 0x12),
      (.parameters(0, 0x11), 0x12), (.parameters(0, 0x13, primary: 3), 0x12), (.parameters(0, 0x01, interval: 0xFFFFFF), nil),
      (.parameters(0, 0x1D), nil), (.parameters(0, 0x05, primary: 3, secondary: 3), nil),
    ] as [(LESetExtendedAdvertisingParameters, UInt8?)])
  @LoopActor func extendedParameters(_ row: (LESetExtendedAdvertisingParameters, UInt8?)) async throws {
    let host = TestHost(air: Air())
    #expect(try await host.refusal(row.0)?.rawValue == row.1)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func thePHYsOfTheController() async throws {
    let host = TestHost(air: Air()) { $0.phys = [.le1M] }
    #expect(try await host.refusal(.parameters(0, 0, secondary: 2)) == .unsupportedFeature)
    #expect(try await host.refusal(.parameters(0, 0, primary: 3)) == .unsupportedFeature)
    #expect(try await host.refusal(.parameters(0, 0)) == nil)
  }

  @Test(.onLoop) @LoopActor func enabledSetsKeepTheirParameters() async throws {
    let host = TestHost(air: Air())
    try await host.setUp()
    #expect(try await host.complete(LEReadAdvertisingPhysicalChannelTXPower()) == .success(.init(0)))
    // A random address that the host has not set.
    #expect(try await host.refusal(Self.legacy(own: 1)) == nil)
    #expect(try await host.refusal(LESetAdvertisingEnable(true)) == .invalidParameters)
    #expect(try await host.refusal(LESetRandomAddress(TestDevice.nobody.address)) == nil)
    #expect(try await host.refusal(LESetAdvertisingEnable(true)) == nil)
    #expect(try await host.refusal(LESetAdvertisingEnable(true)) == nil)
    #expect(try await host.refusal(Self.legacy()) == .commandDisallowed)
    #expect(try await host.refusal(LESetRandomAddress(TestDevice.nobody.address)) == .commandDisallowed)
    // The sets of commands do not mix, in either order, and Reset ends all.
    for command in [.parameters(0, 0x13), LEClearAdvertisingSets()] as [any Command] {
      #expect(try await host.refusal(command) == .commandDisallowed)
    }
    #expect(try await host.complete(LEReadNumberOfSupportedAdvertisingSets()) == .success(.init(8)))
    #expect(try await host.complete(LEReadMaximumAdvertisingDataLength()) == .success(.init(1650)))
    try await host.setUp()
    #expect(try await host.refusal(.parameters(0, 0x13)) == nil)
    let legacy: [any Command] = [
      Self.legacy(), LESetAdvertisingData([]), LESetScanResponseData([]), LESetAdvertisingEnable(false),
      LEReadAdvertisingPhysicalChannelTXPower(),
    ]
    for command in legacy { #expect(try await host.refusal(command) == .commandDisallowed) }
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func sets() async throws {
    let host = TestHost(air: Air())
    try await host.setUp()
    let unknown = ControllerErrorCode(rawValue: 0x42)
    func enable(_ isOn: Bool, _ handles: UInt8...) async throws -> ControllerErrorCode? {
      try await host.refusal(LESetExtendedAdvertisingEnable(isOn, sets: handles.map { .init(advertisingHandle: $0) }))
    }
    for command in [
      LESetAdvertisingSetRandomAddress(advertisingHandle: 1, TestDevice.nobody.address),
      LESetExtendedAdvertisingData(advertisingHandle: 1, []),
      LESetExtendedScanResponseData(advertisingHandle: 1, []), LERemoveAdvertisingSet(advertisingHandle: 1),
      LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: 1)]),
      LESetExtendedAdvertisingEnable(false, sets: [.init(advertisingHandle: 1)]),
    ] as [any Command] { #expect(try await host.refusal(command) == unknown) }
    for handle in 1...8 as ClosedRange<UInt8> { #expect(try await host.refusal(.parameters(handle, 0x13)) == nil) }
    #expect(try await host.refusal(.parameters(9, 0x13))?.rawValue == 0x07)
    #expect(try await enable(true) == .invalidParameters)
    #expect(try await enable(true, 1, 1) == .invalidParameters)
    // None starts if one is wrong.
    #expect(try await enable(true, 1, 9) == unknown)
    #expect(try await host.refusal(LERemoveAdvertisingSet(advertisingHandle: 1)) == nil)
    #expect(try await host.refusal(.parameters(1, 0x13, own: 1)) == nil)
    #expect(try await enable(true, 1) == .invalidParameters)
    let random = LESetAdvertisingSetRandomAddress(advertisingHandle: 1, TestDevice.nobody.address)
    #expect(try await host.refusal(random) == nil)
    #expect(try await enable(true, 1, 2) == nil)
    #expect(try await enable(true, 1) == nil)
    for command in [
      random, .parameters(1, 0x13), LERemoveAdvertisingSet(advertisingHandle: 1), LEClearAdvertisingSets(),
    ] as [any Command] { #expect(try await host.refusal(command) == .commandDisallowed) }
    #expect(try await enable(false) == nil)
    #expect(try await host.refusal(LEClearAdvertisingSets()) == nil)
    #expect(try await enable(true, 1) == unknown)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func fragments() async throws {
    let host = TestHost(air: Air())
    try await host.setUp()
    let part = [UInt8](repeating: 7, count: 200)
    func set(_ handle: UInt8, _ operation: UInt8, _ data: [UInt8], response: Bool = false) async throws -> UInt8? {
      let command: any Command =
        response
        ? LESetExtendedScanResponseData(advertisingHandle: handle, operation: operation, data)
        : LESetExtendedAdvertisingData(advertisingHandle: handle, operation: operation, data)
      return try await host.refusal(command)?.rawValue
    }
    func enable(_ handle: UInt8) async throws -> UInt8? {
      try await host.refusal(LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: handle)]))?.rawValue
    }
    for (handle, properties) in [(0, 0), (1, 0x01), (2, 0x02), (3, 0x13), (4, 0x1D)] as [(UInt8, UInt16)] {
      #expect(try await host.refusal(.parameters(handle, properties)) == nil)
    }
    // No first fragment; empty fragments; reserved; nothing to leave unchanged.
    for (operation, data) in [(0, part), (2, part), (1, []), (5, part), (4, [])] as [(UInt8, [UInt8])] {
      #expect(try await set(0, operation, data) == 0x12)
    }
    #expect(try await set(0, 1, part) == nil)
    #expect(try await enable(0) == 0x0C)
    for _ in 0..<7 { #expect(try await set(0, 0, part) == nil) }
    // 1,650 bytes fit. Beyond, the data are gone.
    #expect(try await set(0, 2, part) == 0x07)
    #expect(try await set(0, 2, part) == 0x12)
    #expect(try await set(0, 3, part) == nil)
    #expect(try await enable(0) == nil)
    #expect(try await set(0, 1, part) == 0x0C)
    #expect(try await set(0, 4, []) == nil)
    // Connectable data fit into one PDU.
    #expect(try await set(1, 1, part) == nil)
    #expect(try await set(1, 2, Array(part.prefix(46))) == 0x07)
    #expect(try await set(1, 3, part, response: true) == 0x12)
    // A scannable set has a scan response, but no data.
    #expect(try await set(2, 3, part) == 0x12)
    #expect(try await enable(2) == 0x0C)
    #expect(try await set(2, 3, part, response: true) == nil)
    #expect(try await enable(2) == nil)
    #expect(try await set(2, 3, [], response: true) == 0x0C)
    // Legacy PDUs.
    #expect(try await set(3, 3, Array(part.prefix(32))) == 0x12)
    #expect(try await set(3, 1, [1]) == 0x12)
    #expect(try await set(3, 3, Array(part.prefix(31)), response: true) == nil)
    #expect(try await set(4, 3, [1]) == 0x12)
    #expect(try await host.refusal(.parameters(1, 0x13)) == nil)
    #expect(try await set(1, 3, Array(part.prefix(31))) == nil)
    // High duty cycle needs a duration of at most 1.28 s.
    #expect(try await enable(4) == 0x12)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func aFullControllerAdvertisesNotConnectably() async throws {
    let it = try await ControllerPair { $0.maxConnections = 1 }
    _ = try await it.connect()
    #expect(try await it.peripheral.refusal(LESetAdvertisingEnable(true)) == .connectionLimitExceeded)
    try await it.peripheral.advertise(3)
    it.close()
  }
}
