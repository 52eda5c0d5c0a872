import Terminal
import Text

/// A line of text that the user edits.
struct LineField: Equatable {
  private(set) var characters: [Character]
  /// The number of characters before the cursor.
  private(set) var cursor: Int
  /// The maximum length in characters. The field drops the rest of a longer paste.
  private static let limit = 4096

  init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  var text: String { String(characters) }
  var beforeCursor: String { String(characters[..<cursor]) }

  /// Handles an editing key. Returns false for other keys.
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

  /// Renders the part around the cursor that fits into `width` columns.
  /// - Returns: The text, and the column of the cursor in it.
  func visible(_ width: Int, _ renderer: LineRenderer) -> (text: String, cursor: Int) {
    let before = DisplayText.width(renderer.safe(beforeCursor))
    let skipped = max(0, before - width + 1)
    var rest = renderer.safe(text)[...]
    var dropped = 0
    while dropped < skipped, let first = rest.popFirst() { dropped += DisplayText.width(String(first)) }
    return (String(rest), before - skipped)
  }
}

/// A prompt for a line of text.
struct Prompt: Equatable {
  enum Purpose: String {
    case filter = "filter: "
    case search = "find: "
    case trace = "trace to file: "
  }

  let purpose: Purpose
  var field: LineField
  /// The tree when a search began. Each letter searches from its cursor, and folds the rows that an earlier letter unfolded.
  var origin: AttributeTree?

  /// Renders the prompt, and returns the column of the cursor.
  func line(width: Int, _ renderer: LineRenderer) -> (Frame.Line, cursor: Int) {
    let label = purpose.rawValue
    let (text, cursor) = field.visible(width - label.count, renderer)
    return (renderer.line([Span(label, .bold), Span(text)], width: width), min(width - 1, label.count + cursor))
  }
}
