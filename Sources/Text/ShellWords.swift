/// Command lines in the quoting of the shell: `'…'` as it is, `"…"` with `\` before `"`, `\`, `$` and `` ` ``, `\` before any other character. A `#` at
/// the beginning of a word begins a comment, `;` and the end of a line end a command. Nothing is expanded.
package enum ShellWords {
  /// The words of each command; those without any are left out.
  package static func commands(in text: String) throws(ShellWordsError) -> [[String]] {
    var commands: [[String]] = []
    var words: [String] = []
    var word = ""
    // Also in one that has nothing in it: '' is a word.
    var isInWord = false
    func endWord() {
      if isInWord { words.append(word) }
      word = ""
      isInWord = false
    }
    func endCommand() {
      endWord()
      if !words.isEmpty { commands.append(words) }
      words = []
    }
    var rest = Substring(text)
    while let character = rest.popFirst() {
      switch character {
      case "'":
        guard let end = rest.firstIndex(of: "'") else { throw .unterminated("'") }
        word += rest[..<end]
        isInWord = true
        rest = rest[rest.index(after: end)...]
      case "\"":
        word += try quoted(&rest)
        isInWord = true
      case "\\":
        guard let next = rest.popFirst() else { throw .endsInBackslash }
        // The line goes on.
        if next.isNewline { continue }
        word.append(next)
        isInWord = true
      case ";": endCommand()
      case "#" where !isInWord: rest = rest.drop { !$0.isNewline }
      case let blank where blank.isNewline: endCommand()
      case " ", "\t": endWord()
      default:
        word.append(character)
        isInWord = true
      }
    }
    endCommand()
    return commands
  }

  /// The words of one command; none for a blank line or a comment.
  package static func words(of line: String) throws(ShellWordsError) -> [String] {
    let commands = try commands(in: line)
    guard commands.count < 2 else { throw .severalCommands }
    return commands.first ?? []
  }

  /// To the closing quotation mark.
  private static func quoted(_ rest: inout Substring) throws(ShellWordsError) -> String {
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "\\":
        guard let next = rest.popFirst() else { throw .unterminated("\"") }
        if !"\"\\$`".contains(next) { text.append("\\") }
        text.append(next)
      default: text.append(character)
      }
    }
    throw .unterminated("\"")
  }

  /// A word as it has to be typed.
  package static func quote(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.unicodeScalars.allSatisfy { $0.value > 0x7F || plain.contains($0) }
    return isPlain && !word.hasPrefix("#") && !word.contains(where: \.isWhitespace)
      ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }

  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^#[]".unicodeScalars)
}

package enum ShellWordsError: Error, Sendable, Equatable {
  /// The quotation mark that nothing closes.
  case unterminated(Character)
  case endsInBackslash
  /// Where one command is wanted.
  case severalCommands
}
