import BluetoothLEText
import Terminal

/// A line of text that the user edits, with a cursor.
struct LineField: Equatable {
  private(set) var characters: [Character]
  /// The number of characters before the cursor.
  private(set) var cursor: Int
  /// The maximum length in characters. The field ignores further characters.
  private static let limit = 4096

  init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  var text: String { String(characters) }

  /// Edits the text or moves the cursor for a key. Returns false if the key does neither.
  mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .character(let character):
      guard characters.count < Self.limit else { return true }
      characters.insert(character, at: cursor)
      cursor += 1
    case .backspace, .control("h"):
      guard cursor > 0 else { return true }
      cursor -= 1
      characters.remove(at: cursor)
    case .delete: if cursor < characters.count { characters.remove(at: cursor) }
    case .left, .control("b"): cursor = max(0, cursor - 1)
    case .right, .control("f"): cursor = min(characters.count, cursor + 1)
    case .home, .control("a"): cursor = 0
    case .end, .control("e"): cursor = characters.count
    case .control("u"):
      characters.removeSubrange(..<cursor)
      cursor = 0
    case .control("k"): characters.removeSubrange(cursor...)
    case .control("w"):
      var start = cursor
      while start > 0, characters[start - 1] == " " { start -= 1 }
      while start > 0, characters[start - 1] != " " { start -= 1 }
      characters.removeSubrange(start..<cursor)
      cursor = start
    default: return false
    }
    return true
  }

  /// Returns the part of the text around the cursor that fits into `width` columns.
  /// - Returns: The text, and the zero-based column of the cursor in this text.
  func visible(_ width: Int, _ renderer: LineRenderer) -> (text: String, cursor: Int) {
    let before = DisplayText.width(renderer.safe(String(characters[..<cursor])))
    let skipped = max(0, before - width + 1)
    var rest = renderer.safe(text)[...]
    var dropped = 0
    while dropped < skipped, let first = rest.popFirst() { dropped += DisplayText.width(String(first)) }
    return (String(rest), before - skipped)
  }
}

/// A prompt in the last line of the screen that asks for a text, or for the answer to a question of a pairing.
struct Prompt: Equatable {
  enum Purpose: String {
    case filter = "filter: "
    case search = "find: "
    case trace = "trace to file: "
    case export = "save as CSV: "
    case passkey = "Passkey that the device displays: "
    case comparison = "Does the device display this number? y or n: "
    case display = "Enter this passkey on the device (Esc cancels): "

    /// Whether the prompt belongs to a pairing.
    var isOfPairing: Bool { self == .passkey || self == .comparison || self == .display }
  }

  let purpose: Purpose
  var field: LineField
  /// The tree at the start of a search, to which each new letter and Escape return. Nil for other prompts.
  var origin: AttributeTree?
  /// The digits before the label, for the user to compare or to enter.
  var digits = ""

  /// Returns the line of the prompt and the zero-based column of the cursor.
  func line(width: Int, _ renderer: LineRenderer) -> (Frame.Line, cursor: Int) {
    let label = digits + purpose.rawValue
    let (text, cursor) = field.visible(width - label.count, renderer)
    return (renderer.line([Span(label, .bold), Span(text)], width: width), min(width - 1, label.count + cursor))
  }
}
