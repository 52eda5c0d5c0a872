package import Bluetooth
package import Text
package import Values

/// Formats values as text for people, and for the JSON field `text`.
package enum ValueText {
  /// Returns the value as text without trailing NULs. Nil if it is not printable UTF-8.
  package static func text(_ value: [UInt8]) -> String? {
    let octets = DisplayText.withoutTrailingNULs(value)
    return DisplayText.isPrintable(octets) ? String(decoding: octets, as: UTF8.self) : nil
  }

  /// Returns the bytes in hex, followed by their meaning if known, or by their text if printable.
  package static func displayText(_ value: [UInt8], of uuid: UUID? = nil, formats: [PresentationFormat] = []) -> String {
    if value.isEmpty { return "(empty)" }
    let meaning = DecodedText.text(value, of: uuid, formats: formats) ?? text(value).map { "\"\(DisplayText.escape($0))\"" }
    return Hex.encode(value) + (meaning.map { "  " + $0 } ?? "")
  }

  package static func displayText(_ value: [UInt8], _ meaning: ValueMeaning) -> String {
    displayText(value, of: meaning.uuid, formats: meaning.description.formats)
  }

  /// Returns the value as a command's result: in the requested format, or with its meaning for `auto`.
  package static func result(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = [], as format: ValueFormat) -> String {
    guard format == .auto, let decoded = DecodedText.text(value, of: uuid, formats: formats) else { return format.render(value) }
    return "\(value.isEmpty ? "(empty)" : Hex.encode(value))  \(decoded)"
  }

  /// Writes the names of a value and `decoded`, in the requested format or by the characteristic's meaning.
  package static func write(_ json: inout RecordWriter, _ value: [UInt8], _ meaning: ValueMeaning, as format: ValueFormat) {
    meaning.write(&json)
    if format == .auto {
      DecodedRecord.write(&json, value, of: meaning.uuid, formats: meaning.description.formats)
    } else {
      DecodedRecord.write(&json, value, as: format)
    }
  }

  /// Checks that a value consists of whole numbers in the format.
  /// - Throws: `Failure` if not, because programs that asked for the format would misread another format.
  package static func check(_ value: [UInt8], _ format: ValueFormat) throws {
    guard let octets = format.numberOctets, value.isEmpty || !value.count.isMultiple(of: octets) else { return }
    let shown = value.isEmpty ? "" : " (\(Hex.encode(value)))"
    throw Failure(
      .expectation,
      "Cannot show the value as \(format.name), which needs \(Quantity.octets(octets)) per number: it has "
        + "\(Quantity.octets(value.count))\(shown). Use --as hex")
  }
}

/// The type, description and name of a value.
package struct ValueMeaning {
  /// The type of the attribute. Nil if unknown.
  package let uuid: UUID?
  package let description: ValueDescription
  /// The name of the UUID in names.json.
  let ownName: String?

  package init(uuid: UUID?, description: ValueDescription = ValueDescription()) {
    self.uuid = uuid
    self.description = description
    ownName = uuid.flatMap { OwnNames.current?.uuids[$0] }
  }

  /// Writes the user's and the firmware's names to a record.
  func write(_ json: inout RecordWriter) {
    if let ownName { json.string("uuid_name", ownName) }
    if let name = description.userDescription { json.string("user_description", name) }
  }
}
