import Bluetooth
package import GAP

/// Watches who is there: takes reports, and decides which of them are records, namely every new (address, PDU type, payload) of a device that
/// passes the filter.
///
/// Phones change their addresses every quarter of an hour, and a scan may last for days: what was heard first is forgotten first. A record
/// that was forgotten is one again when it comes again; nothing is lost.
package struct DeviceWatch {
  package struct Options: Sendable, Equatable {
    package var filter = ScanFilter()
    /// Every report of a device that passes is a record.
    package var keepsDuplicates = false
    /// The number of records and devices to remember.
    package var recordLimit = 50_000
    package var deviceLimit = 20_000

    package init() {}
  }

  package struct Record {
    package let report: AdvertisingReport
    package let advertisement: Advertisement
  }

  private struct Identity: Hashable {
    let peer: PeerAddress?
    let pdu: AdvertisingReport.PDU
    let data: [UInt8]
  }

  private let options: Options
  /// The filter. Nil passes everything.
  private let filter: ScanFilter?
  private var known: RecentSet<Identity>
  private var order: RecentSet<PeerAddress>
  private var devices: [PeerAddress: DeviceView] = [:]
  private var passed: Set<PeerAddress> = []
  /// The number of records.
  package private(set) var records = 0

  package init(_ options: Options = Options()) {
    self.options = options
    filter = options.filter.isEmpty ? nil : options.filter
    known = RecentSet(capacity: options.recordLimit)
    order = RecentSet(capacity: options.deviceLimit)
  }

  /// - Parameter time: of arrival, nanoseconds since 1970-01-01T00:00:00Z; nil when nobody asks for the devices' histories.
  /// - Returns: the record that this report is; nil when it says nothing new, or is of a device that does not pass the filter.
  package mutating func add(_ report: AdvertisingReport, at time: Int64? = nil) -> Record? {
    let advertisement = Advertisement(report.data)
    guard remember(report, advertisement, time) else { return nil }
    if !options.keepsDuplicates, !known.insert(Identity(peer: report.peer, pdu: report.pdu, data: report.data)).isNew { return nil }
    records += 1
    if let peer = report.peer { passed.insert(peer) }
    return Record(report: report, advertisement: advertisement)
  }

  /// The number of remembered devices, passing the filter or not.
  package var deviceCount: Int { devices.count }

  /// The devices, in no order.
  package var all: [DeviceView] { Array(devices.values) }

  /// The devices with records, in the order in which they were first heard.
  package var devicesWithRecords: [DeviceView] { order.elements.filter { passed.contains($0) }.compactMap { devices[$0] } }

  /// - Returns: whether the device passes the filter, with all that was heard of it.
  private mutating func remember(_ report: AdvertisingReport, _ advertisement: Advertisement, _ time: Int64?) -> Bool {
    guard let peer = report.peer else {
      // An anonymous advertiser has no history: the report stands for itself.
      var device = DeviceView(PeerAddress(Address(rawValue: 0), .random))
      return Self.add(report, advertisement, time, to: &device, filter)
    }
    if let forgotten = order.insert(peer).forgotten {
      devices[forgotten] = nil
      passed.remove(forgotten)
    }
    return Self.add(report, advertisement, time, to: &devices[peer, default: DeviceView(peer)], filter)
  }

  /// Updates in place, because a copy for every report would be slow.
  private static func add(
    _ report: AdvertisingReport, _ advertisement: Advertisement, _ time: Int64?, to device: inout DeviceView, _ filter: ScanFilter?
  ) -> Bool {
    let time = filter?.isStrongEnough(report) ?? true ? time : nil
    device.add(report, advertisement, at: time, wanted: filter?.manufacturers ?? [])
    return filter?.passes(report, of: device) ?? true
  }
}
