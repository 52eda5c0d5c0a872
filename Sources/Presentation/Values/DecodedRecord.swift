package import BluetoothLE
package import BluetoothLEText
package import Terminal

extension Output {
  /// Makes a column for each field that values of a type may have. `type` is the UUID of a characteristic, or nil if unknown.
  @LoopActor package func takeValueFields(of types: [UUID]) {
    valueFields = types.compactMap { CharacteristicDescription($0) }.flatMap(\.fieldKeys).reduce(into: [] as [String]) { keys, key in
      if !keys.contains(key) { keys.append(key) }
    }
  }
}

/// The JSON field `decoded` with the meaning of a value, or `decoded_error` if the bytes do not fit the type.
package enum DecodedRecord {
  /// Writes the meaning of a value, and before it the member `text`: the value as text if its type is text or unknown, otherwise null.
  package static func writeWithText(
    _ json: inout RecordWriter, _ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = [],
    between: (inout RecordWriter) -> Void = { _ in }
  ) {
    do throws(ValueMismatch) {
      let decoded = try DecodedValue.of(value, type: uuid, formats: formats)
      json.string("text", decoded?.isText ?? true ? DecodedText.plain(value) : nil)
      between(&json)
      if let decoded { write(&json, decoded) }
    } catch {
      json.string("text", nil)
      between(&json)
      write(&json, error)
    }
  }

  package static func write(_ json: inout RecordWriter, _ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = []) {
    do throws(ValueMismatch) {
      if let decoded = try DecodedValue.of(value, type: uuid, formats: formats) { write(&json, decoded) }
    } catch { write(&json, error) }
  }

  private static func write(_ json: inout RecordWriter, _ decoded: DecodedValue) {
    json.object("decoded") { json in
      for field in decoded.fields { json.object(.init(field.key)) { write(&$0, field) } }
    }
  }

  private static func write(_ json: inout RecordWriter, _ mismatch: ValueMismatch) {
    json.string("decoded", nil)
    json.string("decoded_error", DecodedText.sentence(mismatch))
  }

  /// Writes a value in the format of `--as`. Writes NaN and infinity as null, with their names in `decoded_name`.
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

  /// The JSON names of the special numbers of IEEE 11073-20601, which are the same as those of binary floats.
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
    case .bytes(let bytes), .identifier(let bytes): json.hex("value", bytes)
    }
    if let unit = field.unit { json.string("unit", unit) }
  }
}
