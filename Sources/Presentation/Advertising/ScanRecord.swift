package import BluetoothLE
package import BluetoothLEDeviceFiles
package import BluetoothLEText

/// The output of an advertisement during a scan, as text or JSON.
package enum ScanRecord {
  static func json(
    _ json: inout RecordWriter, _ report: AdvertisingReport, _ advertisement: Advertisement, _ time: Int64, _ formats: AdvertisingFormats,
    namesPeer: Bool
  ) {
    json.string("event", "advertisement")
    json.time("time", time)
    json.address("address", report.peer?.address)
    json.string("address_type", report.peer?.type.rawValue)
    identity(&json, report.identity)
    json.integer("rssi", report.rssi.map { Int($0) })
    json.string("pdu", report.pdu.rawValue)
    json.bool("connectable", report.isConnectable)
    json.string("name", advertisement.displayName?.raw)
    let (manufacturerData, serviceData) = (advertisement.manufacturerData, advertisement.serviceData)
    let isRepeated = lists(&json, advertisement.serviceUUIDs, manufacturerData, serviceData)
    json.integer("tx_power", advertisement.txPower)
    if let power = report.txPower { json.integer("report_tx_power", power) }
    json.hex("raw", report.data)
    json.string("phy", report.primaryPHY.name)
    if let secondary = report.secondaryPHY { json.string("secondary_phy", secondary.name) }
    if let sid = report.sid { json.integer("sid", sid) }
    if report.isTruncated { json.bool("truncated", true) }
    if let error = advertisement.error(isCut: report.isTruncated) { json.string("error", "\(error)") }
    let decoded = formats.all(
      manufacturerData: manufacturerData, serviceData: serviceData, sender: report.peer?.address, name: advertisement.displayName?.raw)
    if !decoded.isEmpty { AdvertisedText.json(&json, decoded) }
    if isRepeated || DecodedData.latest(decoded).count < decoded.count {
      PacketRecord.structures(&json, advertisement, formats, sender: report.peer?.address)
    }
    if namesPeer { json.string("peer", report.peer?.description) }
  }

  /// Writes the identity behind a private address, if a key resolved it. The value is null if only the key is known.
  static func identity(_ json: inout RecordWriter, _ identity: ResolvedIdentity?) {
    guard let identity else { return }
    json.peer("identity", "identity_type", identity.address)
  }

  /// Writes the services, the manufacturer data and the service data.
  /// - Returns: Whether several structures belong to the same company or service. The record contains only the last of them.
  @discardableResult
  static func lists(
    _ json: inout RecordWriter, _ services: [UUID], _ manufacturerData: [(company: UInt16, data: [UInt8])],
    _ serviceData: [(uuid: UUID, data: [UInt8])]
  ) -> Bool {
    // A JSON object has each key once.
    let (ofCompanies, ofServices) = (manufacturerData.lastOfEach(\.company), serviceData.lastOfEach(\.uuid))
    json.texts("services", services.map { .init($0) })
    json.object("manufacturer_data") { object in
      for item in ofCompanies { object.hex(.init(hex: UInt64(item.company), bytes: 2), item.data) }
    }
    json.object("service_data") { object in
      for item in ofServices { object.hex(.init(item.uuid), item.data) }
    }
    return ofCompanies.count < manufacturerData.count || ofServices.count < serviceData.count
  }

  static func line(_ report: AdvertisingReport, _ advertisement: Advertisement, _ formats: AdvertisingFormats) -> String {
    var fields = [who(report), strength(report.rssi), report.pdu.rawValue]
    if let identity = report.identity { fields.append("identity:\(identity.address.map { "\($0)" } ?? "unknown")") }
    fields += contents(advertisement, formats, sender: report.peer?.address, reportPower: report.txPower)
    if report.isTruncated { fields.append("(truncated by the controller)") }
    if let error = advertisement.error(isCut: report.isTruncated) { fields.append("(malformed: \(error))") }
    return fields.joined(separator: " ")
  }

  /// Returns what an advertisement says, as the fields of a line.
  package static func contents(
    _ advertisement: Advertisement, _ formats: AdvertisingFormats, sender: Address?, reportPower: Int8? = nil
  ) -> [String] {
    var fields: [String] = []
    if let name = advertisement.name { fields.append("\"\(DisplayText.escape(name))\"") }
    fields += advertisement.serviceUUIDs.map(\.description)
    fields += advertisement.manufacturerData.map { "mfg:\(Hex.encode($0.company))=\(Hex.encode($0.data))" }
    fields += advertisement.serviceData.map { "svc:\($0.uuid)=\(Hex.encode($0.data))" }
    if let power = advertisement.txPower { fields.append("tx:\(power)dBm") }
    if let power = reportPower { fields.append("report-tx:\(power)dBm") }
    let decoded = formats.all(
      manufacturerData: advertisement.manufacturerData, serviceData: advertisement.serviceData, sender: sender,
      name: advertisement.displayName?.raw)
    return fields + decoded.map { "(\(DisplayText.escape(AdvertisedText.line($0))))" }
  }

  static func rawLine(_ report: AdvertisingReport) -> String {
    [who(report), strength(report.rssi), report.pdu.rawValue, Hex.encode(report.data)].joined(separator: " ")
  }

  private static func who(_ report: AdvertisingReport) -> String { report.peer?.description ?? "anonymous" }

  private static func strength(_ rssi: Int8?) -> String { rssi.map { "\($0) dBm" } ?? "?" }
}

/// The JSON output of recorded advertising data, without the fields that only a receiver knows, such as `rssi`.
package enum AdvertisementRecord {
  package static func write(
    _ json: inout RecordWriter, _ advertisement: Advertisement, _ bytes: [UInt8], _ sender: PeerAddress?, _ formats: AdvertisingFormats
  ) {
    json.peer("address", "address_type", sender)
    json.string("name", advertisement.displayName?.raw)
    let (manufacturerData, serviceData) = (advertisement.manufacturerData, advertisement.serviceData)
    ScanRecord.lists(&json, advertisement.serviceUUIDs, manufacturerData, serviceData)
    json.integer("tx_power", advertisement.txPower)
    json.hex("raw", bytes)
    if let error = advertisement.error { json.string("error", "\(error)") }
    PacketRecord.structures(&json, advertisement, formats, sender: sender?.address)
    let decoded = formats.all(
      manufacturerData: manufacturerData, serviceData: serviceData, sender: sender?.address, name: advertisement.displayName?.raw)
    if !decoded.isEmpty { AdvertisedText.json(&json, decoded) }
  }
}
