/// A command line in the grammar of `ShellWords`, taken apart character by character, for whoever wants to know what stands in the midst of it.
package struct ShellWordReading {
  private enum Place { case plain, single, double, comment }

  /// Those that are complete, but for ones without words.
  package private(set) var commands: [[String]] = []
  /// The complete words of the last command, without their quotes.
  package private(set) var words: [String] = []
  /// The one that may go on.
  package private(set) var word = ""
  /// Octets that it takes in the line, with its quotes; 0: no word has begun.
  package private(set) var length = 0
  private var place = Place.plain
  private var isEscaped = false
  /// Also one that has nothing in it: '' is a word.
  private var isInWord = false

  package init() {}

  package mutating func take(_ character: Character) {
    if isEscaped { return takeEscaped(character) }
    switch (place, character) {
    case (.comment, let character):
      guard character.isNewline else { return }
      place = .plain
      endCommand()
    case (.single, "'"), (.double, "\""): change(to: .plain, character)
    case (.plain, "'"): change(to: .single, character)
    case (.plain, "\""): change(to: .double, character)
    case (.plain, "\\"), (.double, "\\"):
      isEscaped = true
      length += 1
    case (.plain, "#") where !isInWord: place = .comment
    case (.plain, ";"): endCommand()
    case (.plain, let blank) where blank.isNewline: endCommand()
    case (.plain, " "), (.plain, "\t"): endWord()
    default: add(character)
    }
  }

  /// What was read last is a backslash that escapes what follows.
  package var goesOn: Bool { isEscaped }

  /// What it escapes is the end of the line, which means nothing then.
  package mutating func passOverEnd() {
    isEscaped = false
    length = isInWord ? length : 0
  }

  /// - Throws: what has no end.
  /// - Returns: all commands.
  package mutating func finished() throws(ShellWordsError) -> [[String]] {
    switch place {
    case .single: throw .unterminated("'")
    case .double: throw .unterminated("\"")
    case .plain, .comment: if isEscaped { throw .endsInBackslash }
    }
    endCommand()
    return commands
  }

  private mutating func takeEscaped(_ character: Character) {
    isEscaped = false
    // The line goes on.
    if place == .plain, character.isNewline { return passOverEnd() }
    if place == .double, !"\"\\$`".contains(character) { word.append("\\") }
    add(character)
  }

  private mutating func add(_ character: Character) {
    word.append(character)
    isInWord = true
    length += character.utf8.count
  }

  private mutating func change(to place: Place, _ character: Character) {
    self.place = place
    isInWord = true
    length += character.utf8.count
  }

  private mutating func endWord() {
    if isInWord { words.append(word) }
    (word, length, isInWord) = ("", 0, false)
  }

  private mutating func endCommand() {
    endWord()
    if !words.isEmpty { commands.append(words) }
    words = []
  }
}
