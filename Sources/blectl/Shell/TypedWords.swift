import Text

/// What stands before the cursor, taken apart as the shell's grammar does it, and as far as it goes: the last word may have no end yet.
struct TypedWords: Equatable {
  /// Those that are complete, of the last command of the line, without their quotes.
  var words: [String] = []
  /// The one at the cursor, without its quotes; empty behind a blank.
  var last = ""
  /// Octets that it takes in the line, with its quotes.
  var lastLength = 0
  /// The line is a command of the system's shell.
  var isShell = false

  init(_ line: String) {
    var quote: Character?
    var isEscaped = false
    var isInside = false
    for character in line {
      let length = character.utf8.count
      if isEscaped {
        // Between double quotes only those that mean something there can be escaped.
        if quote == "\"", character != "\"", character != "\\" { last.append("\\") }
        last.append(character)
        isEscaped = false
      } else if let open = quote {
        if character == open {
          quote = nil
        } else if open == "\"", character == "\\" {
          isEscaped = true
        } else {
          last.append(character)
        }
      } else if character.isWhitespace || character == ";" {
        if isInside { words.append(last) }
        if character == ";" { words = [] }
        (last, lastLength, isInside) = ("", 0, false)
        continue
      } else if character == "\\" {
        isEscaped = true
      } else if character == "'" || character == "\"" {
        quote = character
      } else {
        if words.isEmpty, !isInside, character == "!" { isShell = true }
        last.append(character)
      }
      isInside = true
      lastLength += length
    }
  }

  /// The word as it has to be typed.
  /// - Parameter isWhole: else more of it follows, so that a quote stays open.
  static func quoted(_ word: String, isWhole: Bool = true) -> String {
    let whole = ShellWords.quote(word)
    if isWhole { return whole }
    return word.isEmpty || whole == word ? word : String(whole.dropLast())
  }
}
