import GATT
package import Text

/// Makes a script of statements, and refuses what cannot be right, before anything is sent.
package struct ScriptCheck {
  /// What a command needs to be run.
  package enum Need: Sendable, Equatable {
    case nothing
    /// The device that the script is about.
    case device
    /// It says itself whom it is about, also for the lines behind it.
    case namesDevice
  }

  /// A line of the shell.
  package struct Command {
    package let words: [String]
    /// Those of them that stand for what is not known before the script runs.
    package let guessed: Set<String>
    /// The script that it stands in.
    package let file: String
  }

  /// What only the program knows.
  package struct Program {
    /// - Throws: what is wrong with it, as a sentence.
    let command: (Command) throws(CommandMistake) -> Need
    /// The kinds and names of errors.
    let errors: [String]
    /// The names of reasons why a link is down.
    let reasons: [String]

    package init(command: @escaping (Command) throws(CommandMistake) -> Need, errors: [String], reasons: [String]) {
      self.command = command
      self.errors = errors
      self.reasons = reasons
    }
  }

  package struct CommandMistake: Error {
    package let sentence: String
    /// It is about this word of the command.
    package let word: String?
    /// It is about a file that is missing or cannot be read.
    package let isOfFile: Bool

    package init(_ sentence: String, at word: String? = nil, isOfFile: Bool = false) {
      self.sentence = sentence
      self.word = word
      self.isOfFile = isOfFile
    }
  }

  let program: Program
  var variables: ScriptVariables
  private var script: Script
  private var hasResult = false
  private var knowsDevice = false

  /// - Parameter mentioned: variables that it has besides.
  /// - Throws: the first mistake.
  package static func script(
    _ statements: [ScriptStatement], file: String, variables: [String: String], mentioned: Set<String> = [], _ program: Program
  ) throws(ScriptError) -> Script {
    var check = ScriptCheck(program: program, variables: ScriptVariables(variables), script: Script(file: file))
    check.script.variables = mentioned
    try check.file(statements)
    return check.script
  }

  private init(program: Program, variables: ScriptVariables, script: Script) {
    self.program = program
    self.variables = variables
    self.script = script
  }

  // MARK: The file

  private mutating func file(_ statements: [ScriptStatement]) throws(ScriptError) {
    // In the order in which they run, so that a variable is there before it is used: the file's own lines, then the tests.
    for statement in statements {
      switch statement.kind {
      case .device(let word):
        guard script.device == nil else { throw statement.line.error("the device is named twice; a script is about one") }
        script.device = try known(word, statement.line, "a device")
        script.deviceLine = statement.place.line
      case .setup(let body): script.setup += body
      case .teardown(let body): script.teardown += body
      case .test: break
      default:
        try check(statement)
        script.statements.append(statement)
      }
    }
    // Each test begins with what setup leaves.
    hasResult = false
    try check(script.setup)
    let hasResultAtFirst = hasResult
    var lines: [String: Int] = [:]
    for statement in statements {
      guard case .test(let name, let tags, let body) = statement.kind else { continue }
      let line = statement.line
      let title = try known(name, line, "a test's name")
      guard !title.isEmpty else { throw line.error(at: name, "a test has a name") }
      guard !body.isEmpty else { throw line.error("this test has no lines, so it would pass whatever the device does") }
      if let before = lines.updateValue(line.place.line, forKey: title) {
        throw line.error("there is a test \(DisplayText.quote(title)) already, in line \(before)")
      }
      var words: [String] = []
      for tag in tags { words.append(try known(tag, line, "a tag")) }
      hasResult = hasResultAtFirst
      try check(body)
      script.tests.append(Script.Test(name: title, tags: words, line: line, statements: body))
    }
  }

  private mutating func check(_ statements: [ScriptStatement]) throws(ScriptError) { for statement in statements { try check(statement) } }

  private mutating func check(_ statement: ScriptStatement) throws(ScriptError) {
    let line = statement.line
    switch statement.kind {
    case .set(let name, let value):
      script.variables.insert(name)
      variables.set(name, try text(of: value, line))
    case .command(let command):
      try check(command, line)
      hasResult = true
    case .capture(let name, let command, let extraction):
      try check(command, line)
      _ = try format(of: extraction, line)
      hasResult = true
      variables.capture(name, nil)
    case .expectResult(let extraction, let predicate):
      guard hasResult else { throw line.error("nothing has a result before this line") }
      try check(predicate, extraction, line)
    case .expectValue(let value):
      try selector(value.attribute, line)
      if let count = value.count { try number(count, line) }
      try time(value.within, line)
      if let predicate = value.predicate { try check(predicate, value.extraction, line) }
      hasResult = true
    case .expectSilence(let attribute, let within):
      try selector(attribute, line)
      try time(within, line)
    case .expectDisconnection(let reason, let within):
      if let reason, let text = try text(of: reason, line), !program.reasons.contains(text), Self.number(text) == nil {
        throw line.error(
          at: reason, "\(DisplayText.quote(text)) is no reason of a disconnection: a number (0x13), or \(Self.hint(text, program.reasons))")
      }
      try time(within, line)
    case .repetition(let repetition, let body):
      try number(repetition.count, line)
      if let every = repetition.every { try time(every, line) }
      try check(body)
    case .sleep(let word):
      if let text = try text(of: word, line), Self.pause(text) == nil { throw Self.noTime(text, word, line) }
    case .skip(let word): if let word { _ = try text(of: word, line) }
    case .note(let word): _ = try text(of: word, line)
    case .device: throw line.error("the device is named outside of blocks")
    case .include: throw line.error("the file was not read")
    case .setup, .teardown, .test:
      throw line.error("\(line.words.first?.text ?? "this") stands outside of blocks, also in a file that is included")
    }
  }

  // MARK: Commands

  /// What variables may be that are not known yet: one of them has to fit.
  private static let placeholders = ["1", "0", "ffe1", "00:00:00:00:00:00", "text"]

  /// All pairs; of more words than two, those where all are of one sort.
  private static func guesses(_ count: Int) -> [[String]] {
    switch count {
    case 0: [[]]
    case 2: placeholders.flatMap { first in placeholders.map { [first, $0] } }
    default: placeholders.map { Array(repeating: $0, count: count) }
    }
  }

  private mutating func check(_ command: ScriptCommand, _ line: ScriptLine) throws(ScriptError) {
    var mistake: ScriptError?
    var need: Need?
    let known = try texts(of: command.words, line)
    for values in Self.guesses(known.count { $0 == nil }) {
      var rest = values[...]
      var words: [String] = []
      var guessed: Set<String> = []
      for (word, text) in zip(command.words, known) {
        let guess = text == nil ? rest.popFirst() ?? "" : ""
        let said = text ?? word.replaced { variables.value($0) ?? guess }
        if text == nil { guessed.insert(said) }
        words.append(said)
      }
      do {
        need = try program.command(Command(words: words, guessed: guessed, file: line.place.file))
        break
      } catch {
        if mistake == nil {
          let place = zip(command.words, words).first { $0.1 == error.word }.map { line.place(of: $0.0) } ?? line.place
          mistake = ScriptError(place, error.sentence)
          mistake?.isOfFile = error.isOfFile
        }
      }
    }
    guard let need else { throw mistake ?? line.error("") }
    switch need {
    case .nothing: break
    case .namesDevice: knowsDevice = true
    case .device: if !knowsDevice { script.firstNeed = script.firstNeed ?? line.place }
    }
    if let failure = command.failure, let kind = failure.kind, let text = try text(of: kind, failure.line), !program.errors.contains(text),
      Self.number(text) == nil
    {
      throw failure.line.error(
        at: kind, "no error is called \(DisplayText.quote(text)), which could also be a code (0x80): \(Self.hint(text, program.errors))")
    }
  }

  private static func hint(_ text: String, _ words: [String]) -> String {
    Likeness.nearest(to: text, among: words).map { "did you mean \($0)?" } ?? words.prefix(12).joined(separator: " ")
      + (words.count > 12 ? " …" : "")
  }

  // MARK: Words

  /// - Returns: nil while a variable has no value yet.
  private mutating func text(of word: ShellWord, _ line: ScriptLine) throws(ScriptError) -> String? {
    script.variables.formUnion(word.variables)
    for name in word.variables where !variables.isKnown(name) {
      let meant = Likeness.nearest(to: name, among: variables.names).map { "; did you mean \($0)?" } ?? ""
      throw line.error(at: word, "nothing sets the variable \(name) before this line\(meant)")
    }
    return try? variables.text(of: word)
  }

  private mutating func texts(of words: [ShellWord], _ line: ScriptLine) throws(ScriptError) -> [String?] {
    var texts: [String?] = []
    for word in words { texts.append(try text(of: word, line)) }
    return texts
  }

  private mutating func known(_ word: ShellWord, _ line: ScriptLine, _ what: String) throws(ScriptError) -> String {
    guard let text = try text(of: word, line) else { throw line.error(at: word, "\(what) is known before the script runs, and no result") }
    return text
  }

  private mutating func selector(_ word: ShellWord, _ line: ScriptLine) throws(ScriptError) {
    guard let text = try text(of: word, line) else { return }
    do { _ = try Selector(text) } catch {
      throw line.error(at: word, "\(DisplayText.quote(text)) is no characteristic; what came last is looked at by `expect == …`")
    }
  }

  private mutating func number(_ word: ShellWord, _ line: ScriptLine) throws(ScriptError) {
    guard let text = try text(of: word, line) else { return }
    guard Self.count(text) != nil else {
      throw line.error(at: word, "\(DisplayText.quote(text)) is no number of times, which is 1 to \(Repetition.limit)")
    }
  }

  private mutating func time(_ word: ShellWord?, _ line: ScriptLine) throws(ScriptError) {
    guard let word, let text = try text(of: word, line), ScriptTime.parse(text) == nil else { return }
    throw Self.noTime(text, word, line)
  }

  private static func noTime(_ text: String, _ word: ShellWord, _ line: ScriptLine) -> ScriptError {
    let hint = ScriptNumber(text) == nil ? "" : "; \(text)s are seconds, \(text)ms thousandths of one"
    return line.error(at: word, "\(DisplayText.quote(text)) is no time: 500ms, 2s, 1m, at most 24h\(hint)")
  }

  // MARK: Predicates

  private mutating func format(of extraction: Extraction, _ line: ScriptLine) throws(ScriptError) -> ValueFormat? {
    if let field = extraction.field { _ = try text(of: field, line) }
    guard let word = extraction.format, let text = try text(of: word, line) else { return nil }
    do { return try ValueFormat(text) } catch { throw line.error(at: word, "\(error)") }
  }

  private mutating func check(_ predicate: Predicate, _ extraction: Extraction, _ line: ScriptLine) throws(ScriptError) {
    let format = try format(of: extraction, line)
    for word in predicate.operands { if try text(of: word, line) == nil { return } }
    // What a field is is seen when it comes.
    let sample: ScriptValue =
      if let format { .formatted([UInt8](repeating: 0, count: format.numberOctets ?? 1), format) } else if extraction.field == nil {
        .octets([0])
      } else { .field(JSONTree(kind: .number("0"), line: 0)) }
    if extraction.format != nil, format == nil { return }
    do { _ = try predicate.verdict(on: sample) { word throws(MissingVariable) in try variables.text(of: word) } } catch {
      let reason = (error as? PredicateMistake)?.reason ?? "\(error)"
      throw predicate.operands.first.map { line.error(at: $0, reason) } ?? line.error(reason)
    }
  }

  // MARK: Numbers

  package static func count(_ text: String) -> Int? { Int(text).flatMap { (1...Repetition.limit).contains($0) ? $0 : nil } }

  /// Of `sleep`: also plain seconds, as in the shell.
  package static func pause(_ text: String) -> Duration? { ScriptTime.parse(text) ?? ScriptTime.parse(text + "s") }

  /// Of a reason.
  package static func number(_ text: String) -> UInt8? {
    let digits = text.hasPrefix("0x") ? text.dropFirst(2) : ""
    return Hex.number(digits).flatMap { UInt8(exactly: $0) }
  }
}

extension Predicate {
  /// The words whose variables are replaced.
  package var operands: [ShellWord] {
    switch self {
    case .compares(_, let words), .starts(let words), .ends(let words), .contains(let words): words
    case .range(let word), .isOf(let word): [word]
    case .matches: []
    case .length(let predicate): predicate.operands
    }
  }
}
