// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// A reader of advertising data, which keeps the order of the fields in the file (Supplement to the Core Specification, Part A §1).
struct AdvertisementReader {
  let expressions: ExpressionReader

  private static let limit = AdvertisementTemplate.maximumLength

  private static let keys = [
    "flags", "name", "short_name", "services", "manufacturer_data", "service_data", "tx_power", "appearance",
  ]

  /// Reads advertising data, also malformed data as hex digits. Returns the bytes, or a template if the device computes a part.
  func data(_ entry: FileEntry) throws(FileEntryError) -> ([UInt8], AdvertisementTemplate?) {
    var whole = AdvertisementTemplate()
    if entry.isObject {
      _ = try entry.object(Self.keys)
      for (key, value) in try entry.members() { whole.pieces += try structures(key, value) }
    } else {
      whole.pieces = [.bytes(try expressions.template(entry))]
    }
    let least = whole.leastLength
    guard least <= Self.limit else { throw entry.error("Too long: \(least) bytes (maximum \(Self.limit)).") }
    return whole.literal.map { ($0, nil) } ?? ([], whole)
  }

  private func structures(_ key: String, _ entry: FileEntry) throws(FileEntryError) -> [AdvertisementTemplate.Piece] {
    func structure(_ type: UInt8, _ data: [UInt8], _ template: Template = Template(parts: [])) -> AdvertisementTemplate.Piece {
      .structure(type, Template(parts: [.bytes(data)] + template.parts))
    }
    switch key {
    case "flags": return [structure(0x01, [UInt8(clamping: try entry.integer(0...255))])]
    case "short_name": return [structure(0x08, Array(try entry.string().utf8))]
    case "name": return [structure(0x09, Array(try entry.string().utf8))]
    case "tx_power": return [structure(0x0A, [UInt8(bitPattern: Int8(clamping: try entry.integer(-127...20)))])]
    case "appearance":
      let value = UInt16(clamping: try entry.integer(0...0xFFFF))
      return [structure(0x19, [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)])]
    case "services":
      // One structure per UUID size: 16 bits, 128 bits.
      var short: [UInt8] = []
      var long: [UInt8] = []
      for item in try entry.list() {
        let bytes = try item.uuid().attBytes
        if bytes.count == 2 { short += bytes } else { long += bytes }
      }
      return (short.isEmpty ? [] : [structure(0x03, short)]) + (long.isEmpty ? [] : [structure(0x07, long)])
    case "manufacturer_data":
      var data: [AdvertisementTemplate.Piece] = []
      for (company, value) in try entry.members() {
        guard company.utf8.count == 4, let id = Hex.number(company) else {
          throw value.error("A company identifier has four hex digits, such as 004c.")
        }
        data.append(structure(0xFF, [UInt8(truncatingIfNeeded: id), UInt8(truncatingIfNeeded: id >> 8)], try expressions.template(value)))
      }
      return data
    case "service_data":
      var data: [AdvertisementTemplate.Piece] = []
      for (text, value) in try entry.members() {
        guard let uuid = UUID(text) else { throw value.error("Invalid UUID \(DisplayText.quote(text)).") }
        data.append(structure(uuid.short == nil ? 0x21 : 0x16, uuid.attBytes, try expressions.template(value)))
      }
      return data
    default: return []
    }
  }
}
