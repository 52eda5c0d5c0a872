import Text

/// What stands before the cursor, taken apart as the shell's grammar does it, and as far as it goes: the last word may have no end yet.
struct TypedWords: Equatable {
  /// The complete words of the last command of the line, without quotes.
  let words: [String]
  /// The one at the cursor, without its quotes; empty behind a blank.
  let last: String
  /// Octets that it takes in the line, with its quotes.
  let lastLength: Int
  /// The line is a command of the system's shell.
  let isShell: Bool

  init(_ line: String) {
    var reading = ShellWordReading()
    for character in line { reading.take(character) }
    (words, last, lastLength) = (reading.words, reading.word, reading.length)
    isShell = line.first { !$0.isWhitespace } == "!"
  }

  /// The word as it has to be typed.
  /// - Parameter isWhole: else more of it follows, so that a quote stays open.
  static func quoted(_ word: String, isWhole: Bool = true) -> String {
    let whole = ShellWords.quote(word)
    if isWhole { return whole }
    return word.isEmpty || whole == word ? word : String(whole.dropLast())
  }
}
