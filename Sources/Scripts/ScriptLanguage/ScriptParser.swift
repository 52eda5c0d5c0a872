import BluetoothLEText

/// A parser that turns the lines of a script into statements. `ScriptCheck` checks the arguments of commands.
package struct ScriptParser {
  /// The words that start a statement other than a command.
  package static let words = [
    "device", "set", "let", "setup", "teardown", "test", "end", "expect", "fails", "repeat", "retry", "sleep", "include", "skip", "note",
  ]
  /// The maximum nesting depth of blocks.
  static let maximumDepth = 16

  private let lines: [ScriptLine]
  /// The names of the session's settings. `set` with such a name is a command, not a variable assignment.
  private let settings: [String]
  private var index = 0
  private var mistakes: [ScriptError]
  /// The number of blocks that the parser closed without reading their `end`. A later `end` may belong to one of them.
  private var unclosed = 0
  /// Whether all open blocks end at the current line, because a statement such as `test` must be outside of blocks.
  private var isLeaving = false

  private static let openers = ["setup", "teardown", "test", "repeat", "retry"]
  private static let outermost: Set = ["setup", "teardown", "test"]

  /// Parses a file. Continues after a mistake to find all mistakes.
  /// - Parameter settings: The names of the session's settings. `set` with such a name is a command.
  /// - Throws: ScriptError for a file that is too large or not text.
  package static func parse(
    _ bytes: [UInt8], file: String, settings: [String]
  ) throws(ScriptError) -> (statements: [ScriptStatement], mistakes: [ScriptError]) {
    var mistakes: [ScriptError] = []
    let lines = try ScriptLine.parse(bytes, file: file, &mistakes)
    var parser = ScriptParser(lines: lines, settings: settings, mistakes: mistakes)
    let statements = parser.block(nil, depth: 0)
    return (statements, parser.mistakes)
  }

  /// Parses statements up to the `end` of a block or up to the end of the file.
  /// - Parameter opening: The line that opens the block. Nil parses the whole file.
  private mutating func block(_ opening: ScriptLine?, depth: Int) -> [ScriptStatement] {
    var statements: [ScriptStatement] = []
    if let opening, depth > Self.maximumDepth {
      mistakes.append(opening.error("Blocks are nested deeper than \(Self.maximumDepth) levels."))
      (index, isLeaving) = (lines.count, true)
    }
    while index < lines.count {
      // Leave all blocks: nobody reads more mistakes.
      if mistakes.count > ScriptErrors.limit { (index, isLeaving) = (lines.count, true) }
      guard index < lines.count else { break }
      let line = lines[index]
      let word = line.words.first?.keyword ?? ""
      if opening != nil, Self.outermost.contains(word) {
        // The previous block probably lacks its `end`. Leave it, or each later line would be a mistake, too.
        mistakes.append(
          line.error(
            word == "test"
              ? "A test cannot be inside another block. Does the previous block lack its `end`?" : "`\(word)` must be outside of tests."))
        unclosed += depth
        isLeaving = true
        return statements
      }
      index += 1
      switch word {
      case "end":
        if !line.isUnreadable { do { try nothing(behind: 1, in: line) } catch { mistakes.append(error) } }
        if opening != nil { return statements }
        if unclosed > 0 {
          unclosed -= 1
        } else {
          let hint = Self.hint(&statements)
          mistakes.append(line.error("`end` without setup, teardown, test, repeat or retry." + hint))
        }
      case "fails" where !line.isUnreadable: do { try addFailure(line, to: &statements) } catch { mistakes.append(error) }
      default:
        statements.append(ScriptStatement(line: line, kind: kind(word, line, depth)))
        if isLeaving, opening != nil { return statements }
        isLeaving = false
      }
    }
    if let opening, !isLeaving {
      mistakes.append(opening.error("Missing `end` for `\(opening.words.first?.text ?? "this")`."))
      isLeaving = true
    }
    return statements
  }

  /// Returns a hint if a misspelled line should have opened a block. Marks that line as unreadable, so that the check ignores it.
  private static func hint(_ statements: inout [ScriptStatement]) -> String {
    for index in statements.indices.reversed() {
      switch statements[index].kind {
      case .command(let command):
        guard let word = command.words.first?.keyword, let meant = SpellingSuggestion.nearest(to: word, among: openers) else { continue }
        statements[index].kind = .unreadable([])
        return " Did you mean \(meant) instead of \(DisplayText.quote(word)) in line \(statements[index].place.line)?"
      case .test(let name, let tags, var body) where index == statements.count - 1:
        let hint = hint(&body)
        statements[index].kind = .test(name: name, tags: tags, body)
        if !hint.isEmpty { return hint }
      default: continue
      }
    }
    return ""
  }

  private mutating func kind(_ word: String, _ line: ScriptLine, _ depth: Int) -> ScriptStatement.Kind {
    let body = Self.openers.contains(word) ? block(line, depth: depth + 1) : []
    guard !line.isUnreadable else { return .unreadable(body) }
    do throws(ScriptError) {
      let kind = try kind(word, line, body)
      // Without its `end`, the content of a block is unknown.
      return isLeaving ? .unreadable(body) : kind
    } catch {
      mistakes.append(error)
      return .unreadable(body)
    }
  }

  private func kind(_ word: String, _ line: ScriptLine, _ body: [ScriptStatement]) throws(ScriptError) -> ScriptStatement.Kind {
    if word != "expect", line.words.suffix(2).map(\.keyword) == ["or", "warn"] {
      throw line.error(at: line.words[line.words.count - 2], "Only lines with `expect` can end in `or warn`.")
    }
    switch word {
    case "device":
      guard line.words.count == 2 || line.words.count == 4 && line.words[2].keyword == "level" else {
        throw line.error("`device` takes one word, and perhaps a level: device name:Lock-01 level 3")
      }
      return .device(line.words[1], level: line.words.dropFirst(3).first)
    case "set":
      guard let name = line.words.dropFirst().first?.text, !settings.contains(name) else {
        return .command(ScriptCommand(words: line.words))
      }
      guard line.words.count == 3 else { throw line.error("`set` takes a name and a value: `set CODE 1b9901`. Quote a value with spaces.") }
      return .set(name: try variable(line.words[1], line), line.words[2])
    case "let": return try capture(line)
    case "setup", "teardown":
      try nothing(behind: 1, in: line)
      return word == "setup" ? .setup(body) : .teardown(body)
    case "test":
      guard line.words.count > 1 else { throw line.error("`test` needs a name: test \"opens\"") }
      return .test(name: line.words[1], tags: Array(line.words.dropFirst(2)), body)
    case "expect":
      var parser = ExpectationParser(line)
      return try parser.parsed()
    case "repeat", "retry": return .repetition(try repetition(line, endsWithSuccess: word == "retry"), body)
    case "sleep": return .sleep(try only(line, "sleep 500ms"))
    case "include": return .include(try only(line, "include login.txt"))
    case "skip":
      guard line.words.count <= 2 else { throw line.error("`skip` takes one reason. Quote it: skip \"needs a lock\"") }
      return .skip(line.words.dropFirst().first)
    case "note": return .note(try only(line, "note \"door is open\""))
    default:
      if word.hasPrefix("!") { throw line.error("Scripts cannot run other programs. Instead, control a session from a program.") }
      return .command(ScriptCommand(words: line.words))
    }
  }

  // MARK: Parts

  private func nothing(behind count: Int, in line: ScriptLine) throws(ScriptError) {
    guard line.words.count <= count else { throw line.unexpected(line.words[count]) }
  }

  private func only(_ line: ScriptLine, _ example: String) throws(ScriptError) -> ShellWord {
    guard line.words.count == 2 else { throw line.error("`\(line.words[0].text ?? "this")` takes one word: \(example)") }
    return line.words[1]
  }

  /// Returns the name of a variable after checking it.
  private func variable(_ word: ShellWord, _ line: ScriptLine) throws(ScriptError) -> String {
    guard let name = word.keyword, ScriptVariables.isName(name) else {
      throw line.error(at: word, "Invalid variable name. \(ScriptVariables.nameRule)")
    }
    return name
  }

  private func addFailure(_ line: ScriptLine, to statements: inout [ScriptStatement]) throws(ScriptError) {
    guard line.words.count <= 2 else { throw line.error("`fails` takes one word: the kind of the error, or its name.") }
    let failure = ExpectedFailure(kind: line.words.dropFirst().first, line: line)
    switch statements.last?.kind {
    case .command(var command) where command.failure == nil:
      command.failure = failure
      statements[statements.count - 1].kind = .command(command)
    case .unreadable: break
    case .capture: throw line.error("`fails` cannot follow `let`, which needs the value of its command.")
    default: throw line.error("`fails` must follow a command.")
    }
  }

  /// Parses `let NAME = COMMAND [as FORMAT] [field NAME]`, which stores a result in a variable.
  private func capture(_ line: ScriptLine) throws(ScriptError) -> ScriptStatement.Kind {
    guard line.words.count >= 4, line.words[2].keyword == "=" else {
      throw line.error("`let` takes a name, = and a command: let LEVEL = read 2a19 as u8")
    }
    let name = try variable(line.words[1], line)
    guard !settings.contains(name) else { throw line.error(at: line.words[1], "`\(name)` is a setting. Choose another name.") }
    var words = Array(line.words.dropFirst(3))
    var extraction = Extraction()
    while words.count > 2 {
      let (word, value) = (words[words.count - 2].keyword, words[words.count - 1])
      if word == "as", extraction.format == nil {
        extraction.format = value
      } else if word == "field", extraction.field == nil {
        extraction.field = value
      } else {
        break
      }
      words.removeLast(2)
    }
    if let first = words.first?.keyword, Self.words.contains(first) {
      throw line.error(at: words[0], "`let` needs the result of a command, but `\(first)` has no result.")
    }
    return .capture(name: name, ScriptCommand(words: words), extraction)
  }

  private func repetition(_ line: ScriptLine, endsWithSuccess: Bool) throws(ScriptError) -> Repetition {
    let words = line.words
    guard words.count == 2 || words.count == 4 && words[2].keyword == "every" else {
      throw line.error(
        "`\(words[0].text ?? "this")` takes a count and optionally an interval: \(words[0].text ?? "repeat") 3 every 500ms")
    }
    return Repetition(endsWithSuccess: endsWithSuccess, count: words[1], every: words.count == 4 ? words[3] : nil)
  }
}
