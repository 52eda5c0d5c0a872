/// A YAML document with one flat mapping, indented for TAP. Texts are double-quoted scalars on one line (YAML 1.2 §7.3.1).
struct YAMLBlock {
  /// The text so far, which starts with the document marker.
  private var text = "  " + String(repeating: "-", count: 3) + "\n"

  var finished: String { text + "  ...\n" }

  mutating func string(_ key: String, _ value: String) { text += "  \(key): \(Self.quoted(value))\n" }

  /// Adds a number.
  /// - Parameter value: The value in YAML syntax.
  mutating func number(_ key: String, _ value: String) { text += "  \(key): \(value)\n" }

  /// Adds a list, unless it is empty.
  mutating func strings(_ key: String, _ values: [String]) {
    guard !values.isEmpty else { return }
    text += "  \(key):\n"
    for value in values { text += "    - \(Self.item(value))\n" }
  }

  /// Quotes a list item. Perl's TAP::Parser treats a colon after the first word as the end of a key, even inside quotes.
  private static func item(_ value: String) -> String {
    let quoted = quoted(value)
    let blank = quoted.firstIndex(of: " ") ?? quoted.endIndex
    let second = quoted[blank...].firstIndex { $0 != " " } ?? quoted.endIndex
    let behind = second < quoted.endIndex && quoted[second] == ":" ? quoted.index(after: second) : blank
    return String(quoted[..<behind].replacing(":", with: "\\x3a") + quoted[behind...])
  }

  private static func quoted(_ value: String) -> String {
    var quoted = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: quoted += escape(scalar.value)
        default: quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  private static func escape(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    let (letter, count) = value < 0x100 ? ("x", 2) : value < 0x10000 ? ("u", 4) : ("U", 8)
    return "\\" + letter + String(repeating: "0", count: count - digits.utf8.count) + digits
  }
}
