package import BluetoothLE
import BluetoothLEDeviceFiles
package import Traces

/// The text of a decoded packet, such as `LE Set Scan Enable  enable on, filter duplicates off`. The items of a list are on further lines.
package enum PacketText {
  package static func lines(_ packet: DecodedPacket, names: (AttributeHandle) -> LearnedAttribute? = { _ in nil }) -> [String] {
    var line = packet.name
    var below: [String] = []
    var parts: [String] = []
    for field in packet.fields {
      if case .list(let items) = field.value {
        // A single item fits on the line.
        if items.count == 1 {
          parts += Self.parts(items[0], names)
        } else if !items.isEmpty {
          below += items.map { "    " + Self.parts($0, names).joined(separator: ", ") }
        }
      } else if case .packet(let carried, _, _) = field.value {
        below += lines(carried, names: names).map { "    " + $0 }
      } else if !isSaid(field, packet.name) {
        parts.append(text(field, names))
      }
    }
    if !parts.isEmpty { line += "  " + parts.joined(separator: ", ") }
    if let problem = packet.problem { line += "  (malformed: \(problem))" }
    if packet.missing > 0 { line += "  (cut: the recording lacks the last \(packet.missing.counted("byte")))" }
    return [line] + below
  }

  /// Returns whether the packet's line already contains the information of a field, such as a number of items.
  private static func isSaid(_ field: PacketField, _ name: String) -> Bool {
    switch field.name {
    case "opcode": HCITable.commands[UInt16(clamping: field.value.number ?? 0)]?.name == name
    case "num_reports", "num_handles": true
    default: false
    }
  }

  private static func parts(_ fields: [PacketField], _ names: PacketRecord.Names) -> [String] {
    let type: UUID? = if case .attribute(let handle)? = fields.first?.value { names(handle)?.type } else { nil }
    return fields.filter { !isNothing($0) && !(type != nil && $0 == PacketField("type", .uuid(type ?? UUID(0)))) }.map { text($0, names) }
  }

  /// Returns whether a field of an advertising report has the value that stands for "not present".
  private static func isNothing(_ field: PacketField) -> Bool {
    switch (field.name, field.value) {
    case ("data_status", .named(0, _)), ("secondary_phy", .choice(0, _)), ("sid", .number(0xFF)), ("tx_power", .quantity(127, _, _)),
      ("periodic_interval", .quantity(0, _, _)), ("direct_address", .address(Address(rawValue: 0))), ("direct_address_type", .choice(0, _)):
      true
    default: false
    }
  }

  private static func text(_ field: PacketField, _ names: PacketRecord.Names) -> String {
    let value = value(field.value, names)
    switch field.value {
    // An attribute needs no label.
    case .attribute: return value
    default: return field.name.replacing("_", with: " ") + " " + value
    }
  }

  private static func value(_ value: PacketField.Value, _ names: PacketRecord.Names) -> String {
    switch value {
    case .number(let number): return String(number)
    case .code(let number, let name): return name.map { DisplayText.escape($0) } ?? hex(UInt64(clamping: number), 2)
    case .status(let code): return code == .success ? code.name : code.description
    case .attError(let code): return code.description
    case .mask(let bits, let bytes): return hex(bits, bytes)
    case .quantity(let number, let factor, let unit):
      if unit == "dBm" { return number == 127 ? "not available" : "\(number) dBm" }
      return "\((Double(number) * factor).plainText) \(unit == "us" ? "µs" : unit)"
    case .bits(let bits, let names): return names.joined(separator: " ").replacing("_", with: "-") + " (\(hex(UInt64(bits), 2)))"
    case .choice(let value, let name), .named(let value, let name): return name?.replacing("_", with: " ") ?? "0x\(Hex.encode([value]))"
    case .flag(let flag): return flag ? "on" : "off"
    case .address(let address): return address.description
    case .uuid(let uuid): return named(uuid)
    case .text(let bytes): return "\"\(DisplayText.escape(bytes))\""
    case .bytes(let bytes): return bytes.isEmpty ? "(empty)" : Hex.encode(bytes)
    case .advertising(let bytes): return advertising(bytes)
    case .part(let bytes, nil): return (bytes.isEmpty ? "(empty)" : Hex.encode(bytes)) + " (part)"
    case .part(_, let whole?):
      return advertising(whole.data, isCut: whole.isTruncated) + (whole.firstPacket.map { " (joined from packet \($0) on)" } ?? "")
    case .attribute(let handle):
      guard let name = names(handle) else { return "handle \(handle)" }
      return "\(handle) \(name.characteristic.map { "\(named($0))@" } ?? "")\(named(name.type))"
    case .value(let bytes, let handle, let isWhole):
      return ValueText.displayText(bytes, of: isWhole ? handle.flatMap(names)?.type : nil)
    case .packet(let packet, _, _): return packet.name
    case .list(let items): return items.map { parts($0, names).joined(separator: ", ") }.joined(separator: "; ")
    }
  }

  package static func named(_ uuid: UUID) -> String {
    AssignedNumbers.name(of: uuid).map { "\(uuid) \(DisplayText.escape($0))" } ?? "\(uuid)"
  }

  private static func advertising(_ bytes: [UInt8], isCut: Bool = false) -> String {
    let parts = AdvertisingDetail.parts(bytes, isCut: isCut, of: nil, AdvertisingFormats())
    // What is no structure belongs to the last one.
    return parts.dropFirst().reduce(parts[0]) { $0 + ($1.hasPrefix("(") ? " " : "; ") + $1 }
  }

  package static func hex(_ bits: UInt64, _ bytes: Int) -> String {
    let digits = String(bits, radix: 16)
    return "0x" + String(repeating: "0", count: max(0, 2 * bytes - digits.utf8.count)) + digits
  }

  /// Formats a number of nanoseconds as seconds with six decimal places.
  package static func seconds(_ nanoseconds: Int64) -> String {
    let micro = (nanoseconds / 1000).magnitude
    return "\(nanoseconds < 0 ? "-" : "")\(micro / 1_000_000).\("\(micro % 1_000_000)".padded(to: 6, with: "0"))"
  }

  package static func milliseconds(_ nanoseconds: Int64) -> String { "\(((Double(nanoseconds) / 10_000).rounded() / 100).plainText) ms" }
}

/// The JSON form of a decoded packet: its name, fields and bytes, and an error if the packet is malformed.
package enum PacketRecord {
  package typealias Names = (AttributeHandle) -> LearnedAttribute?

  package static func write(
    _ json: inout RecordWriter, _ packet: DecodedPacket, _ bytes: [UInt8], layer: String, names: Names = { _ in nil }
  ) {
    json.string("layer", layer)
    json.string("name", packet.name)
    json.object("fields") { write(&$0, packet.fields, names) }
    if let problem = packet.problem { json.string("error", "\(problem)") }
    if packet.missing > 0 { json.integer("missing", packet.missing) }
    json.hex("raw", bytes)
  }

  private static func write(_ json: inout RecordWriter, _ fields: [PacketField], _ names: Names) {
    for field in fields { write(&json, field, names) }
    if let error = DecodedPacket.advertisingError(of: fields) { json.string("error", "\(error)") }
  }

  private static func write(_ json: inout RecordWriter, _ field: PacketField, _ names: Names) {
    let key = RecordWriter.Text(field.name)
    switch field.value {
    case .number(let number): json.integer(key, number)
    case .code(let number, let name): coded(&json, field.name, number, name)
    case .status(let code): coded(&json, field.name, code.number, code.snakeName)
    case .attError(let code): coded(&json, field.name, code.number, code.snakeName)
    case .mask(let bits, let bytes):
      // Larger numbers exceed the precision of a double, which JSON readers use.
      if bytes > 6 { json.string(key, PacketText.hex(bits, bytes)) } else { json.integer(key, bits) }
    // Not available (Vol 4 Part E §7.7.65).
    case .quantity(127, _, unit: "dBm"): json.integer(key, Int?.none)
    case .quantity(let number, let factor, let unit):
      json.integer(key, number)
      if factor != 1 { json.number(.init("\(field.name)_\(unit)"), Double(number) * factor) }
    case .named(let value, let name): coded(&json, field.name, value, name)
    case .bits(let bits, let names):
      json.integer(key, bits)
      json.strings(.init(field.name + "_names"), names)
    case .choice(let value, let name): json.string(key, name ?? "0x\(Hex.encode([value]))")
    case .flag(let flag): json.bool(key, flag)
    case .address(let address): json.address(key, address)
    case .uuid(let uuid): named(&json, field.name, uuid)
    case .text(let bytes): json.string(key, String(decoding: bytes, as: UTF8.self))
    case .bytes(let bytes): json.hex(key, bytes)
    case .advertising(let bytes): advertising(&json, key, bytes)
    case .part(let bytes, let whole):
      advertising(&json, key, bytes, whole?.data ?? [])
      if let first = whole?.firstPacket {
        json.integer("first_packet", first)
        json.hex("joined", whole?.data ?? [])
      }
      if whole?.isTruncated == true { json.bool("truncated", true) }
    case .attribute(let handle):
      json.integer(key, handle.rawValue)
      guard let name = names(handle) else { break }
      named(&json, "uuid", name.type)
      if let characteristic = name.characteristic { json.string("characteristic", characteristic.description) }
    case .value(let bytes, let handle, let isWhole):
      json.hex(key, bytes)
      guard isWhole, let uuid = handle.flatMap(names)?.type else { break }
      DecodedRecord.write(&json, bytes, of: uuid)
    case .packet(let packet, let layer, let bytes):
      json.object(key) { write(&$0, packet, bytes, layer: layer.rawValue, names: names) }
    case .list(let items): json.objects(key, items) { write(&$0, $1, names) }
    }
  }

  private static func coded(_ json: inout RecordWriter, _ key: String, _ number: some BinaryInteger, _ name: String?) {
    json.integer(.init(key), number)
    json.string(.init(key + "_name"), name)
  }

  private static func named(_ json: inout RecordWriter, _ key: String, _ uuid: UUID) {
    json.uuid(.init(key), uuid)
    if let name = AssignedNumbers.name(of: uuid) { json.string(.init(key + "_name"), name) }
  }

  private static func advertising(_ json: inout RecordWriter, _ key: RecordWriter.Text, _ bytes: [UInt8], _ whole: [UInt8]? = nil) {
    json.hex(key, bytes)
    structures(&json, Advertisement(whole ?? bytes))
  }

  /// Writes the AD structures of an advertisement.
  /// - Parameter formats: The formats that decode the data of each structure. Nil disables decoding.
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

/// The text of ATT PDUs for `-vv` in the style of btmon, with `<` for sent and `>` for received PDUs.
package enum PDUText {
  package static func line(_ direction: PDUDirection, _ pdu: [UInt8]) -> String {
    "\(direction == .sent ? "<" : ">") \(pdu.first.map { ATTOpcode(rawValue: $0).description } ?? "empty") \(Hex.encode(pdu))"
  }

  /// Returns the name and the attribute of a PDU, such as `Read Request battery_level`. Adds the reason to an Error Response.
  /// - Parameter names: A function that returns the name of an attribute, or nil to show its handle, such as `0x0012`.
  package static func name(_ pdu: [UInt8], names: (AttributeHandle) -> String?) -> String {
    guard let first = pdu.first else { return "empty" }
    let opcode = ATTOpcode(rawValue: first)
    let offset: Int? =
      switch opcode {
      case .request(.read), .request(.readBlob), .request(.write), .request(.prepareWrite), .response(.prepareWrite), .command,
        .unsolicited(.notification), .unsolicited(.indication):
        1
      case .error: 2
      case .request, .response, .unsolicited, .confirmation, .unknown: nil
      }
    guard let offset, pdu.count >= offset + 2 else { return opcode.description }
    let reason = opcode == .error && pdu.count > offset + 2 ? ": \(ErrorCode(rawValue: pdu[offset + 2]))" : ""
    let handle = AttributeHandle(rawValue: UInt16(pdu[offset]) | UInt16(pdu[offset + 1]) << 8)
    return "\(opcode.description) \(names(handle) ?? handle.description)" + reason
  }
}

extension DecodedPacket {
  /// The first format error in the packet's advertising data. Nil if the packet has no such error.
  package var advertisingError: MalformedPacket? {
    Self.advertisingError(of: fields)
      ?? fields.lazy.compactMap { field -> MalformedPacket? in
        switch field.value {
        case .list(let items): items.lazy.compactMap { DecodedPacket("", $0).advertisingError }.first
        case .packet(let packet, _, _): packet.advertisingError
        default: nil
        }
      }.first
  }

  /// Returns the format error in the advertising data of one report or command. Returns nil for a fragment of such data.
  static func advertisingError(of fields: [PacketField]) -> MalformedPacket? {
    for field in fields {
      switch (field.name, field.value) {
      // An extended PDU from a sniffer may be part of a chain.
      case ("mode", _): return nil
      case (_, .advertising(let data)): return Advertisement(data).error
      case (_, .part(_, let whole?)): return Advertisement(whole.data).error(isCut: whole.isTruncated)
      default: break
      }
    }
    return nil
  }
}
