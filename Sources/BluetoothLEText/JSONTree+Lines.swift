// SPDX-License-Identifier: Apache-2.0
extension JSONTree.Kind {
  /// Creates an object with members in this order.
  package init(_ members: [(key: String, value: Self)]) { self = .object(members.map { ($0.key, JSONTree(kind: $0.value, line: 0)) }) }

  /// Creates an array.
  package init(_ items: [Self]) { self = .array(items.map { JSONTree(kind: $0, line: 0) }) }

  /// The value as JSON on one line.
  package var line: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let digits): digits
    case .string(let text): RecordWriter.quoted(text)
    case .array(let items): "[" + items.map(\.kind.line).joined(separator: ", ") + "]"
    case .object(let members): "{" + members.map { RecordWriter.quoted($0.key) + ": " + $0.value.kind.line }.joined(separator: ", ") + "}"
    }
  }

  /// The value as lines of JSON for people: each object or array that fits in `width` columns is on one line.
  package func lines(width: Int) -> [String] { lines(width: width, after: "") }

  private func lines(width: Int, after prefix: String) -> [String] {
    let whole = prefix + line
    if whole.count <= width { return [whole] }
    switch self {
    case .array(let items): return [prefix + "["] + Self.indented(items.map { ("", $0.kind) }, width) + ["]"]
    case .object(let members):
      return [prefix + "{"] + Self.indented(members.map { (RecordWriter.quoted($0.key) + ": ", $0.value.kind) }, width) + ["}"]
    case .null, .bool, .number, .string: return [whole]
    }
  }

  private static func indented(_ items: [(prefix: String, value: Self)], _ width: Int) -> [String] {
    items.enumerated().flatMap { index, item in
      // Two columns for the indentation, one for the comma.
      var lines = item.value.lines(width: width - 3, after: item.prefix)
      if index < items.count - 1 { lines[lines.count - 1] += "," }
      return lines.map { "  " + $0 }
    }
  }
}
