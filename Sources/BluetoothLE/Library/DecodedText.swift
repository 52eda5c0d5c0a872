// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The meaning of a value as text, such as `72 bpm, contact, RR 833 ms`.
package enum DecodedText {
  /// Returns the value as text without trailing NULs. Returns nil if the value is not printable UTF-8.
  package static func plain(_ value: [UInt8]) -> String? {
    let bytes = DisplayText.withoutTrailingNULs(value)
    return DisplayText.isPrintable(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Returns the meaning of a value. Returns nil for plain text, and for an unknown type without a presentation format.
  package static func text(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = []) -> String? {
    do throws(ValueMismatch) {
      guard let decoded = try DecodedValue.of(value, type: uuid, formats: formats) else { return nil }
      if decoded.fields.count == 1, case .text(let text)? = decoded.fields.first?.content, text == plain(value) ?? "" {
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

  package static func sentence(_ mismatch: ValueMismatch) -> String {
    switch mismatch {
    case .tooShort(let field, let bytes): "\(bytes.counted("byte")), too few for \(field)"
    case .tooLong(let count): "\(count.counted("byte")) too many"
    case .notText(let field): "\(field) is not UTF-8"
    case .notADate(let field): "\(field) is not a date"
    case .recordLength(let length): "invalid record length: \(length.counted("byte"))"
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
  package static func text(of field: DecodedField, unit: Bool) -> String {
    guard let sign = field.unit, unit, hasNumber(field) else { return value(field) }
    return "\(value(field)) \(sign)"
  }

  private static func isMeasured(_ field: DecodedField) -> Bool {
    switch field.content {
    case .number, .real, .noNumber: field.unit != nil
    case .numbers, .choice, .flags, .text, .uuid, .date, .bytes, .identifier: false
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
    case .bytes(let bytes), .identifier(let bytes): Hex.encode(bytes)
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
