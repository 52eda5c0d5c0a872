import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// The output of a device that a scan heard, with the facts of all its packets, as text or JSON.
enum DeviceRecord {
  /// Writes the record. `time` is the time of the record if the devices are written again and again, in nanoseconds since
  /// 1970-01-01T00:00:00Z.
  static func json(
    _ json: inout RecordWriter, _ device: DeviceView, _ formats: AdvertisingFormats, at time: Int64? = nil, namesPeer: Bool
  ) {
    let advertisements = device.advertisements
    let (manufacturerData, serviceData) = (advertisements.flatMap(\.manufacturerData), advertisements.flatMap(\.serviceData))
    var services: [UUID] = []
    for uuid in advertisements.flatMap(\.serviceUUIDs) where !services.contains(uuid) { services.append(uuid) }
    json.string("event", "device")
    if let time { json.time("time", time) }
    json.peer("address", "address_type", device.peer)
    ScanRecord.identity(&json, device.identity)
    json.string("name", device.name?.raw)
    json.object("rssi") {
      $0.integer("last", device.rssi.map { Int($0) })
      $0.number("mean", device.signal.mean.map { ($0 * 10).rounded() / 10 })
    }
    json.number("interval_ms", device.signal.interval.map { ($0 * 10_000).rounded() / 10 })
    json.bool("connectable", device.isConnectable)
    ScanRecord.lists(&json, services, manufacturerData, serviceData)
    json.integer("tx_power", device.txPower)
    if let power = device.reportTxPower { json.integer("report_tx_power", power) }
    json.string("mac", ScanFacts.mac(of: device)?.text)
    json.integer("packets", device.reports)
    if let first = device.signal.firstHeard { json.time("first_seen", first) }
    if let last = device.signal.lastHeard { json.time("last_seen", last) }
    AdvertisedText.json(
      &json, formats.all(manufacturerData: manufacturerData, serviceData: serviceData, sender: device.peer.address, name: device.name?.raw))
    if namesPeer { json.string("peer", device.peer.description) }
  }

  /// Returns one line: address, mean signal strength, name, interval, and the facts in the advertisements.
  static func line(_ device: DeviceView, _ formats: AdvertisingFormats) -> String {
    let facts = ScanFacts(device, formats)
    var fields = ["\(device.peer)", device.signal.mean.map { "\(Int($0.rounded())) dBm" } ?? "?"]
    if let identity = device.identity { fields.append("identity \(identity.address.map { "\($0)" } ?? "unknown")") }
    if let name = device.name { fields.append("\"\(name)\"") }
    if let interval = device.signal.interval { fields.append("every \(ScanTable.interval(interval))") }
    if let mac = facts.mac { fields.append("MAC \(mac)") }
    return (fields + facts.others.map { DisplayText.escape($0) }).joined(separator: "  ")
  }
}
