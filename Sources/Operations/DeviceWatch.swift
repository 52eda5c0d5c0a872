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
    /// How many records and devices are remembered.
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
  private var known: RecentSet<Identity>
  private var order: RecentSet<PeerAddress>
  private var devices: [PeerAddress: DeviceView] = [:]
  private var passed: Set<PeerAddress> = []
  /// How many records there were.
  package private(set) var records = 0

  package init(_ options: Options = Options()) {
    self.options = options
    known = RecentSet(capacity: options.recordLimit)
    order = RecentSet(capacity: options.deviceLimit)
  }

  /// - Returns: the record that this report is; nil when it says nothing new, or is of a device that does not pass the filter.
  package mutating func add(_ report: AdvertisingReport) -> Record? {
    let advertisement = Advertisement(report.data)
    guard options.filter.passes(report, of: remember(report, advertisement)) else { return nil }
    if !options.keepsDuplicates, !known.insert(Identity(peer: report.peer, pdu: report.pdu, data: report.data)).isNew { return nil }
    records += 1
    if let peer = report.peer { passed.insert(peer) }
    return Record(report: report, advertisement: advertisement)
  }

  /// How many devices were heard and not forgotten, whatever the filter says.
  package var deviceCount: Int { devices.count }

  /// Those that had records, as they are now; who was heard first stands first.
  package var devicesWithRecords: [DeviceView] { order.elements.filter { passed.contains($0) }.compactMap { devices[$0] } }

  private mutating func remember(_ report: AdvertisingReport, _ advertisement: Advertisement) -> DeviceView {
    // An anonymous advertiser has no history: the report stands for itself.
    var device = DeviceView(report.peer ?? PeerAddress(Address(rawValue: 0), .random))
    if let peer = report.peer {
      if let forgotten = order.insert(peer).forgotten {
        devices[forgotten] = nil
        passed.remove(forgotten)
      }
      device = devices[peer] ?? device
    }
    device.add(report, advertisement)
    if let peer = report.peer { devices[peer] = device }
    return device
  }
}
