import ATT
import Bluetooth
import GATT
import Operations
import Text
import Values

/// The type, description and name of a value, for all commands that show it.
struct ValueMeaning {
  /// The type of the attribute; nil if unknown.
  let uuid: UUID?
  let description: ValueDescription
  /// The name of the UUID in names.json.
  let ownName: String?

  init(uuid: UUID?, description: ValueDescription = ValueDescription()) {
    self.uuid = uuid
    self.description = description
    ownName = uuid.flatMap { OwnNames.current?.uuids[$0] }
  }

  /// Writes the names of the user and of the firmware to a record.
  func write(_ json: inout RecordWriter) {
    if let ownName { json.string("uuid_name", ownName) }
    if let name = description.userDescription { json.string("user_description", name) }
  }
}
