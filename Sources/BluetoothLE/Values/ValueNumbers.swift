// SPDX-License-Identifier: Apache-2.0
/// The numbers in a value of a characteristic.
package enum ValueNumbers {
  package typealias Field = (name: String, unit: String?, numbers: [Double])

  /// Returns the fields of a value. A field that is not a number, or is not known, has no numbers. A value in a format of numbers has a field
  /// without a name for each number.
  package static func fields(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat], as format: ValueFormat) -> [Field] {
    if let numbers = format.numbers(value) { return numbers.map { ("", nil, Double($0).map { [$0] } ?? []) } }
    guard format == .auto, let decoded = try? DecodedValue.of(value, type: uuid, formats: formats) else { return [] }
    return decoded.fields.map { ($0.name, $0.unit, numbers($0)) }
  }

  /// Returns the number that represents a value: the first with a unit, or else the first. Reads one to four bytes of an unknown
  /// characteristic as an unsigned little-endian number. Returns nil if the value has no number.
  package static func main(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat], as format: ValueFormat = .auto) -> Double? {
    let fields = fields(value, of: uuid, formats: formats, as: format).filter { !$0.numbers.isEmpty }
    if let number = (fields.first { $0.unit != nil } ?? fields.first)?.numbers.first { return number }
    if let decoded = try? DecodedValue.of(value, type: uuid, formats: formats) {
      return decoded.fields.lazy.compactMap { if case .choice(let raw, _) = $0.content { Double(raw) } else { nil } }.first
    }
    guard (1...4).contains(value.count), uuid.flatMap({ CharacteristicDescription($0) }) == nil else { return nil }
    return Double(value.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
  }

  private static func numbers(_ field: DecodedField) -> [Double] {
    switch field.content {
    case .number(let number): Double(number.description).map { [$0] } ?? []
    case .numbers(let numbers): numbers.compactMap { Double($0.description) }
    case .real(let number): number.isFinite ? [number] : []
    case .choice, .noNumber, .flags, .text, .uuid, .date, .bytes, .identifier: []
    }
  }
}
