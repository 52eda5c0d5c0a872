package import Bluetooth
package import GAP

/// What has been heard of one device so far. Records stay apart; filters and the text table look at the device.
package struct DeviceView {
  package let peer: PeerAddress
  package private(set) var name: String?
  package private(set) var services: Set<UUID> = []
  package private(set) var manufacturerData: [(company: UInt16, data: [UInt8])] = []
  package private(set) var isConnectable = false
  package private(set) var rssi: Int8?
  package private(set) var reports = 0
  /// The last payload of each PDU type.
  package private(set) var payloads: [AdvertisingReport.PDU: [UInt8]] = [:]

  package init(_ peer: PeerAddress) { self.peer = peer }

  package mutating func add(_ report: AdvertisingReport, _ advertisement: Advertisement) {
    reports += 1
    rssi = report.rssi ?? rssi
    if report.isConnectable { isConnectable = true }
    guard payloads[report.pdu] != report.data else { return }
    payloads[report.pdu] = report.data
    name = advertisement.displayName ?? name
    services.formUnion(advertisement.serviceUUIDs)
    services.formUnion(advertisement.serviceData.map(\.uuid))
    for item in advertisement.manufacturerData {
      manufacturerData.removeAll { $0.company == item.company }
      manufacturerData.append(item)
    }
  }

  /// Does any payload carry `mac`, forward or reversed, anywhere in its data?
  package func carries(_ mac: Address) -> Bool {
    payloads.values.contains { !MACFinder.learn(in: Advertisement($0), sender: mac).isEmpty }
  }
}
