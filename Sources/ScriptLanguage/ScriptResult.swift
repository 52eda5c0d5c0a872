package import Text

/// The record of a command or a received value, which `expect` and `let` check.
package struct ScriptResult: Sendable {
  package let record: JSONTree

  package init(_ record: JSONTree) { self.record = record }

  /// The bytes of the value. Nil if the record has none.
  package var octets: [UInt8]? { record["value"]?.string.flatMap { Hex.decode($0) } }

  /// Returns a field of the decoded value, the device's answer or the record, in this order. For a quantity, returns its number.
  /// - Parameter path: Names separated by dots, and `[2]` for the third item of a list.
  package func field(_ path: String) -> JSONTree? {
    for part in [record["decoded"], record["values"], record] {
      guard let part, let found = Self.member(path, of: part) else { continue }
      if case .object = found.kind, let value = found["value"] { return value }
      return found
    }
    // A single value has no named members.
    return path == "decoded" ? record["decoded"] : nil
  }

  private static func member(_ path: String, of tree: JSONTree) -> JSONTree? {
    var tree = tree
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

  package var fields: [String] {
    var names: [String] = []
    for part in [record["decoded"], record["values"], record] {
      if case .object(let members)? = part?.kind { names += members.map(\.key).filter { !names.contains($0) } }
    }
    return names
  }
}
