import Bluetooth
import GATT
import Text

/// Values for people and for the `text` field.
enum ValueText {
  /// The value as text when all of it is printable UTF-8, but for the NULs that end it.
  static func text(_ value: [UInt8]) -> String? {
    let octets = DisplayText.withoutTrailingNULs(value)
    return DisplayText.isPrintable(octets) ? String(decoding: octets, as: UTF8.self) : nil
  }

  /// As octets; then what they mean where that is known, else as text where they are some.
  static func forEyes(_ value: [UInt8], of uuid: UUID? = nil, formats: [PresentationFormat] = []) -> String {
    if value.isEmpty { return "(empty)" }
    let meaning = DecodedText.text(value, of: uuid, formats: formats) ?? text(value).map { "\"\(DisplayText.escape($0))\"" }
    return Hex.encode(value) + (meaning.map { "  " + $0 } ?? "")
  }

  static func forEyes(_ value: [UInt8], _ meaning: ValueMeaning) -> String {
    forEyes(value, of: meaning.uuid, formats: meaning.description.formats)
  }

  /// For a command's result: in the format that was asked for, or as `auto` shows it, with what it means.
  static func result(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = [], as format: ValueFormat) -> String {
    guard format == .auto, let decoded = DecodedText.text(value, of: uuid, formats: formats) else { return format.render(value) }
    return "\(value.isEmpty ? "(empty)" : Hex.encode(value))  \(decoded)"
  }

  /// Names; `decoded`: as was asked for, else what the characteristic means.
  static func write(_ json: inout JSONLine, _ value: [UInt8], _ meaning: ValueMeaning, as format: ValueFormat) {
    meaning.write(&json)
    if format == .auto {
      DecodedRecord.write(&json, value, of: meaning.uuid, formats: meaning.description.formats)
    } else {
      DecodedRecord.write(&json, value, as: format)
    }
  }

  /// Another format than the one asked for would be read as that one.
  /// - Throws: Failure, when the octets do not make whole numbers of the format.
  static func check(_ value: [UInt8], _ format: ValueFormat) throws {
    guard let octets = format.numberOctets, value.isEmpty || !value.count.isMultiple(of: octets) else { return }
    throw Failure(
      .expectation,
      "the value has \(value.count) octet\(value.count == 1 ? "" : "s") (\(Hex.encode(value))), which \(format.name) does not fit: "
        + "it takes \(octets) for each number; --as hex shows any")
  }
}
