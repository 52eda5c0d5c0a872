import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct DeviceWatchTests {
  @Test func aRecordIsWhatIsNew() {
    var watch = DeviceWatch()
    #expect(watch.add(report(1, [1, 9])) != nil)
    #expect(watch.add(report(1, [1, 9], rssi: -20)) == nil, "only the strength differs")
    #expect(watch.add(report(1, [1, 8])) != nil)
    #expect(watch.add(report(1, [1, 9])) == nil, "it was there before")
    #expect(watch.add(report(1, [1, 9], .scanResponse)) != nil)
    #expect(watch.add(report(2, [1, 9])) != nil)
    #expect(watch.records == 4)
    #expect(watch.devicesWithRecords.map(\.peer) == [peer(1), peer(2)])

    var options = DeviceWatch.Options()
    options.keepsDuplicates = true
    var all = DeviceWatch(options)
    for _ in 0..<3 { #expect(all.add(report(1)) != nil) }
  }

  /// The filter uses all reports of a device: a name in the scan response passes its advertisements.
  @Test func filtersLookAtTheDevice() {
    var options = DeviceWatch.Options()
    options.filter.names = [ScanFilter.NamePattern("gate*")]
    var watch = DeviceWatch(options)
    #expect(watch.add(report(1, [2, 1, 6])) == nil)
    #expect(watch.add(report(1, named("GateLock"), .scanResponse)) != nil)
    #expect(watch.add(report(1, [2, 1, 6])) != nil)
    #expect(watch.add(report(2, named("Panel"))) == nil)
    #expect(watch.deviceCount == 2 && watch.devicesWithRecords.map(\.peer) == [peer(1)])
    options.filter.minimumRSSI = -50
    var near = DeviceWatch(options)
    #expect(near.add(report(1, named("GateLock"), rssi: -51)) == nil)
    #expect(near.add(report(1, named("GateLock"), rssi: -50)) != nil)
  }

  /// Shown values come from the reports that pass the filter. The name comes from all reports.
  @Test func weakReportsDoNotCountForWhatIsShown() throws {
    var options = DeviceWatch.Options()
    options.filter.minimumRSSI = -70
    options.keepsDuplicates = true
    var watch = DeviceWatch(options)
    let rows: [(rssi: Int8?, passes: Bool)] = [(-70, true), (-71, false), (-127, false), (nil, false), (-60, true)]
    for (second, row) in rows.enumerated() {
      let heard = AdvertisingReport(
        pdu: .connectable, isConnectable: true, isScannable: true, peer: peer(1), rssi: row.rssi, data: named("N\(second)"))
      #expect((watch.add(heard, at: Int64(second) * 1_000_000_000) != nil) == row.passes, "\(row)")
      let device = try #require(watch.devicesWithRecords.first)
      #expect(try #require(device.signal.level) >= -70)
      #expect(device.signal.lastHeard == (second < 4 ? 0 : 4_000_000_000) && device.name?.raw == "N\(second)")
    }
  }

  /// A device must match one entry of each list that is not empty.
  @Test func listsAreAlternatives() {
    var filter = ScanFilter()
    #expect(filter.isEmpty)
    func heard(_ report: AdvertisingReport) -> Bool {
      var options = DeviceWatch.Options()
      options.filter = filter
      var watch = DeviceWatch(options)
      return watch.add(report) != nil
    }
    filter.names = [.init("lock"), .init("band-?")]
    #expect(!filter.isEmpty)
    #expect(heard(report(1, named("GateLock2"))) && heard(report(1, named("BAND-7"))))
    #expect(!heard(report(1, named("MyBand-7"))), "a glob is for the whole name")
    #expect(!heard(report(1, named("Panel"))) && !heard(report(1)))
    filter.services = [UUID(0x180D), UUID(0xFEE0)]
    #expect(!heard(report(1, named("GateLock"))))
    #expect(heard(report(1, named("GateLock") + [3, 3, 0xE0, 0xFE])))
    filter = ScanFilter()
    filter.manufacturers = [.init(company: 0x0157), .init(company: 0x0305, prefix: [1, 2])]
    #expect(heard(report(1, [3, 0xFF, 0x57, 0x01])) && heard(report(1, [6, 0xFF, 0x05, 0x03, 1, 2, 3])))
    #expect(!heard(report(1, [5, 0xFF, 0x05, 0x03, 1, 3])))
    filter = ScanFilter()
    filter.devices = [.address(peer(1).address, .random), .address(peer(2).address, nil), .address(peer(3).address, .public)]
    #expect(heard(report(1)) && heard(report(2)) && !heard(report(3)) && !heard(report(4)))
    var anonymous = report(1)
    anonymous.peer = nil
    #expect(!heard(anonymous))
  }

  /// Structures of one company all count: in one advertisement, with its scan response, or in sequence.
  @Test(arguments: [
    [report(1, [4, 0xFF, 0x34, 0x12, 1, 4, 0xFF, 0x34, 0x12, 2])],
    [report(1, [4, 0xFF, 0x34, 0x12, 1]), report(1, [4, 0xFF, 0x34, 0x12, 2], .scanResponse)],
    [report(1, [4, 0xFF, 0x34, 0x12, 2], .scanResponse), report(1, [4, 0xFF, 0x34, 0x12, 1])],
    [report(1, [4, 0xFF, 0x34, 0x12, 1]), report(1, [4, 0xFF, 0x34, 0x12, 2])],
  ])
  func everyStructureOfACompanyCounts(_ reports: [AdvertisingReport]) {
    for (prefix, passes) in [([], true), ([1], true), ([2], true), ([3], false)] as [([UInt8], Bool)] {
      var options = DeviceWatch.Options()
      options.filter.manufacturers = [.init(company: 0x9999), .init(company: 0x1234, prefix: prefix)]
      options.keepsDuplicates = true
      var watch = DeviceWatch(options)
      for report in reports { _ = watch.add(report) }
      #expect(reports.map { watch.add($0) != nil } == reports.map { _ in passes }, "\(prefix)")
    }
  }

  @Test func anAnonymousReportStandsForItself() {
    var options = DeviceWatch.Options()
    options.filter.names = [ScanFilter.NamePattern("gate*")]
    var watch = DeviceWatch(options)
    var anonymous = report(1, named("GateLock"))
    anonymous.peer = nil
    #expect(watch.add(anonymous) != nil)
    anonymous.data = []
    #expect(watch.add(anonymous) == nil)
    #expect(watch.deviceCount == 0)
  }

  /// The oldest device is forgotten first, and known devices are not shown again.
  @Test func whatWasHeardFirstIsForgottenFirst() {
    var options = DeviceWatch.Options()
    options.recordLimit = 4
    options.deviceLimit = 3
    var watch = DeviceWatch(options)
    for number: UInt64 in 1...5 { #expect(watch.add(report(number)) != nil) }
    #expect(watch.devicesWithRecords.map(\.peer) == [peer(3), peer(4), peer(5)])
    for number: UInt64 in 2...5 { #expect(watch.add(report(number)) == nil, "\(number) is remembered") }
    #expect(watch.add(report(1)) != nil, "the first was forgotten")
    #expect(watch.add(report(3)) == nil)
    #expect(watch.add(report(2)) != nil, "the second made room for the first")
  }

  @Test func aRecentSetIsARing() {
    var set = RecentSet<Int>(capacity: 3)
    for number in 1...3 { #expect(set.insert(number) == (true, nil)) }
    #expect(set.insert(2) == (false, nil))
    #expect(set.insert(4) == (true, 1))
    #expect(set.insert(5) == (true, 2))
    #expect(set.elements == [3, 4, 5])
    var one = RecentSet<Int>(capacity: 0)
    #expect(one.insert(1) == (true, nil) && one.insert(2) == (true, 1) && one.elements == [2])
  }
}
