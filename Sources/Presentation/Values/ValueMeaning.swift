import ATT
package import Bluetooth
import GATT
import Text
package import Values

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
