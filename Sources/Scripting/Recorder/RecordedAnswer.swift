import BluetoothLEText
import Scripts

/// The fields of a device's answer to `call`, with the conditions that a recorded script checks.
struct RecordedAnswer {
  struct Field {
    let path: String
    /// The condition in a script, such as `== 5`. Nil if the field's text contains unprintable characters.
    let predicate: String?
    let text: String
  }

  private(set) var fields: [Field] = []
  private(set) var omitted = 0

  private static let limit = 64

  /// Lists the fields of an answer with their paths.
  /// - Parameter values: The answer, a JSON object.
  init(_ values: JSONTree) {
    guard case .object(let members) = values.kind else { return }
    for (name, value) in members { add(name, value) }
  }

  private mutating func add(_ path: String, _ value: JSONTree) {
    switch value.kind {
    case .object(let members): for (name, member) in members { add("\(path).\(name)", member) }
    case .array(let items) where 1...16 ~= items.count && items.allSatisfy({ $0.noun == "a number" }):
      append(path, value, "== \(ScriptValue.field(value).text)")
    case .array(let items):
      let number = JSONTree(kind: .number("\(items.count)"), line: 0)
      append(path, number, "length == \(items.count)")
      for (index, item) in items.enumerated() { add("\(path)[\(index)]", item) }
    case .number, .bool, .null: append(path, value, "== \(ScriptValue.field(value).text)")
    case .string(let text): append(path, value, Self.quote(text).map { "== \($0)" })
    }
  }

  private mutating func append(_ path: String, _ value: JSONTree, _ predicate: String?) {
    guard fields.count < Self.limit else { return omitted += 1 }
    fields.append(Field(path: path, predicate: predicate, text: ScriptValue.field(value).text))
  }

  /// Returns the text in quotes. Returns nil if the text contains unprintable characters or line breaks.
  static func quote(_ text: String) -> String? {
    guard text.isEmpty || DisplayText.isPrintable(Array(text.utf8)) else { return nil }
    return text.contains { "\"\\$`".contains($0) } ? "'" + text.replacing("'", with: "'\\''") + "'" : "\"\(text)\""
  }
}
