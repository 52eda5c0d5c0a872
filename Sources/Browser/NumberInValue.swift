import GATT
import Presentation
import Values

/// The number in a value that a plot shows.
struct NumberInValue: Equatable {
  let value: Double
  let unit: String?

  /// Returns the measured number of a known characteristic. Otherwise, reads one to four bytes as an unsigned little-endian number.
  static func of(_ octets: [UInt8], _ facts: CharacteristicFacts) -> NumberInValue? {
    if let decoded = try? DecodedValue.of(octets, type: facts.characteristic.uuid, formats: facts.formats) {
      let numbers = decoded.fields.compactMap { field in number(field).map { NumberInValue(value: $0, unit: field.unit) } }
      return numbers.first { $0.unit != nil } ?? numbers.first
    }
    guard (1...4).contains(octets.count), CharacteristicDescription(facts.characteristic.uuid) == nil else { return nil }
    return NumberInValue(value: Double(octets.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }), unit: nil)
  }

  private static func number(_ field: DecodedField) -> Double? {
    switch field.content {
    case .number(let number): Double(number.description)
    case .real(let number): number.isFinite ? number : nil
    case .choice(let raw, _): Double(raw)
    case .numbers, .noNumber, .flags, .text, .uuid, .date, .octets, .identifier: nil
    }
  }
}
