// SPDX-License-Identifier: Apache-2.0
/// The facts that all advertisements of one device have shown so far, for filters and the table.
package struct DeviceView {
  package let peer: PeerAddress
  /// The identity behind the device's address. Nil if unknown.
  package private(set) var identity: ResolvedIdentity?
  /// The identity address if a key resolves the device's address. Otherwise, the device's address.
  package var identityAddress: PeerAddress { identity?.address ?? peer }
  package private(set) var name: UntrustedText?
  package private(set) var services: Set<UUID> = []
  /// Whether the device sent manufacturer data that a filter requests.
  package private(set) var hasWantedManufacturer = false
  package private(set) var isConnectable = false
  package private(set) var rssi: Int8?
  package private(set) var reports = 0
  /// The number of reports whose payload differs from the last payload of the same PDU type.
  package private(set) var changes = 0
  package private(set) var signal = SignalHistory()
  /// The last payload of each PDU type, as AD structures.
  package private(set) var payloads: [AdvertisingReport.PDU: [UInt8]] = [:]

  /// The PDU types whose last payload lacks its end.
  package private(set) var truncated: Set<AdvertisingReport.PDU> = []
  /// The last transmit power that an extended report itself has, in dBm. Nil until a report has one.
  package private(set) var reportTxPower: Int8?

  /// The maximum number of services. The limit bounds the memory for a device that constantly changes its services.
  private static let limit = 64

  package init(_ peer: PeerAddress) { self.peer = peer }

  /// The last payload of each PDU type, advertisements before scan responses.
  package var payloadsInOrder: [(pdu: AdvertisingReport.PDU, data: [UInt8])] {
    payloads.sorted { ($0.key == .scanResponse ? 1 : 0, $0.key.rawValue) < ($1.key == .scanResponse ? 1 : 0, $1.key.rawValue) }
      .map { ($0.key, $0.value) }
  }

  package var advertisements: [Advertisement] { payloadsInOrder.map { Advertisement($0.data) } }

  /// The Tx Power Level of the advertisements in dBm. Nil if no advertisement contains it.
  package var txPower: Int8? { advertisements.lazy.compactMap(\.txPower).first }

  /// Adds a report.
  /// - Parameter time: The arrival time in nanoseconds since 1970-01-01T00:00:00Z. Nil if the caller needs no signal history.
  /// - Parameter manufacturers: The manufacturers that a filter requests.
  package mutating func add(
    _ report: AdvertisingReport, _ advertisement: Advertisement, at time: Int64? = nil, wanted manufacturers: [ScanFilter.Manufacturer] = []
  ) {
    reports += 1
    identity = report.identity ?? identity
    if let time { signal.add(report.rssi, isEvent: report.pdu != .scanResponse, at: time) }
    if let power = report.txPower { reportTxPower = power }
    rssi = report.rssi ?? rssi
    if report.isConnectable { isConnectable = true }
    guard payloads[report.pdu] != report.data else { return }
    payloads[report.pdu] = report.data
    if report.isTruncated { truncated.insert(report.pdu) } else { truncated.remove(report.pdu) }
    changes &+= 1
    name = advertisement.displayName ?? name
    for uuid in advertisement.serviceUUIDs + advertisement.serviceData.map(\.uuid) where services.count < Self.limit {
      services.insert(uuid)
    }
    if hasWantedManufacturer || manufacturers.isEmpty { return }
    hasWantedManufacturer = advertisement.manufacturerData.contains { item in manufacturers.contains { $0.matches(item) } }
  }
}
