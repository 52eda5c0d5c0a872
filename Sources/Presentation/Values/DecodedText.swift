package import BluetoothLE
package import BluetoothLEText
package import Terminal

/// The meaning of a value as text, such as `72 bpm, contact, RR 833 ms`.
package enum DecodedText {
  /// Returns the meaning of a value. Returns nil for plain text, and for an unknown type without a presentation format.
  package static func text(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = []) -> String? {
    do throws(ValueMismatch) {
      guard let decoded = try DecodedValue.of(value, type: uuid, formats: formats) else { return nil }
      if decoded.fields.count == 1, case .text(let text)? = decoded.fields.first?.content, text == ValueText.text(value) ?? "" {
        return nil
      }
      switch uuid?.short {
      case 0x2902, 0x2903: return list(decoded, uuid) ?? "off"
      case 0x2904: return format(decoded)
      case 0x2905: return PresentationFormat.handles(inAggregate: value).map(\.description).joined(separator: ", ")
      default: return list(decoded, uuid) ?? "none"
      }
    } catch {
      let name = uuid.flatMap { CharacteristicDescription($0) == nil ? nil : AssignedNumbers.name(of: $0) ?? $0.description }
      return "does not fit \(name ?? "its presentation format"): \(sentence(error))"
    }
  }

  /// Returns why the bytes are not a valid value of the type. Returns nil for a valid value or an unknown type.
  package static func problem(_ value: [UInt8], of uuid: UUID) -> String? {
    do throws(ValueMismatch) {
      _ = try DecodedValue.of(value, type: uuid, formats: [])
      return nil
    } catch { return sentence(error) }
  }

  static func sentence(_ mismatch: ValueMismatch) -> String {
    switch mismatch {
    case .tooShort(let field, let octets): "\(Quantity.octets(octets)), too few for \(field)"
    case .tooLong(let count): "\(Quantity.octets(count)) too many"
    case .notText(let field): "\(field) is not UTF-8"
    case .notADate(let field): "\(field) is not a date"
    case .recordLength(let length): "invalid record length: \(Quantity.octets(length))"
    case .tooLarge(let field): "\(field) is too large"
    }
  }

  /// Returns the flags and fields of a value, separated by commas. Returns nil if the value has no fields and no set flags.
  private static func list(_ decoded: DecodedValue, _ uuid: UUID?) -> String? {
    var fields = decoded.fields
    // Show the measurement before the flags, which precede it in the value.
    if fields.count > 1, case .flags = fields[0].content { fields.swapAt(0, 1) }
    let subject = Set((uuid.flatMap { AssignedNumbers.snakeName(of: $0) } ?? "").split(separator: "_"))
    let main =
      fields.count == 1
      ? 0 : fields.firstIndex { isMeasured($0) && Set(AssignedNumbers.snake($0.name).split(separator: "_")).isSubset(of: subject) }
    let parts = fields.enumerated().flatMap { index, field in pieces(of: field, named: index != main) }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// Returns the value of a Characteristic Presentation Format descriptor as text, such as `sint16 × 10^-2 °C, inside`.
  private static func format(_ decoded: DecodedValue) -> String {
    var text = ""
    var isNamed = false
    for field in decoded.fields {
      switch (field.key, field.content) {
      case ("format", .choice(_, let name)): text += name
      case ("format", .number(let number)): text += "format \(number)"
      case ("exponent", .number(let number)) where number.description != "0": text += " × 10^\(number)"
      case ("unit", .uuid(let uuid)) where uuid != UUID(0x2700): text += " \(CharacteristicDescription.unit(uuid) ?? uuid.description)"
      case ("name_space", .choice): isNamed = true
      case ("description", .choice(let raw, let name)) where isNamed && raw > 0: text += ", \(name)"
      case ("description", .number(let number)) where isNamed: text += ", number \(number)"
      default: break
      }
    }
    return text
  }

  /// Returns the value of a field as text, followed by its unit if `unit` is true.
  static func text(of field: DecodedField, unit: Bool) -> String {
    guard let sign = field.unit, unit, hasNumber(field) else { return value(field) }
    return "\(value(field)) \(sign)"
  }

  private static func isMeasured(_ field: DecodedField) -> Bool {
    switch field.content {
    case .number, .real, .noNumber: field.unit != nil
    case .numbers, .choice, .flags, .text, .uuid, .date, .octets, .identifier: false
    }
  }

  private static func pieces(of field: DecodedField, named: Bool) -> [String] {
    if case .flags(_, let flags) = field.content { return flags.compactMap(part) }
    if value(field).isEmpty { return [] }
    let text = text(of: field, unit: true)
    return [named ? "\(lowered(field.name)) \(text)" : text]
  }

  private static func hasNumber(_ field: DecodedField) -> Bool { if case .noNumber = field.content { false } else { true } }

  private static func value(_ field: DecodedField) -> String {
    switch field.content {
    case .number(let number): number.rounded
    case .numbers(let numbers): numbers.map(\.rounded).joined(separator: " ")
    case .real(let number): number.isNaN ? "NaN" : "\(number)"
    case .choice(_, let name), .noNumber(let name): name
    case .flags: ""
    case .text(let text): "\"\(DisplayText.escape(text))\""
    case .uuid(let uuid): CharacteristicDescription.unit(uuid) ?? AssignedNumbers.name(of: uuid).map { "\(uuid) \($0)" } ?? uuid.description
    case .date(let date): date
    case .octets(let octets), .identifier(let octets): Hex.encode(octets)
    }
  }

  /// Returns the text of a flag or a group of bits. Returns nil for a flag that is not set or bits without a known meaning.
  private static func part(_ flag: DecodedField.Flag) -> String? {
    if flag.isSingleBit { return flag.value == 0 ? nil : lowered(flag.meaning ?? flag.name) }
    guard let meaning = flag.meaning else { return nil }
    let saysItself = meaning.utf8.count > 8 || flag.name.lowercased().contains(meaning.lowercased())
    return lowered(saysItself ? meaning : "\(flag.name) \(meaning)")
  }

  /// Changes a name to lowercase, such as `energy expended`. Keeps proper names and abbreviations, such as `RR`.
  private static func lowered(_ name: String) -> String {
    name.split(separator: " ").map { word in
      let rest = word.dropFirst()
      return rest.contains(where: \.isUppercase) || (rest.isEmpty && word != "A") ? String(word) : word.lowercased()
    }.joined(separator: " ")
  }
}

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
      json.string("text", decoded?.isText ?? true ? ValueText.text(value) : nil)
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
    case .octets(let octets), .identifier(let octets): json.hex("value", octets)
    }
    if let unit = field.unit { json.string("unit", unit) }
  }
}
