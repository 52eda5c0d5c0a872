// SPDX-License-Identifier: Apache-2.0
extension JSONTree {
  /// Returns the value at a path of names that dots separate. `[2]` selects the third item of a list. Returns nil if no value is there.
  package func member(at path: String) -> JSONTree? {
    var tree = self
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      guard !part.isEmpty else { return nil }
      let name = part.prefix { $0 != "[" }
      if !name.isEmpty {
        guard let value = tree[String(name)] else { return nil }
        tree = value
      }
      for index in part.dropFirst(name.count).split(separator: "[", omittingEmptySubsequences: false).dropFirst() {
        guard index.hasSuffix("]"), let number = Int(index.dropLast()), case .array(let items) = tree.kind, items.indices.contains(number)
        else { return nil }
        tree = items[number]
      }
    }
    return tree
  }

  /// Returns the value on one line. A quantity is its number and perhaps its unit. A list is its items with spaces between them.
  /// Null is an empty text.
  /// - Parameter inside: Whether to show the units of values inside this value.
  fileprivate func text(unit showsUnit: Bool, inside: Bool = true) -> String {
    switch kind {
    case .null: return ""
    case .bool(let flag): return flag ? "true" : "false"
    case .number(let digits): return digits
    case .string(let text): return DisplayText.visible(text)
    case .array(let items): return items.map { $0.text(unit: inside, inside: inside) }.joined(separator: " ")
    case .object(let members):
      if let value = self["value"] ?? self["last"] {
        // A table has no words in a column of numbers.
        if case .null = value.kind, !inside, self["unit"] != nil { return "" }
        let unit = showsUnit ? self["unit"]?.string.map { " \(DisplayText.visible($0))" } ?? "" : ""
        return (self["name"] ?? value).text(unit: inside, inside: inside) + unit
      }
      return members.map { "\(DisplayText.visible($0.key))=\($0.value.text(unit: inside, inside: inside))" }.joined(separator: "; ")
    }
  }
}

/// A field of a record that a template or a column names: a member, a path such as `rssi.mean`, or a member of `decoded` or `values`.
package struct RecordField: Sendable, Equatable {
  /// The path as the user typed it.
  package let path: String

  package init(_ path: String) { self.path = path }

  /// The first name of the path.
  package var root: String { String(path.prefix { $0 != "." && $0 != "[" }) }

  /// The members of a record that contain decoded values. The names of their members depend on the device.
  package static let open = ["decoded", "values"]

  /// Returns the text of the field in a record, without a unit. Returns nil if the record has no such field.
  /// - Parameter units: Whether values inside the field have their units.
  package func text(in record: JSONTree, units: Bool = true) -> String? {
    let found = record.member(at: path) ?? Self.open.lazy.compactMap { record[$0]?.member(at: path) }.first
    return found?.text(unit: false, inside: units)
  }
}

/// An error for a field that no record of the command has.
package struct UnknownRecordField: Error, Equatable {
  package let field: String
  /// The fields that records of the command have.
  package let known: [String]

  package init(field: String, known: [String]) { (self.field, self.known) = (field, known) }
}
