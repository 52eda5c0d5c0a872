// SPDX-License-Identifier: Apache-2.0
/// A parser for command lines in the grammar of `ShellWords`. It takes one character at a time and exposes its state at any point.
package struct ShellWordReading {
  private enum Place { case plain, single, double, comment }

  /// The parser's state after a `$` outside single quotes.
  private enum Variable { case begun, named, braced }

  private var commands: [[ShellWord]] = []
  private var complete: [ShellWord] = []
  /// The finished pieces of the current word. `word` holds the text after them.
  private var pieces: [ShellWord.Piece] = []
  private var isQuoted = false
  /// The number of characters read. `start` is the number of characters before the current word.
  private var taken = 0
  private var start = 0
  /// The number of characters before the quotation mark that is still open. Nil outside quotes.
  package private(set) var openedAt: Int?
  private let expands: Bool
  private var variable: Variable?
  private var variableName = ""
  private var badVariable: String?
  /// The text of the current word after its last variable.
  package private(set) var word = ""
  /// The length in bytes that the current word has in the line, including quotes. 0 before a word starts.
  package private(set) var length = 0
  private var place = Place.plain
  private var isEscaped = false
  /// Whether a word has started. The started word may be empty, as after `''`.
  private var isInWord = false

  /// Creates a parser.
  /// - Parameter expands: Whether `$NAME` and `${NAME}` are variables outside single quotes.
  package init(expands: Bool = false) { self.expands = expands }

  /// The complete words of the current command, without their quotes.
  package var words: [String] { complete.map { $0.text ?? "" } }

  /// The last complete word of the current command, if a new word may start at this point. Nil inside a word, a quote or a comment.
  package var wordBefore: ShellWord? { place == .plain && !isEscaped && !isInWord && variable == nil ? complete.last : nil }

  package mutating func take(_ character: Character) {
    defer { taken += 1 }
    // The only end of a line with two scalars.
    if isEscaped, place == .plain, character == "\r\n" { return passOverEnd() }
    // Read scalars: a mark after a quotation mark, or a sign before it (U+0602), would change the character. U+037E would be a semicolon.
    for scalar in character.unicodeScalars { take(scalar) }
  }

  private mutating func take(_ scalar: Unicode.Scalar) {
    if variable != nil, takeVariable(scalar) { return }
    if isEscaped { return takeEscaped(scalar) }
    if scalar == "$", expands, place == .plain || place == .double {
      begin()
      (variable, variableName) = (.begun, "")
      length += 1
      return
    }
    switch (place, scalar) {
    case (.comment, _):
      guard Self.isNewline(scalar) else { return }
      place = .plain
      endCommand()
    case (.single, "'"), (.double, "\""): change(to: .plain, openedAt: nil)
    case (.plain, "'"): change(to: .single, openedAt: taken)
    case (.plain, "\""): change(to: .double, openedAt: taken)
    case (.plain, "\\"), (.double, "\\"):
      if !isInWord { start = taken }
      isEscaped = true
      length += 1
    case (.plain, "#") where !isInWord: place = .comment
    case (.plain, ";"): endCommand()
    case (.plain, _) where Self.isNewline(scalar): endCommand()
    case (.plain, " "), (.plain, "\t"): endWord()
    default: add(scalar)
    }
  }

  private static func isNewline(_ scalar: Unicode.Scalar) -> Bool { Character(scalar).isNewline }

  /// Whether the last character is a backslash that escapes the next character, for example a line end.
  package var goesOn: Bool { isEscaped }

  /// Ignores the line end after a backslash, so that the command continues on the next line.
  package mutating func passOverEnd() {
    isEscaped = false
    length = isInWord ? length : 0
  }

  /// Adds text to the current word without interpreting quotes and variables.
  package mutating func takeRaw(_ text: some StringProtocol) {
    begin()
    word += text
    isQuoted = true
    length += text.utf8.count
    taken += text.count
  }

  /// Ends the last command. Returns the words of each command that has words.
  /// - Throws: `ShellWordsError` for an unclosed quote or brace, a backslash at the end, an invalid variable, or an operator of the shell.
  package mutating func finished() throws(ShellWordsError) -> [[String]] {
    try finishedWords().map { command throws(ShellWordsError) in
      let words = command.map { $0.text ?? "" }
      for (place, word) in words.enumerated() where !command[place].isQuoted {
        guard let (sign, range) = Self.shellOperator(in: word) else { continue }
        let before = words[..<place] + [String(word[..<range.lowerBound])]
        let after = [String(word[range.upperBound...])] + words[(place + 1)...]
        throw .shellOperator(sign, before: before.filter { !$0.isEmpty }, after: after.filter { !$0.isEmpty })
      }
      return words
    }
  }

  /// Returns the operator of the shell that a word is, or that joins two commands inside the word. Nil if there is none.
  private static func shellOperator(in word: String) -> (String, Range<String.Index>)? {
    // A regular expression may have alternatives.
    if word.count > 1, word.hasPrefix("/"), word.hasSuffix("/") { return nil }
    let signs = ["&", ">", ">>", "<", "2>"].contains(word) ? [word] : ["&&", "||", "|"]
    return signs.lazy.compactMap { sign in word.firstRange(of: sign).map { (sign, $0) } }.first
  }

  /// Ends the last command. Returns the words of each command, with the pieces of each word. Throws the errors of `finished`.
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

  private mutating func takeEscaped(_ scalar: Unicode.Scalar) {
    isEscaped = false
    // The line continues.
    if place == .plain, Self.isNewline(scalar) { return passOverEnd() }
    if place == .double, !"\"\\$`".unicodeScalars.contains(scalar) { word.append("\\") }
    add(scalar)
  }

  /// Parses a scalar that may belong to a variable. Returns false if the scalar follows the variable.
  private mutating func takeVariable(_ scalar: Unicode.Scalar) -> Bool {
    switch variable {
    case .begun where scalar == "{": variable = .braced
    case .begun where Self.isOfName(scalar) && !("0"..."9" ~= scalar):
      variable = .named
      variableName.unicodeScalars.append(scalar)
    case .named where Self.isOfName(scalar): variableName.unicodeScalars.append(scalar)
    case .braced where scalar == "}":
      let name = variableName
      if name.first?.isNumber ?? true || !name.unicodeScalars.allSatisfy(Self.isOfName) { badVariable = badVariable ?? name }
      variable = .named
      endVariable()
    case .braced: variableName.unicodeScalars.append(scalar)
    default:
      endVariable()
      return false
    }
    length += UTF8.width(scalar)
    return true
  }

  private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.isASCII && (Character(scalar).isLetter || Character(scalar).isNumber)
  }

  private mutating func endVariable() {
    switch variable {
    case nil, .braced: return
    // A plain dollar sign.
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

  private mutating func add(_ scalar: Unicode.Scalar) {
    begin()
    word.unicodeScalars.append(scalar)
    length += UTF8.width(scalar)
  }

  /// Changes the state at a quotation mark. `openedAt` is the number of characters before an opening mark, nil for a closing mark.
  private mutating func change(to place: Place, openedAt: Int?) {
    begin()
    self.place = place
    self.openedAt = openedAt
    isQuoted = true
    length += 1
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
