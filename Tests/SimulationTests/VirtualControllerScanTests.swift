import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct VirtualControllerScanTests {
  @LoopActor
  private static func host(_ devices: TestDevice..., extended: Bool = true) async throws -> TestHost {
    let air = Air()
    for device in devices { air.add(device) }
    let host = TestHost(air: air) { $0.extended = extended }
    try await host.setUp()
    return host
  }

  @Test(.onLoop, arguments: [false, true])
  @LoopActor func activeAndPassive(extended: Bool) async throws {
    let connectable = TestDevice(1)
    let scannable = TestDevice(2, type: .public)
    scannable.advertising.isConnectable = false
    let beacon = TestDevice(3)
    beacon.advertising.isConnectable = false
    beacon.advertising.scanResponse = []
    let host = try await Self.host(connectable, scannable, beacon, extended: extended)
    for active in [true, false] {
      try await host.scan(active: active, extended: extended)
      try await EventLoop.shared.sleep(for: .seconds(1))
      try await host.stopScan(extended: extended)
      let reports = host.reports
      func kinds(_ device: TestDevice) -> Set<AdvertisingReport.PDU> { Set(reports.filter { $0.peer == device.address }.map(\.pdu)) }
      #expect(kinds(connectable) == (active ? [.connectable, .scanResponse] : [.connectable]))
      #expect(kinds(scannable) == (active ? [.scannable, .scanResponse] : [.scannable]))
      #expect(kinds(beacon) == [.nonConnectable])
      #expect(reports.filter { $0.pdu == .scanResponse }.allSatisfy { $0.data == connectable.advertising.scanResponse })
      #expect(reports.filter { $0.pdu != .scanResponse }.allSatisfy { $0.data == connectable.advertising.data })
      #expect(reports.allSatisfy { (-63 ... -57).contains($0.rssi ?? 0) })
      // The command set determines the form of the report.
      #expect(host.events.contains { if case .leExtendedAdvertisingReports = $0 { true } else { false } } == extended)
      // The scan has ended.
      let count = host.reports.count
      try await EventLoop.shared.sleep(for: .seconds(1))
      #expect(host.reports.count == count)
      host.forget()
    }
  }

  @Test(.onLoop) @LoopActor func parametersCannotChangeWhileItScans() async throws {
    let host = try await Self.host()
    try await host.complete(.scanParameters())
    try await host.complete(.scan(true))
    #expect(try await host.complete(.scanParameters()) == .failure(.commandDisallowed))
    #expect(try await host.complete(LESetRandomAddress(VirtualController.defaultAddress)) == .failure(.commandDisallowed))
    #expect(try await host.complete(.scan(true)) == .success(.init()))
    #expect(try await host.complete(.scan(false)) == .success(.init()))
    #expect(try await host.complete(.scan(false)) == .success(.init()))
    #expect(try await host.complete(.scanParameters()) == .success(.init()))
  }

  @Test(.onLoop) @LoopActor func legacyAndExtendedDoNotMix() async throws {
    let host = try await Self.host()
    try await host.complete(.extendedScanParameters())
    #expect(try await host.complete(.scanParameters()) == .failure(.commandDisallowed))
    #expect(try await host.complete(.scan(true)) == .failure(.commandDisallowed))
    #expect(try await host.status(.create(TestDevice.nobody)) == .commandDisallowed)
    try await host.complete(Reset())
    try await host.complete(.scanParameters())
    #expect(try await host.complete(.extendedScanParameters()) == .failure(.commandDisallowed))
    #expect(try await host.status(.extendedCreate(TestDevice.nobody)) == .commandDisallowed)
  }

  @Test(.onLoop) @LoopActor func duplicatesAreFilteredByDeviceAndKind() async throws {
    let host = try await Self.host(TestDevice(1), TestDevice(2))
    try await host.complete(.scanParameters())
    try await host.complete(.scan(true, filterDuplicates: true))
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(host.reports.count == 4)
    // A new scan resets the duplicate filter.
    try await host.complete(.scan(true, filterDuplicates: true))
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(host.reports.count == 8)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func anExtendedScanHasADurationAndAPeriod() async throws {
    let host = try await Self.host(TestDevice())
    try await host.complete(.extendedScanParameters())
    try await host.complete(.extendedScan(true, duration: 100))
    let start = EventLoop.shared.now
    try await host.event { if case .leOther(0x11, _) = $0 { () } else { nil } }
    #expect(start.duration(to: EventLoop.shared.now) == .seconds(1))
    let count = host.reports.count
    #expect((16...22).contains(count))
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(host.reports.count == count)

    host.forget()
    #expect(try await host.complete(.extendedScan(true, filter: 2)) == .failure(.invalidParameters))
    #expect(try await host.complete(.extendedScan(true, duration: 128, period: 1)) == .failure(.invalidParameters))
    // The scan runs for one second in every 1.28 s. Each period reports the device once more.
    try await host.complete(.extendedScan(true, filter: 2, duration: 100, period: 1))
    try await EventLoop.shared.sleep(for: .milliseconds(12_799))
    #expect(host.reports.count == 20)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func aNarrowWindowMissesMost() async throws {
    let device = TestDevice()
    device.advertising.interval = .milliseconds(20)
    let host = try await Self.host(device)
    try await host.complete(.scanParameters(active: false, interval: 160, window: 16))
    try await host.complete(.scan(true))
    try await EventLoop.shared.sleep(for: .seconds(100))
    // The device sends 40 a second.
    #expect((300...500).contains(host.reports.count))
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func longDataComesInPartsAndToExtendedScannersOnly() async throws {
    let device = TestDevice()
    device.advertising.data = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
    device.advertising.scanResponse = []
    let host = try await Self.host(device)
    try await host.complete(.extendedScanParameters())
    try await host.complete(.extendedScan(true, filter: 1))
    try await EventLoop.shared.sleep(for: .seconds(1))
    let parts = host.events.flatMap { event -> [ExtendedAdvertisingReport] in
      if case .leExtendedAdvertisingReports(let reports) = event { reports.reports } else { [] }
    }
    #expect(parts.map(\.data.count) == [229, 229, 42])
    #expect(parts.map(\.dataStatus) == [.more, .more, .complete])
    #expect(parts.flatMap(\.data) == device.advertising.data)
    #expect(parts.allSatisfy { $0.isConnectable && !$0.isLegacy && !$0.isScanResponse && $0.sid == 0 })
    host.forget()
    try await host.setUp()
    try await host.complete(.scanParameters())
    try await host.complete(.scan(true))
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(host.reports.isEmpty)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func aConnectedDeviceDoesNotAdvertise() async throws {
    let device = TestDevice()
    let host = try await Self.host(device)
    try await host.complete(.scanParameters())
    try await host.complete(.scan(true))
    let link = try await host.connect(device.address)
    host.forget()
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(host.reports.isEmpty)
    try await host.status(Disconnect(handle: link.handle, reason: .remoteUserTerminated))
    #expect(try await host.disconnection() == .terminatedByLocalHost)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(host.reports.count >= 16)
    host.controller.close()
  }
}
