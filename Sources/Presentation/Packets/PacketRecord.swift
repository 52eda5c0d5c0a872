package import ATT
import Bluetooth
package import Decoding
import Finding
import GAP
import Replay
package import Text

/// Writes a decoded packet as JSON: `name`, `fields`, `error` if it is malformed, and its bytes.
package enum PacketRecord {
  package typealias Names = (AttributeHandle) -> AttributeName?

  package static func write(
    _ json: inout RecordWriter, _ packet: DecodedPacket, _ octets: [UInt8], layer: String, names: Names = { _ in nil }
  ) {
    json.string("layer", layer)
    json.string("name", packet.name)
    json.object("fields") { write(&$0, packet.fields, names) }
    if let problem = packet.problem { json.string("error", "\(problem)") }
    json.hex("raw", octets)
  }

  private static func write(_ json: inout RecordWriter, _ fields: [PacketField], _ names: Names) {
    for field in fields { write(&json, field, names) }
    if let error = DecodedPacket.advertisingError(of: fields) { json.string("error", "\(error)") }
  }

  private static func write(_ json: inout RecordWriter, _ field: PacketField, _ names: Names) {
    let key = RecordWriter.Text(field.name)
    switch field.value {
    case .number(let number): json.integer(key, number)
    case .code(let number, let name):
      json.integer(key, number)
      json.string(.init(field.name + "_name"), name)
    case .status(let code):
      json.integer(key, code.rawValue)
      json.string(.init(field.name + "_name"), code.snakeName)
    case .attError(let code):
      json.integer(key, code.rawValue)
      json.string(.init(field.name + "_name"), code.snakeName)
    case .mask(let bits, let octets):
      // Larger numbers exceed the precision of a double, which JSON readers use.
      if octets > 6 { json.string(key, PacketText.hex(bits, octets)) } else { json.integer(key, bits) }
    // Not available (Vol 4 Part E §7.7.65).
    case .quantity(127, _, unit: "dBm"): json.integer(key, Int?.none)
    case .quantity(let number, let factor, let unit):
      json.integer(key, number)
      if factor != 1 { json.number(.init("\(field.name)_\(unit)"), Double(number) * factor) }
    case .choice(let value, let name): json.string(key, name ?? "0x\(Hex.encode([value]))")
    case .flag(let flag): json.bool(key, flag)
    case .address(let address): json.address(key, address)
    case .uuid(let uuid): named(&json, field.name, uuid)
    case .text(let octets): json.string(key, String(decoding: octets, as: UTF8.self))
    case .octets(let octets): json.hex(key, octets)
    case .advertising(let octets): advertising(&json, key, octets)
    case .attribute(let handle):
      json.integer(key, handle.rawValue)
      guard let name = names(handle) else { break }
      named(&json, "uuid", name.type)
      if let characteristic = name.characteristic { json.string("characteristic", characteristic.description) }
    case .value(let octets, let handle, let isWhole):
      json.hex(key, octets)
      guard isWhole, let uuid = handle.flatMap(names)?.type else { break }
      DecodedRecord.write(&json, octets, of: uuid)
    case .packet(let packet, let layer, let octets):
      json.object(key) { write(&$0, packet, octets, layer: layer.rawValue, names: names) }
    case .list(let items): json.objects(key, items) { write(&$0, $1, names) }
    }
  }

  private static func named(_ json: inout RecordWriter, _ key: String, _ uuid: UUID) {
    json.uuid(.init(key), uuid)
    if let name = AssignedNumbers.name(of: uuid) { json.string(.init(key + "_name"), name) }
  }

  private static func advertising(_ json: inout RecordWriter, _ key: RecordWriter.Text, _ octets: [UInt8]) {
    json.hex(key, octets)
    structures(&json, Advertisement(octets))
  }

  /// Writes the AD structures of an advertisement.
  /// - Parameter formats: The formats to decode each structure with. Nil disables decoding.
  static func structures(
    _ json: inout RecordWriter, _ advertisement: Advertisement, _ formats: AdvertisingFormats? = nil, sender: Address? = nil
  ) {
    json.objects("structures", advertisement.structures) { json, structure in
      json.integer("type", structure.type)
      json.string("name", ADType.name(structure.type))
      json.hex("data", structure.data)
      guard let formats, let alone = Advertisement(structures: [structure]) else { return }
      let decoded = formats.all(manufacturerData: alone.manufacturerData, serviceData: alone.serviceData, sender: sender)
      if !decoded.isEmpty { AdvertisedText.json(&json, decoded) }
    }
  }
}
