import Bluetooth
import GAP
import Operations
import Text

/// Advertising data that was recorded before, for programs: as in the record of a scan, without what only a receiver knows.
enum AdvertisementRecord {
  static func write(
    _ json: inout JSONLine, _ advertisement: Advertisement, _ octets: [UInt8], _ sender: PeerAddress?, _ formats: AdvertisingFormats
  ) {
    json.string("address", sender?.address.description)
    json.string("address_type", sender?.type.rawValue)
    json.string("name", advertisement.displayName)
    json.strings("services", advertisement.serviceUUIDs.map(\.description))
    let (manufacturerData, serviceData) = (advertisement.manufacturerData, advertisement.serviceData)
    json.object("manufacturer_data") { object in
      let items = manufacturerData.map { (Hex.encode($0.company), $0.data) }
      for (company, data) in ScanRecord.merged(items) { object.string(company, Hex.encode(data)) }
    }
    json.object("service_data") { object in
      let items = serviceData.map { ($0.uuid.description, $0.data) }
      for (uuid, data) in ScanRecord.merged(items) { object.string(uuid, Hex.encode(data)) }
    }
    json.integer("tx_power", advertisement.txPower)
    json.string("raw", Hex.encode(octets))
    if let error = advertisement.error { json.string("error", "\(error)") }
    PacketRecord.structures(&json, advertisement)
    let decoded = formats.all(manufacturerData: manufacturerData, serviceData: serviceData, sender: sender?.address)
    if !decoded.isEmpty { AdvertisedText.json(&json, decoded) }
  }
}
