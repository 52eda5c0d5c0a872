/// The fields of a command's records, for `--csv` and `--format`. Each command has its own in `recordFields`.
package struct RecordFields: Sendable {
  /// The columns of `--csv`, in their order. `decoded` and `values` stand for the columns of decoded values.
  let columns: [String]
  /// The other fields that a template may name.
  let others: [String]

  package init(_ columns: [String], others: [String] = []) {
    self.columns = columns
    self.others = ["event"] + others
  }

  /// The fields of a record that identify a device.
  package static let device = ["address", "address_type", "name"]
  /// The fields of a record with a value. Records of values that arrive unasked also have `time`.
  package static let value = RecordFields(
    ["time", "name", "uuid", "handle", "value", "text", "decoded"],
    others: ["address", "address_type", "uuid_name", "user_description", "decoded_error", "decoded_name", "peer"])

  var all: [String] { columns + others }
}
