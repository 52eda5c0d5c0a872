package import BluetoothLE

/// A characteristic with the values and descriptors that blectl has read so far.
package struct CharacteristicFacts {
  package typealias Values = [AttributeHandle: Result<[UInt8], any Error>]

  package let characteristic: Characteristic
  /// The values of all attributes of the device by handle, because a descriptor may refer to descriptors of other characteristics.
  let values: Values

  private var description: ValueDescription { ValueDescription(of: characteristic) { try? values[$0]?.get() } }

  /// The name in the Characteristic User Description (2901). Nil if blectl has not read this descriptor.
  package var userDescription: String? { description.userDescription }

  package var formats: [PresentationFormat] { description.formats }

  package init(characteristic: Characteristic, values: Values) { (self.characteristic, self.values) = (characteristic, values) }

  /// Decodes the two limits in a Valid Range descriptor. Returns nil for an unknown characteristic, or one with several fields.
  func range(_ value: [UInt8]) -> (lower: DecodedField, upper: DecodedField)? {
    guard value.count >= 2, value.count.isMultiple(of: 2) else { return nil }
    let ends = [value.prefix(value.count / 2), value.suffix(value.count / 2)].compactMap {
      (try? DecodedValue.of(Array($0), type: characteristic.uuid, formats: formats)).flatMap {
        $0.fields.count == 1 ? $0.fields.first : nil
      }
    }
    return ends.count == 2 ? (ends[0], ends[1]) : nil
  }

  // MARK: JSON

  /// Writes the facts as JSON. `name` returns the name of a descriptor's UUID, or nil if it is unknown.
  func json(_ json: inout RecordWriter, name: (UUID) -> String?) {
    if let userDescription { json.string("user_description", userDescription) }
    json.objects("descriptors", characteristic.descriptors) { json, descriptor in
      json.uuid("uuid", descriptor.uuid)
      json.integer("handle", descriptor.handle.number)
      json.string("name", name(descriptor.uuid))
      write(&json, descriptor.handle) { json, value in
        guard descriptor.uuid == UUID(0x2906) else { return DecodedRecord.write(&json, value, of: descriptor.uuid) }
        guard let range = range(value) else { return }
        json.object("decoded") {
          $0.object("minimum") { DecodedRecord.write(&$0, range.lower) }
          $0.object("maximum") { DecodedRecord.write(&$0, range.upper) }
        }
      }
    }
    write(&json, characteristic.valueHandle) { DecodedRecord.write(&$0, $1, of: characteristic.uuid, formats: formats) }
  }

  private func write(_ json: inout RecordWriter, _ handle: AttributeHandle, decoded: (inout RecordWriter, [UInt8]) -> Void) {
    switch values[handle] {
    case .success(let value)?:
      json.hex("value", value)
      decoded(&json, value)
    case .failure(let error)?:
      json.string("value", nil)
      json.object("error") { Failure(error).write(&$0) }
    case nil: break
    }
  }

  // MARK: Text

  var valueText: String? {
    switch values[characteristic.valueHandle] {
    case .success(let value)?: ValueText.displayText(value, of: characteristic.uuid, formats: formats)
    case .failure(let error)?: "(\(Failure(error).word))"
    case nil: nil
    }
  }

  package func text(_ descriptor: Descriptor) -> String? {
    switch values[descriptor.handle] {
    case .success(let value)?:
      if descriptor.uuid == UUID(0x2906), let range = range(value) {
        return "\(DecodedText.text(of: range.lower, unit: false)) … \(DecodedText.text(of: range.upper, unit: true))"
      }
      // Show bytes only if no meaning is known.
      guard (try? DecodedValue.of(value, type: descriptor.uuid)) != nil else { return ValueText.displayText(value, of: descriptor.uuid) }
      return DecodedText.text(value, of: descriptor.uuid) ?? "\"\(DisplayText.escape(DisplayText.withoutTrailingNULs(value)))\""
    case .failure(let error)?: return "(\(Failure(error).word))"
    case nil: return nil
    }
  }
}
