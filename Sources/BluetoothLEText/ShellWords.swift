// SPDX-License-Identifier: Apache-2.0
/// The splitting of command lines by the shell's quoting. `'…'` is literal. `"…"` has `\` before `"`, `\`, `$` and `` ` ``. Elsewhere, `\`
/// quotes any character. A `#` at the start of a word starts a comment. A `;` or a line end ends a command. Variables stay unchanged.
/// `ShellWordReading` does the work, also for scripts (`ScriptLine`).
package enum ShellWords {
  /// Returns the words of each command. Omits commands without words.
  package static func commands(in text: String) throws(ShellWordsError) -> [[String]] {
    var reading = ShellWordReading()
    for character in text { reading.take(character) }
    return try reading.finished()
  }

  /// Returns the words of one command, none for a blank line or a comment. Throws `ShellWordsError.severalCommands` for several commands.
  package static func words(of line: String) throws(ShellWordsError) -> [String] {
    let commands = try commands(in: line)
    guard commands.count < 2 else { throw .severalCommands }
    return commands.first ?? []
  }

  /// Quotes a word for the prompt of a shell, which also expands patterns.
  package static func quoteForShell(_ word: String) -> String { quote(word, plain: plain.subtracting("[]^#".unicodeScalars)) }

  /// Quotes a word for a blectl session or script.
  package static func quote(_ word: String) -> String { quote(word, plain: plain) }

  private static func quote(_ word: String, plain: Set<Unicode.Scalar>) -> String {
    // Check scalars, not characters: a combining mark after a quotation mark would hide it.
    let isPlain = word.unicodeScalars.allSatisfy { $0.value > 0x7F ? !$0.properties.isWhitespace : plain.contains($0) }
    return isPlain && !word.isEmpty && word.unicodeScalars.first != "#"
      ? word : "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }

  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^#[]".unicodeScalars)
}

package enum ShellWordsError: Error, Sendable, Equatable {
  /// An opening quotation mark or brace has no closing counterpart.
  case unterminated(Character)
  case endsInBackslash
  /// The text has several commands, but the caller allows only one.
  case severalCommands
  /// The text between `${` and `}` is not the name of a variable.
  case notAVariable(String)
  /// An unquoted word such as `&&` or `|` belongs to the shell.
  case shellOperator(String, before: [String], after: [String])
}
