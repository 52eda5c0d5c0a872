// SPDX-License-Identifier: Apache-2.0
/// The devices in range, and the reports that are new records. A record is a new combination of address, PDU type and payload.
///
/// Phones change their addresses every quarter of an hour, and a scan may last for days. The watch therefore forgets the oldest devices
/// and records first. A forgotten record counts as new when the device sends it again.
package struct DeviceWatch {
  package struct Options: Sendable, Equatable {
    package var filter = ScanFilter()
    /// Whether every report of a device that passes the filter is a record.
    package var keepsDuplicates = false
    /// The maximum number of remembered records. `deviceLimit` is the maximum number of remembered devices.
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
  /// The filter of the options. Nil if the filter passes everything.
  private let filter: ScanFilter?
  private var known: RecentSet<Identity>
  private var order: RecentSet<PeerAddress>
  private var devices: [PeerAddress: DeviceView] = [:]
  private var passed: Set<PeerAddress> = []
  /// The number of records that `add` has returned.
  package private(set) var records = 0

  package init(_ options: Options = Options()) {
    self.options = options
    filter = options.filter.isEmpty ? nil : options.filter
    known = RecentSet(capacity: options.recordLimit)
    order = RecentSet(capacity: options.deviceLimit)
  }

  /// Adds a report. Returns the report's record, or nil if the report is not new or its device does not pass the filter.
  /// - Parameter time: The arrival time in nanoseconds since 1970-01-01T00:00:00Z. Nil if the caller needs no signal history.
  package mutating func add(_ report: AdvertisingReport, at time: Int64? = nil) -> Record? {
    let advertisement = Advertisement(report.data)
    guard remember(report, advertisement, time) else { return nil }
    if !options.keepsDuplicates, !known.insert(Identity(peer: report.peer, pdu: report.pdu, data: report.data)).isNew { return nil }
    records += 1
    if let peer = report.peer { passed.insert(peer) }
    return Record(report: report, advertisement: advertisement)
  }

  /// The number of remembered devices, including devices that do not pass the filter.
  package var deviceCount: Int { devices.count }

  /// The remembered devices, in no particular order.
  package var all: [DeviceView] { Array(devices.values) }

  /// The devices with records, in the order of their first reports.
  package var devicesWithRecords: [DeviceView] { order.elements.filter { passed.contains($0) }.compactMap { devices[$0] } }

  /// Adds a report to its device. Returns whether the device, with all its reports so far, passes the filter.
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

  /// Adds a report to a device in place, and returns whether the device passes the filter.
  private static func add(
    _ report: AdvertisingReport, _ advertisement: Advertisement, _ time: Int64?, to device: inout DeviceView, _ filter: ScanFilter?
  ) -> Bool {
    let time = filter?.isStrongEnough(report) ?? true ? time : nil
    device.add(report, advertisement, at: time, wanted: filter?.manufacturers ?? [])
    return filter?.passes(report, of: device) ?? true
  }
}
