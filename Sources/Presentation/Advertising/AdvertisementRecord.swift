package import Bluetooth
package import Finding
package import GAP
package import Text

/// Writes recorded advertising data as JSON, with the fields of a scan record that do not need a receiver.
package enum AdvertisementRecord {
  package static func write(
    _ json: inout RecordWriter, _ advertisement: Advertisement, _ octets: [UInt8], _ sender: PeerAddress?, _ formats: AdvertisingFormats
  ) {
    json.address("address", sender?.address)
    json.string("address_type", sender?.type.rawValue)
    json.string("name", advertisement.displayName?.raw)
    let (manufacturerData, serviceData) = (advertisement.manufacturerData, advertisement.serviceData)
    ScanRecord.lists(&json, advertisement.serviceUUIDs, manufacturerData, serviceData)
    json.integer("tx_power", advertisement.txPower)
    json.hex("raw", octets)
    if let error = advertisement.error { json.string("error", "\(error)") }
    PacketRecord.structures(&json, advertisement, formats, sender: sender?.address)
    let decoded = formats.all(manufacturerData: manufacturerData, serviceData: serviceData, sender: sender?.address)
    if !decoded.isEmpty { AdvertisedText.json(&json, decoded) }
  }
}
