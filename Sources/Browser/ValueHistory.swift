import BluetoothLE
import Presentation

/// The list of a characteristic's latest values, and the part of it that is visible.
struct ValueHistory: Equatable {
  let peer: PeerAddress
  let handle: AttributeHandle
  /// The number of all values up to the first visible one. Nil to follow the latest value.
  var newest: Int?

  /// The maximum number of values that the browser keeps for each characteristic.
  static let limit = 1000

  /// Scrolls by a number of rows, positive for older values.
  mutating func scroll(by step: Int, of values: Ring<ReceivedValue>, rows: Int) {
    let first = values.total - values.count + min(rows, values.count)
    // The first visible values may be gone.
    let end = max(first, max(first, newest ?? values.total) - step)
    newest = end >= values.total ? nil : end
  }

  /// Returns the visible values, the latest first.
  func visible(_ values: Ring<ReceivedValue>, rows: Int) -> [ReceivedValue] {
    let hidden = min(values.total - (newest ?? values.total), max(0, values.count - rows))
    return values.suffix(hidden + rows).dropLast(hidden).reversed()
  }

  /// Returns all values as CSV, with the columns of `notify --csv`.
  func table(_ values: Ring<ReceivedValue>, _ facts: CharacteristicFacts, of device: UntrustedText) -> String {
    let uuid = facts.characteristic.uuid
    var rows = RecordRows(.csv(["time", "name", "uuid", "handle", "value", "text", "decoded"]))
    rows.valueFields = CharacteristicDescription(uuid)?.fieldKeys ?? []
    return values.suffix(values.count).reduce(into: "") { text, value in
      let record = RecordWriter.value { json in
        json.time("time", value.time)
        json.string("name", device.raw)
        json.uuid("uuid", uuid)
        json.integer("handle", handle.number)
        json.hex("value", value.bytes)
        DecodedRecord.writeWithText(&json, value.bytes, of: uuid, formats: facts.formats)
      }
      // Only a template can name an unknown field.
      text += (try? rows.text(of: record)) ?? ""
    }
  }
}
