package import Bluetooth
import GATT
package import Text
package import Values

/// Writes the meaning of a value as JSON: `decoded`, or `decoded_error` if the bytes do not fit.
package enum DecodedRecord {
  package static func write(_ json: inout RecordWriter, _ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = []) {
    do throws(ValueMismatch) {
      guard let decoded = try DecodedValue.of(value, type: uuid, formats: formats) else { return }
      if decoded.fields.count == 1, case .text(let text) = decoded.fields[0].content {
        json.string("decoded", text)
      } else {
        json.object("decoded") { json in
          for field in decoded.fields { json.object(.init(field.key)) { write(&$0, field) } }
        }
      }
    } catch {
      json.string("decoded", nil)
      json.string("decoded_error", DecodedText.sentence(error))
    }
  }

  /// Writes a value in the format of `--as`. For NaN and infinity, `decoded` is null and `decoded_name` has the name.
  static func write(_ json: inout RecordWriter, _ value: [UInt8], as format: ValueFormat) {
    if let numbers = format.numbers(value) {
      // Matches nan, inf and -inf.
      let isNamed = numbers.map { $0.contains("n") }
      let values = zip(numbers, isNamed).map { $1 ? "null" : $0 }
      let names = isNamed.contains(true) ? zip(numbers, isNamed).map { $1 ? "\"\($0)\"" : "null" } : []
      if numbers.count == 1 {
        json.literal("decoded", values[0])
        if let name = names.first { json.literal("decoded_name", name) }
      } else {
        json.literals("decoded", values)
        if !names.isEmpty { json.literals("decoded_name", names) }
      }
    } else {
      let text = format == .utf8 ? String(validating: DisplayText.withoutTrailingNULs(value), as: UTF8.self) : format.render(value)
      json.string("decoded", text)
      if text == nil { json.string("decoded_error", "not UTF-8") }
    }
  }

  /// The names of binary floats for the special numbers of IEEE 11073-20601.
  private static let specialNumbers = ["NaN": "nan", "+INFINITY": "inf", "-INFINITY": "-inf"]

  static func write(_ json: inout RecordWriter, _ field: DecodedField) {
    switch field.content {
    case .number(let number): json.literal("value", number.description)
    case .numbers(let numbers): json.literals("value", numbers.map(\.description))
    case .real(let number):
      json.number("value", number)
      if !number.isFinite { json.string("name", number.isNaN ? "nan" : "\(number)") }
    case .choice(let raw, let name):
      json.integer("value", raw)
      json.string("name", name)
    case .noNumber(let name):
      json.string("value", nil)
      json.string("name", specialNumbers[name] ?? name)
    case .flags(let value, let flags):
      json.integer("value", value)
      for flag in flags {
        let key = AssignedNumbers.snake(flag.name)
        if flag.isSingleBit {
          json.bool(.init(key), flag.value == 1)
        } else {
          json.object(.init(key)) {
            $0.integer("value", flag.value)
            if let meaning = flag.meaning { $0.string("name", meaning) }
          }
        }
      }
    case .text(let text), .date(let text): json.string("value", text)
    case .uuid(let uuid):
      json.uuid("value", uuid)
      if let name = CharacteristicDescription.unit(uuid) ?? AssignedNumbers.name(of: uuid) { json.string("name", name) }
    case .octets(let octets), .identifier(let octets): json.hex("value", octets)
    }
    if let unit = field.unit { json.string("unit", unit) }
  }
}
