/// A command line in the grammar of `ShellWords`, taken apart character by character, for whoever wants to know what stands in the midst of it.
package struct ShellWordReading {
  private enum Place { case plain, single, double, comment }

  /// After a `$` that is not quoted.
  private enum Variable { case begun, named, braced }

  private var commands: [[ShellWord]] = []
  private var complete: [ShellWord] = []
  /// Of the word that may go on: what stands before `word`.
  private var pieces: [ShellWord.Piece] = []
  private var isQuoted = false
  /// How many characters were taken, and how many of them before the word.
  private var taken = 0
  private var start = 0
  /// Characters before the quotation mark that nothing has closed yet.
  package private(set) var openedAt: Int?
  private let expands: Bool
  private var variable: Variable?
  private var variableName = ""
  private var badVariable: String?
  /// The one that may go on.
  package private(set) var word = ""
  /// Octets that it takes in the line, with its quotes; 0: no word has begun.
  package private(set) var length = 0
  private var place = Place.plain
  private var isEscaped = false
  /// Also one that has nothing in it: '' is a word.
  private var isInWord = false

  /// - Parameter expands: `$NAME` and `${NAME}` are variables, but for those in '…'.
  package init(expands: Bool = false) { self.expands = expands }

  /// The complete words of the last command, without their quotes.
  package var words: [String] { complete.map { $0.text ?? "" } }

  /// The last complete word of the command whose next word may begin now; nil when that is not so.
  package var wordBefore: ShellWord? {
    place == .plain && !isEscaped && !isInWord && variable == nil ? complete.last : nil
  }

  package mutating func take(_ character: Character) {
    defer { taken += 1 }
    // CR and LF are one character.
    if character.isNewline { return takeOne(character) }
    // A quotation mark or a blank is one also where a mark behind it, or a sign before it (U+0602), makes another character of it.
    for scalar in character.unicodeScalars { takeOne(Character(scalar)) }
  }

  private mutating func takeOne(_ character: Character) {
    if variable != nil, takeVariable(character) { return }
    if isEscaped { return takeEscaped(character) }
    if character == "$", expands, place == .plain || place == .double {
      begin()
      (variable, variableName) = (.begun, "")
      length += 1
      return
    }
    switch (place, character) {
    case (.comment, let character):
      guard character.isNewline else { return }
      place = .plain
      endCommand()
    case (.single, "'"), (.double, "\""): change(to: .plain, character, openedAt: nil)
    case (.plain, "'"): change(to: .single, character, openedAt: taken)
    case (.plain, "\""): change(to: .double, character, openedAt: taken)
    case (.plain, "\\"), (.double, "\\"):
      if !isInWord { start = taken }
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

  /// The rest of a word, with nothing in it that means anything here.
  package mutating func takeRaw(_ text: some StringProtocol) {
    begin()
    word += text
    isQuoted = true
    length += text.utf8.count
    taken += text.count
  }

  /// - Throws: what has no end.
  /// - Returns: all commands, but for those without words.
  package mutating func finished() throws(ShellWordsError) -> [[String]] {
    try finishedWords().map { command in command.map { $0.text ?? "" } }
  }

  /// As `finished`.
  package mutating func finishedWords() throws(ShellWordsError) -> [[ShellWord]] {
    if case .braced = variable { throw .unterminated("{") }
    endVariable()
    if let badVariable { throw .notAVariable(badVariable) }
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

  /// - Returns: false for a character behind the variable.
  private mutating func takeVariable(_ character: Character) -> Bool {
    switch variable {
    case .begun where character == "{": variable = .braced
    case .begun where Self.isOfName(character) && !character.isNumber:
      variable = .named
      variableName.append(character)
    case .named where Self.isOfName(character): variableName.append(character)
    case .braced where character == "}":
      let name = variableName
      if name.isEmpty || name.first?.isNumber ?? true || !name.allSatisfy(Self.isOfName) { badVariable = badVariable ?? name }
      variable = .named
      endVariable()
    case .braced: variableName.append(character)
    default:
      endVariable()
      return false
    }
    length += character.utf8.count
    return true
  }

  private static func isOfName(_ character: Character) -> Bool {
    character == "_" || character.isASCII && (character.isLetter || character.isNumber)
  }

  private mutating func endVariable() {
    switch variable {
    case nil, .braced: return
    // A mere dollar sign.
    case .begun: word.append("$")
    case .named:
      if !word.isEmpty { pieces.append(.text(word)) }
      pieces.append(.variable(variableName))
      word = ""
    }
    variable = nil
  }

  private mutating func begin() {
    if !isInWord, length == 0 { start = taken }
    isInWord = true
  }

  private mutating func add(_ character: Character) {
    begin()
    word.append(character)
    length += character.utf8.count
  }

  private mutating func change(to place: Place, _ character: Character, openedAt: Int?) {
    begin()
    self.place = place
    self.openedAt = openedAt
    isQuoted = true
    length += character.utf8.count
  }

  private mutating func endWord() {
    if isInWord {
      if !word.isEmpty || pieces.isEmpty { pieces.append(.text(word)) }
      complete.append(ShellWord(pieces, isQuoted: isQuoted, offset: start))
    }
    (word, length, isInWord, pieces, isQuoted) = ("", 0, false, [], false)
  }

  private mutating func endCommand() {
    endWord()
    if !complete.isEmpty { commands.append(complete) }
    complete = []
  }
}
