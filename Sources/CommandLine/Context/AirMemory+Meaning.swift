package import ATT
package import Bluetooth
import GATT
package import Operations
package import Presentation
import Values

extension AirMemory {
  /// Returns the meaning of a value, from this link or an earlier one to the same device.
  /// - Parameters:
  /// - value: The value. Knowledge from an earlier link is ignored if the value does not fit it.
  /// - uuid: Nil if only the handle is known.
  package func meaning(of value: [UInt8], at handle: AttributeHandle, _ uuid: UUID?, on connection: Connection) -> ValueMeaning {
    let client = connection.client
    if let last = lastMeaning, last.version == client.descriptionVersion, last.handle == handle, last.uuid == uuid { return last.meaning }
    let (meaning, isOfAll) = meaning(at: handle, uuid, on: connection, of: value)
    if isOfAll {
      lastMeaning = LastMeaning(version: client.descriptionVersion, handle: handle, uuid: uuid, meaning: meaning)
    }
    return meaning
  }

  /// Returns the meaning, and whether it applies to every value.
  private func meaning(
    at handle: AttributeHandle, _ uuid: UUID?, on connection: Connection, of value: [UInt8]
  ) -> (ValueMeaning, isOfAll: Bool) {
    if let table = connection.client.table {
      guard case .characteristic(let item, _) = table.attribute(at: handle), uuid == nil || item.uuid == uuid else {
        return (ValueMeaning(uuid: uuid), true)
      }
      if let read = connection.client.description(of: item) { return (ValueMeaning(uuid: item.uuid, description: read), true) }
      return Self.fitting(value, ValueMeaning(uuid: item.uuid, description: description(of: item, on: connection)), else: item.uuid)
    }
    guard let item = attributes(of: connection.peer)?.items.first(where: { $0.handle == handle }), uuid == nil || item.uuid == uuid else {
      return (ValueMeaning(uuid: uuid), true)
    }
    return Self.fitting(value, ValueMeaning(uuid: item.uuid, description: item.description), else: uuid)
  }

  private static func fitting(_ value: [UInt8], _ meaning: ValueMeaning, else uuid: UUID?) -> (ValueMeaning, isOfAll: Bool) {
    if meaning.description == ValueDescription(), meaning.uuid == uuid { return (meaning, true) }
    do {
      _ = try DecodedValue.of(value, type: meaning.uuid, formats: meaning.description.formats)
      return (meaning, false)
    } catch { return (ValueMeaning(uuid: uuid), false) }
  }

  /// Returns a characteristic's descriptor contents, read on this link or an earlier one. Empty if it no longer has such descriptors.
  func description(of item: Characteristic, on connection: Connection) -> ValueDescription {
    if let read = connection.client.description(of: item) { return read }
    guard item.descriptors.contains(where: \.uuid.describesValue) else { return ValueDescription() }
    let known = attributes(of: connection.peer)?.items.first { $0.handle == item.valueHandle && $0.uuid == item.uuid }
    return known?.description ?? ValueDescription()
  }
}
