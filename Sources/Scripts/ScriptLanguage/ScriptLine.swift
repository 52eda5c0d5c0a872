package import BluetoothLEText

/// A command of a script, split into words. The character `;` separates commands on one line of the file.
/// A line of the file that ends in `\` continues on the next line.
package struct ScriptLine: Sendable {
  private let file: String
  /// The lines of the file that contain the command. The offset is the number of characters of the command before the line.
  private let starts: [(offset: Int, line: Int)]
  /// The text of the line or the continued lines, without spaces at both ends.
  package let source: String
  package let words: [ShellWord]
  /// Whether the parser has already reported a mistake in the line. The words of such a line are a guess.
  var isUnreadable = false

  /// Whether the line is an expectation that ends in `or warn`.
  var endsInWarning: Bool { words.first?.keyword == "expect" && words.suffix(2).map(\.keyword) == ["or", "warn"] }

  package var place: ScriptPlace { place(of: words.first?.offset ?? 0) }

  package func place(of word: ShellWord) -> ScriptPlace { place(of: word.offset) }

  private func place(of offset: Int) -> ScriptPlace {
    let start = starts.last { $0.offset <= offset } ?? (0, 1)
    return ScriptPlace(file: file, line: start.line, column: offset - start.offset + 1)
  }

  package func error(_ reason: String) -> ScriptError { ScriptError(place, reason) }

  package func error(at word: ShellWord, _ reason: String) -> ScriptError { ScriptError(place(of: word), reason) }

  func unexpected(_ word: ShellWord) -> ScriptError { error(at: word, "Unexpected word \(DisplayText.quote(word.text ?? "…")).") }

  /// The maximum length of a script file in bytes.
  package static let maximumLength = 4 << 20

  /// Parses the lines of a file. Adds each line that is invalid, for example because of an open quote, to `mistakes`.
  /// - Throws: ScriptError for a file that is too large or not text.
  static func parse(_ bytes: [UInt8], file: String, _ mistakes: inout [ScriptError]) throws(ScriptError) -> [ScriptLine] {
    var bytes = bytes[...]
    // Some editors write a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    guard bytes.count <= maximumLength else {
      throw ScriptError(ScriptPlace(file: file, line: 1), "The script is too long: \(bytes.count) bytes (maximum \(maximumLength)).")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ScriptError(ScriptPlace(file: file, line: lineOfBadText(bytes)), "The line is not UTF-8 text.")
    }
    var lines: [ScriptLine] = []
    var part = Part(file: file)
    var number = 0
    let all = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for line in all where mistakes.count <= ScriptErrors.limit {
      number += 1
      do throws(ScriptError) {
        if let nul = line.firstIndex(where: { $0 == "\0" }) {
          let column = line.distance(from: line.startIndex, to: nul) + 1
          throw ScriptError(ScriptPlace(file: file, line: number, column: column), "Scripts cannot contain NUL characters.")
        }
        if try part.take(line, number, isLast: number == all.count) { continue }
        lines += try part.finished()
      } catch {
        mistakes.append(error)
        lines.append(unreadable(line, number, file))
      }
      part = Part(file: file)
    }
    return lines
  }

  private static func unreadable(_ line: Substring, _ number: Int, _ file: String) -> ScriptLine {
    let words = line.split { $0 == " " || $0 == "\t" }.prefix(2).map { ShellWord([.text(String($0))]) }
    return ScriptLine(file: file, starts: [(0, number)], source: String(line).trimmed, words: words, isUnreadable: true)
  }

  private static func lineOfBadText(_ bytes: ArraySlice<UInt8>) -> Int {
    var line = 1
    for part in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if String(validating: part, as: UTF8.self) == nil { return line }
      line += 1
    }
    return line
  }

  /// The state of parsing one line and the lines that continue it.
  private struct Part {
    let file: String
    private var reading = ShellWordReading(expands: true)
    private var starts: [(offset: Int, line: Int)] = []
    private var count = 0
    private var source = ""

    init(file: String) { self.file = file }

    /// Parses a line of the file. Returns whether the next line continues the command.
    mutating func take(_ line: Substring, _ number: Int, isLast: Bool) throws(ScriptError) -> Bool {
      starts.append((count, number))
      source += source.isEmpty ? line : line.drop { $0 == " " || $0 == "\t" }
      var rest = line[...]
      while let character = rest.first {
        if character == "/", reading.wordBefore?.keyword == "matches" {
          guard let end = Self.endOfPattern(rest) else {
            let place = ScriptPlace(file: file, line: number, column: line.count - rest.count + 1)
            throw ScriptError(place, "The regular expression has no second /. Write a / inside it as \\/.")
          }
          reading.takeRaw(rest[..<end])
          count += rest.distance(from: rest.startIndex, to: end)
          rest = rest[end...]
          continue
        }
        reading.take(character)
        count += 1
        rest = rest.dropFirst()
      }
      // The last backslash escapes the end of the line.
      guard reading.goesOn, !isLast else { return false }
      reading.passOverEnd()
      // Show continued lines as one line.
      source.removeLast()
      if source.last != " " { source += " " }
      return true
    }

    /// Returns the index after a regular expression and its flags. Returns nil if the text has no second `/`.
    private static func endOfPattern(_ text: Substring) -> Substring.Index? {
      var isEscaped = false
      var index = text.index(after: text.startIndex)
      while index < text.endIndex {
        let character = text[index]
        index = text.index(after: index)
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "/" {
          while index < text.endIndex, text[index].isLetter { index = text.index(after: index) }
          return index
        }
      }
      return nil
    }

    mutating func finished() throws(ScriptError) -> [ScriptLine] {
      let commands: [[ShellWord]]
      let opened = reading.openedAt
      do { commands = try reading.finishedWords() } catch {
        var line = ScriptLine(file: file, starts: starts, source: "", words: [])
        if let opened { line = ScriptLine(file: file, starts: starts, source: "", words: [ShellWord([], offset: opened)]) }
        throw line.error(Self.reason(error))
      }
      let text = source.trimmed
      return commands.map { ScriptLine(file: file, starts: starts, source: text, words: $0) }
    }

    private static func reason(_ error: ShellWordsError) -> String {
      switch error {
      case .unterminated(let mark): "The \(mark) is never closed."
      case .endsInBackslash: "The last line ends in \\, but no line follows."
      case .severalCommands, .shellOperator: "Only one command is possible here."
      case .notAVariable(let name):
        "Invalid variable ${\(DisplayText.escape(name))}. \(ScriptVariables.nameRule) To keep a dollar sign, use '…' or \\$."
      }
    }
  }
}
