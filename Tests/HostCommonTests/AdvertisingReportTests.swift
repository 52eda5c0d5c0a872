import TestSupport

private let phone = PeerAddress(Address(rawValue: 0x11_22_33_44_55_66), .random)

@Suite(.timeLimit(.minutes(15))) struct AdvertisingReportTests {
  @Test(arguments: [
    (UInt8(0), AdvertisingReport.PDU?.some(.connectable), true, true), (1, .directed, true, false), (2, .scannable, false, true),
    (3, .nonConnectable, false, false), (4, .scanResponse, false, false), (5, nil, false, false), (0xFF, nil, false, false),
  ]) func legacyEventTypes(_ row: (UInt8, AdvertisingReport.PDU?, Bool, Bool)) {
    let report = LegacyAdvertisingReport(eventType: row.0, peer: phone, data: [1], rssi: 127).report
    #expect(report?.pdu == row.1)
    #expect(report?.isConnectable ?? false == row.2)
    #expect(report?.isScannable ?? false == row.3)
    #expect(report?.rssi == nil)
  }

  @Test(arguments: [
    (UInt16(0x13), AdvertisingReport.PDU.connectable, true, true), (0x15, .directed, true, false), (0x12, .scannable, false, true),
    (0x10, .nonConnectable, false, false), (0x1B, .scanResponse, false, false), (0x1A, .scanResponse, false, false),
    // Reserved bits do not matter.
    (0xFF93, .connectable, true, true), (0x01, .extended, true, false), (0x02, .extended, false, true), (0x00, .extended, false, false),
    // Bumble's controller omits the legacy bit.
    (0x08, .scanResponse, false, false),
  ]) func extendedEventTypes(_ row: (UInt16, AdvertisingReport.PDU, Bool, Bool)) {
    let report = ExtendedAdvertisingReport(eventType: row.0, peer: phone, sid: 3, rssi: -5, data: [1]).report
    #expect(report.pdu == row.1)
    #expect(report.isConnectable == row.2)
    #expect(report.isScannable == row.3)
    #expect(report.sid == 3)
    #expect(report.rssi == -5)
    #expect(report.txPower == nil)
  }

  @Test func addressTypesAndPHYs() {
    var report = ExtendedAdvertisingReport(eventType: 0, peer: nil, primaryPHY: 3, secondaryPHY: 2, txPower: 8, rssi: 127, data: [])
    #expect(report.report.peer == nil)
    #expect(report.report.primaryPHY == .coded)
    #expect(report.report.secondaryPHY == .le2M)
    // LE Coded with S=2.
    (report.primaryPHY, report.secondaryPHY) = (4, 4)
    #expect(report.report.primaryPHY == .coded && report.report.secondaryPHY == .coded)
    #expect(report.report.txPower == 8)
    #expect(report.report.sid == nil)
    for (type, expected) in [(UInt8(0), AddressType?.some(.public)), (1, .random), (2, .public), (3, .random), (0xFE, .random), (4, nil)] {
      report.addressType = type
      #expect(report.report.peer?.type == expected)
    }
  }

  private func part(_ status: UInt16, _ data: [UInt8], peer: PeerAddress? = phone, sid: UInt8 = 1, response: Bool = false)
    -> ExtendedAdvertisingReport
  {
    ExtendedAdvertisingReport(eventType: status << 5 | (response ? 8 : 0), peer: peer, sid: sid, rssi: -50, data: data)
  }

  @Test func chainedReportsAreJoinedAlthoughInterleaved() {
    var joiner = ExtendedReportReassembler()
    #expect(joiner.add(part(1, [1]), at: 0).isEmpty)
    #expect(joiner.add(part(1, [9], sid: 2), at: 0).isEmpty)
    #expect(joiner.add(part(1, [7], response: true), at: 0).isEmpty)
    #expect(joiner.add(part(1, [2]), at: 1).isEmpty)
    #expect(joiner.add(ExtendedAdvertisingReport(eventType: 0x13, peer: phone, sid: 1, rssi: 0, data: [5]), at: 1).map(\.data) == [[5]])
    #expect(joiner.add(part(0, [3]), at: 2).map(\.data) == [[1, 2, 3]])
    #expect(joiner.add(part(2, [8], sid: 2), at: 2).map { ($0.data == [9, 8], $0.isTruncated) }.allSatisfy { $0 == (true, true) })
    #expect(joiner.add(part(0, [], response: true), at: 2).map(\.data) == [[7]])
    #expect(joiner.count == 0)
  }

  @Test func whatNeverEndsIsBounded() {
    var joiner = ExtendedReportReassembler()
    var longest = 0
    var delivered = 0
    for step in 0..<100 {
      for report in joiner.add(part(1, [UInt8](repeating: UInt8(step), count: 229)), at: Int64(step)) {
        longest = max(longest, report.data.count)
        delivered += 1
        #expect(report.isTruncated)
      }
    }
    #expect(longest == 1650)
    #expect(delivered > 5)
    // Many advertising sets.
    var pushedOut = 0
    for number in 0..<1000 {
      let other = PeerAddress(Address(rawValue: UInt64(number)), .public)
      pushedOut += joiner.add(part(1, [1], peer: other), at: Int64(200 + number)).count
      #expect(joiner.count <= ExtendedReportReassembler.maximumSets)
    }
    #expect(pushedOut >= 936)
    // Old parts.
    #expect(joiner.expire(at: 250_000_000).isEmpty)
    #expect(joiner.expire(at: 500_000_000).count == 64)
    #expect(joiner.count == 0)
  }

  /// A part of the next event, after this one lost its end, repeats the beginning or comes too late.
  @Test(
    arguments: [
      ("the same", [10, 11, 12], [10, 11, 12], 100), ("a counter after the beginning", Array(0...99), Array(0...15) + [200], 100),
      ("the same, shorter", Array(0...99), Array(0...49), 100), ("late", [10, 11, 12], [20, 21], 251),
    ] as [(String, [UInt8], [UInt8], Int)], [UInt16(0), 1, 2])
  func aPartOfTheNextEvent(_ row: (String, [UInt8], [UInt8], milliseconds: Int), _ status: UInt16) {
    var joiner = ExtendedReportReassembler()
    let (_, first, next, milliseconds) = row
    let time = Int64(milliseconds) * 1_000_000
    #expect(joiner.add(part(1, first), at: 0).isEmpty && joiner.add(part(1, [77]), at: 1).isEmpty)
    var found = joiner.add(part(status, next), at: time)
    if status == 1 { found += joiner.add(part(0, [78]), at: time + 1) }
    #expect(found.map(\.data) == [first + [77], status == 1 ? next + [78] : next])
    #expect(found.map(\.isTruncated) == [true, status == 2] && joiner.count == 0)
  }

  /// A part that starts differently and in time is the rest, even if it resembles the beginning.
  @Test(
    arguments: [
      ([1, 2, 3], [1, 2]), ([1, 2, 3], [1, 2, 4]), (Array(0...99), Array(0...14) + [99]), ([], [1]),
    ] as [([UInt8], [UInt8])])
  func theRestOfTheSameEvent(_ first: [UInt8], _ next: [UInt8]) {
    var joiner = ExtendedReportReassembler()
    #expect(joiner.add(part(1, first), at: 0).isEmpty)
    let whole = joiner.add(part(0, next), at: 250_000_000)
    #expect(whole.map(\.data) == [first + next] && whole.map(\.isTruncated) == [false])
  }

  /// The time limit applies to the whole chain, not to the gap between two parts.
  @Test func partsThatKeepComingAreNotOneEvent() {
    var joiner = ExtendedReportReassembler()
    let found = (UInt8(1)...10).flatMap { joiner.add(part(1, [$0]), at: Int64($0) * 100_000_000) }
    #expect(found.map(\.data) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]] && found.allSatisfy(\.isTruncated))
  }

  @Test func hostileEventsNeverTrap() {
    let peer = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .random)
    let events: [Event] = [
      .leAdvertisingReports(AdvertisingReports([LegacyAdvertisingReport(eventType: 0, peer: peer, data: [2, 1, 6], rssi: -60)])),
      .leExtendedAdvertisingReports(
        AdvertisingReports([ExtendedAdvertisingReport(eventType: 0x13, peer: peer, rssi: 127, data: [2, 1, 6])])),
      .leDirectedAdvertisingReports(AdvertisingReports([DirectedAdvertisingReport(peer: peer, direct: peer, rssi: -60)])),
    ]
    hostile(events.map(\.encoded)) { bytes in
      guard case .event(let event)? = try? Packet(bytes) else { return }
      switch event {
      case .leAdvertisingReports(let reports): _ = reports.reports.map(\.report)
      case .leExtendedAdvertisingReports(let reports): _ = reports.reports.map(\.report)
      case .leDirectedAdvertisingReports(let reports): _ = reports.reports.map(\.report)
      default: break
      }
    }
  }

  @Test func hostilePartsNeverTrap() {
    let seeds = (0..<4).map { Event.leExtendedAdvertisingReports(AdvertisingReports([part(UInt16($0), [2, 1, 6])])).encoded }
    var joiner = ExtendedReportReassembler()
    var now: Int64 = 0
    hostile(seeds, mutations: 20_000) { bytes in
      guard case .event(.leExtendedAdvertisingReports(let reports))? = try? Packet(bytes) else { return }
      for report in reports.reports {
        now += 1_000_000
        for done in joiner.add(report, at: now) where done.data.count > 1650 { Issue.record("too long") }
      }
    }
    #expect(joiner.count <= ExtendedReportReassembler.maximumSets)
  }
}
