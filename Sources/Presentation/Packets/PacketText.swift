package import ATT
import Bluetooth
package import Decoding
import Finding
import GAP
import Replay
import Text

/// Formats a decoded packet: `LE Set Scan Enable  enable on, filter duplicates off`. List items have their own lines.
package enum PacketText {
  package static func lines(_ packet: DecodedPacket, names: (AttributeHandle) -> AttributeName? = { _ in nil }) -> [String] {
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
    return [line] + below
  }

  /// Whether the line already shows the field: the number of items, or the opcode of a named command.
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

  /// Whether a report field has the value for "not present".
  private static func isNothing(_ field: PacketField) -> Bool {
    switch (field.name, field.value) {
    case ("secondary_phy", .choice(0, _)), ("sid", .number(0xFF)), ("tx_power", .quantity(127, _, _)),
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
    case .mask(let bits, let octets): return hex(bits, octets)
    case .quantity(let number, let factor, let unit):
      if unit == "dBm" { return number == 127 ? "not available" : "\(number) dBm" }
      return "\((Double(number) * factor).plainText) \(unit == "us" ? "µs" : unit)"
    case .choice(let value, let name): return name?.replacing("_", with: " ") ?? "0x\(Hex.encode([value]))"
    case .flag(let flag): return flag ? "on" : "off"
    case .address(let address): return address.description
    case .uuid(let uuid): return named(uuid)
    case .text(let octets): return "\"\(DisplayText.escape(octets))\""
    case .octets(let octets): return octets.isEmpty ? "(empty)" : Hex.encode(octets)
    case .advertising(let octets): return advertising(octets)
    case .attribute(let handle):
      guard let name = names(handle) else { return "handle \(handle)" }
      return "\(handle) \(name.characteristic.map { "\(named($0))@" } ?? "")\(named(name.type))"
    case .value(let octets, let handle, let isWhole):
      return ValueText.displayText(octets, of: isWhole ? handle.flatMap(names)?.type : nil)
    case .packet(let packet, _, _): return packet.name
    case .list(let items): return items.map { parts($0, names).joined(separator: ", ") }.joined(separator: "; ")
    }
  }

  static func named(_ uuid: UUID) -> String { AssignedNumbers.name(of: uuid).map { "\(uuid) \(DisplayText.escape($0))" } ?? "\(uuid)" }

  private static func advertising(_ octets: [UInt8]) -> String {
    let advertisement = Advertisement(octets)
    let parts = advertisement.structures.map { AdvertisingDetail.line($0, sender: nil, AdvertisingFormats()) }
    return (parts.isEmpty ? ["(empty)"] : parts).joined(separator: "; ") + (advertisement.error.map { " (malformed: \($0))" } ?? "")
  }

  package static func hex(_ bits: UInt64, _ octets: Int) -> String {
    let digits = String(bits, radix: 16)
    return "0x" + String(repeating: "0", count: max(0, 2 * octets - digits.utf8.count)) + digits
  }

  /// Formats nanoseconds as seconds with six decimals.
  package static func seconds(_ nanoseconds: Int64) -> String {
    let micro = (nanoseconds / 1000).magnitude
    let rest = String(micro % 1_000_000)
    return (nanoseconds < 0 ? "-" : "") + "\(micro / 1_000_000)." + String(repeating: "0", count: 6 - rest.utf8.count) + rest
  }

  package static func milliseconds(_ nanoseconds: Int64) -> String {
    "\(((Double(nanoseconds) / 10_000).rounded() / 100).plainText) ms"
  }
}
