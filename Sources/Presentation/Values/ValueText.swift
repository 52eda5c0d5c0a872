package import BluetoothLE

/// The output of attribute values, as text or JSON.
package enum ValueText {
  /// Returns the bytes in hex, followed by their meaning if known or by their text if printable.
  package static func displayText(_ value: [UInt8], of uuid: UUID? = nil, formats: [PresentationFormat] = []) -> String {
    if value.isEmpty { return "(empty)" }
    let meaning = DecodedText.text(value, of: uuid, formats: formats) ?? DecodedText.plain(value).map { "\"\(DisplayText.escape($0))\"" }
    return Hex.encode(value) + (meaning.map { "  " + $0 } ?? "")
  }

  package static func displayText(_ value: [UInt8], _ meaning: ValueMeaning) -> String {
    displayText(value, of: meaning.uuid, formats: meaning.description.formats)
  }

  /// Returns the value in a format. The format `auto` returns the bytes in hex, followed by their meaning if known.
  package static func result(_ value: [UInt8], of uuid: UUID?, formats: [PresentationFormat] = [], as format: ValueFormat) -> String {
    guard format == .auto, let decoded = DecodedText.text(value, of: uuid, formats: formats) else { return format.render(value) }
    return "\(value.isEmpty ? "(empty)" : Hex.encode(value))  \(decoded)"
  }

  /// Writes the JSON fields `text` and `decoded`, and the names of a value. The format `auto` decodes by the characteristic's type.
  package static func write(_ json: inout RecordWriter, _ value: [UInt8], _ meaning: ValueMeaning, as format: ValueFormat) {
    if format == .auto {
      DecodedRecord.writeWithText(&json, value, of: meaning.uuid, formats: meaning.description.formats) { meaning.write(&$0) }
    } else {
      json.string("text", DecodedText.plain(value))
      meaning.write(&json)
      DecodedRecord.write(&json, value, as: format)
    }
  }

  /// Checks that a value consists of one or more whole numbers in a numeric format. Accepts every value for other formats.
  /// - Throws: `Failure` if the length of the value does not fit the format.
  package static func check(_ value: [UInt8], _ format: ValueFormat) throws {
    guard let bytes = format.numberBytes, value.isEmpty || !value.count.isMultiple(of: bytes) else { return }
    let shown = value.isEmpty ? "" : " (\(Hex.encode(value)))"
    throw Failure(
      .expectation,
      "The value has \(Quantity.bytes(value.count))\(shown), which is not a multiple of \(bytes) (\(format.name)). Use --as hex.")
  }
}

/// The type of a value, and what descriptors and names.json say about it.
package struct ValueMeaning {
  /// The UUID that is the type of the attribute. Nil if unknown.
  package let uuid: UUID?
  package let description: ValueDescription
  /// The number of the characteristic among those with its UUID, from 1. Nil if the UUID is unique, or the table unknown.
  package let index: Int?
  /// The name that the user gave the UUID in names.json. Nil without a name.
  let ownName: String?

  package init(uuid: UUID?, description: ValueDescription = ValueDescription(), index: Int? = nil) {
    (self.uuid, self.description, self.index) = (uuid, description, index)
    ownName = uuid.flatMap { OwnNames.current?.uuids[$0] }
  }

  /// The index and the device's own name of the attribute where other attributes have the same UUID: `[1] "outside"`. Else empty.
  package var distinction: String {
    index.map { "[\($0)]" + (description.userDescription.map { " " + DisplayText.quote($0) } ?? "") } ?? ""
  }

  /// Returns the attribute that has the value, for people: its UUID and `distinction`. Without a UUID, returns the handle.
  package func attribute(at handle: AttributeHandle) -> String { (uuid?.description ?? handle.description) + distinction }

  /// Writes the name from names.json and the device's own name of the attribute to a JSON record.
  func write(_ json: inout RecordWriter) {
    if let ownName { json.string("uuid_name", ownName) }
    if let name = description.userDescription { json.string("user_description", name) }
  }
}
