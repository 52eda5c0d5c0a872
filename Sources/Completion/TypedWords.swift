import Text

/// The words before the cursor, in the grammar of the session's lines. The last word may be incomplete.
struct TypedWords: Equatable {
  /// The complete words of the last command of the line, without quotes.
  let words: [String]
  /// The word at the cursor without quotes. Empty after a space.
  let last: String
  /// The length of the last word in the line, including its quotes, in bytes.
  let lastLength: Int
  /// Whether the line is a command for the system's shell.
  let isShell: Bool

  init(_ line: String) {
    var reading = ShellWordReading()
    for character in line { reading.take(character) }
    (words, last, lastLength) = (reading.words, reading.word, reading.length)
    isShell = line.first { !$0.isWhitespace } == "!"
  }

  /// Quotes a word for the line.
  /// - Parameter isWhole: Whether the word is complete. Otherwise, its quote stays open.
  static func quoted(_ word: String, isWhole: Bool = true) -> String {
    let whole = ShellWords.quote(word)
    if isWhole { return whole }
    return word.isEmpty || whole == word ? word : String(whole.dropLast())
  }
}
