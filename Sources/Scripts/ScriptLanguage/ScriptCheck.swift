import BluetoothLE

/// A check that builds a script from statements and finds its mistakes before the script runs.
package struct ScriptCheck {
  /// The dependency of a command on the script's device.
  package enum Need: Sendable, Equatable {
    case nothing
    /// The command needs the script's device, unless an earlier line connects to a device.
    case device
    /// The command names a device. Later lines use this device.
    case namesDevice
  }

  /// A command line of a script.
  package struct Command {
    package let words: [String]
    /// The words in quotes. Only these may be user descriptions (2901) of characteristics.
    package let quoted: [String]
    /// The words whose variables have no value yet. The check replaces these variables by guesses.
    package let guessed: Set<String>
    /// The name of the file that contains the command. Paths after `--device` are relative to its directory.
    package let file: String
  }

  /// The checks and names that the caller provides, because this module does not know the commands of blectl.
  package struct Program {
    /// The function that checks a command and returns its need for a device.
    /// - Throws: CommandMistake with the reason as a sentence.
    let command: (Command) throws(CommandMistake) -> Need
    /// The kinds and names of errors that `fails` accepts.
    let errors: [String]
    /// The names of disconnection reasons that `expect disconnect` accepts.
    let reasons: [String]

    package init(command: @escaping (Command) throws(CommandMistake) -> Need, errors: [String], reasons: [String]) {
      (self.command, self.errors, self.reasons) = (command, errors, reasons)
    }
  }

  package struct CommandMistake: Error {
    package let sentence: String
    /// The word that contains the mistake. Nil if the mistake concerns the whole command.
    package let word: String?
    /// Whether the mistake is a file that is missing or that blectl cannot read.
    package let isOfFile: Bool

    package init(_ sentence: String, at word: String? = nil, isOfFile: Bool = false) {
      (self.sentence, self.word, self.isOfFile) = (sentence, word, isOfFile)
    }
  }

  let program: Program
  var variables: ScriptVariables
  private var script: Script
  /// The line that the check is currently examining.
  private var line: ScriptLine
  private var mistakes: [ScriptError] = []
  private var hasResult = false
  private var knowsDevice = false
  /// Whether a line before, or in an unreadable file, may serve a device.
  private var servesDevice = false
  /// The total length of the words with variables so far, in bytes.
  private var expanded = 0
  /// The names of variables that the check has reported as undefined.
  private var undefined: Set<String> = []

  /// Builds a script from statements and checks it.
  /// - Parameter mentioned: The names of variables in `include` lines, which `statements` does not contain.
  /// - Returns: The script and its mistakes. The script can run if it has no mistakes.
  package static func script(
    _ statements: [ScriptStatement], file: String, variables: [String: String], mentioned: Set<String> = [], _ program: Program
  ) -> (script: Script, mistakes: [ScriptError]) {
    var script = Script(file: file)
    script.variables = mentioned
    guard let line = statements.first?.line else { return (script, []) }
    var check = ScriptCheck(program: program, variables: ScriptVariables(variables), script: script, line: line)
    check.file(statements)
    return (check.script, check.mistakes)
  }

  /// Adds a mistake to the list, with the place of a word or of the current line.
  private mutating func note(at word: ShellWord? = nil, _ reason: String) {
    mistakes.append(word.map { line.error(at: $0, reason) } ?? line.error(reason))
  }

  // MARK: The file

  private mutating func file(_ statements: [ScriptStatement]) {
    // Check in the order of execution, so that variables are set before use: lines outside of tests, then the tests.
    for statement in statements where mistakes.count <= ScriptErrors.limit {
      line = statement.line
      switch statement.kind {
      case .device(let word, let level):
        guard script.deviceLine == nil else {
          note("A script can name only one device. Remove this line or line \(script.deviceLine ?? 1).")
          continue
        }
        script.device = known(word, "The device")
        script.deviceLine = statement.place.line
        if let level, let text = known(level, "The level") {
          script.level = Int(text)
          if !["2", "3", "4"].contains(text) { note(at: level, "`level` takes 2 to 4, not \(DisplayText.quote(text)).") }
        }
      case .setup(let body): script.setup += body
      case .teardown(let body): script.teardown += body
      case .test: break
      case .unreadable(let body) where !body.isEmpty: break
      default:
        check(statement)
        script.statements.append(statement)
      }
    }
    // Each test starts with the state after setup.
    hasResult = false
    check(script.setup)
    let hasResultAtFirst = hasResult
    var lines: [String: Int] = [:]
    for statement in statements where mistakes.count <= ScriptErrors.limit {
      (hasResult, line) = (hasResultAtFirst, statement.line)
      switch statement.kind {
      case .test(let name, let tags, let body): check(name, tags, body, &lines)
      case .unreadable(let body) where !body.isEmpty: check(statement)
      default: break
      }
    }
  }

  private mutating func check(_ name: ShellWord, _ tags: [ShellWord], _ body: [ScriptStatement], _ lines: inout [String: Int]) {
    let line = line
    let title = known(name, "The name of a test")
    if title?.isEmpty == true { note(at: name, "The test needs a name.") }
    if body.isEmpty { note("The test is empty, so it would always pass.") }
    if let title, let before = lines.updateValue(line.place.line, forKey: title) {
      note("Line \(before) already has a test \(DisplayText.quote(title)).")
    }
    var words: [String] = []
    for tag in tags { if let word = known(tag, "A tag") { words.append(word) } }
    check(body)
    script.tests.append(Script.Test(name: title ?? "", tags: words, line: line, statements: body))
  }

  private mutating func check(_ statements: [ScriptStatement]) {
    for statement in statements where mistakes.count <= ScriptErrors.limit { check(statement) }
  }

  private mutating func check(_ statement: ScriptStatement) {
    line = statement.line
    switch statement.kind {
    case .set(let name, let value):
      script.variables.insert(name)
      variables.set(name, text(of: value))
    case .command(let command):
      check(command)
      hasResult = true
    case .capture(let name, let command, let extraction):
      check(command)
      _ = format(of: extraction)
      hasResult = true
      variables.capture(name, nil)
    case .expectResult(let extraction, let predicate):
      if !hasResult { note("No command before this line has a result.") }
      // Report the missing result only once.
      hasResult = true
      check(predicate, extraction)
    case .expectValue(let value):
      selector(value.attribute)
      if let count = value.count { number(count) }
      time(value.within)
      if let predicate = value.predicate { check(predicate, value.extraction) }
      hasResult = true
    case .expectSilence(let attribute, let within):
      selector(attribute)
      time(within)
    case .expectAttribute(let expected): check(expected)
    case .expectSecurity: break
    case .expectFirmware(let version): _ = text(of: version)
    case .expectDisconnection(let reason, let within):
      if let reason, let text = text(of: reason), !program.reasons.contains(text), Self.number(text) == nil {
        note(at: reason, "Unknown disconnection reason \(DisplayText.quote(text)). \(Self.hint(text, program.reasons, code: "0x13"))")
      }
      time(within)
    case .expectPeripheral(let expected):
      if !servesDevice, !script.lacksFile { note("No line before this one serves a device. Start one: peripheral FILE") }
      if let attribute = expected.attribute { selector(attribute) }
      time(expected.within)
      if let predicate = expected.predicate { check(predicate, expected.extraction) }
      hasResult = true
    case .repetition(let repetition, let body):
      number(repetition.count)
      time(repetition.every)
      check(body)
    case .sleep(let word):
      if let text = text(of: word), Self.pause(text) == nil { note(at: word, ScriptTime.invalid(text)) }
    case .skip(let word): if let word { _ = text(of: word) }
    case .note(let word): _ = text(of: word)
    case .device: note("`device` must be outside of blocks.")
    case .include: note("The included file was not read.")
    case .setup, .teardown, .test:
      note("`\(line.words.first?.text ?? "this")` must be outside of blocks, even in an included file.")
    case .unreadable(let body):
      passOver()
      check(body)
    }
  }

  /// Assumes the effects of a faulty line, so that the check does not report later lines for the same mistake.
  private mutating func passOver() {
    hasResult = true
    switch line.words.first?.keyword {
    case "set", "let": if let name = line.words.dropFirst().first?.text { variables.capture(name, nil) }
    case "device": script.deviceLine = script.deviceLine ?? line.place.line
    case "include": script.lacksFile = true
    default: break
    }
  }

  // MARK: Commands

  /// The guesses for variables whose values the check does not know. A command is valid if one guess fits.
  private static let placeholders = ["1", "0", "ffe1", "00:00:00:00:00:00", "text"]

  /// Returns the combinations of guesses for `count` unknown words. Combines different guesses only for two words.
  private static func guesses(_ count: Int) -> [[String]] {
    switch count {
    case 0: [[]]
    case 2: placeholders.flatMap { first in placeholders.map { [first, $0] } }
    default: placeholders.map { Array(repeating: $0, count: count) }
    }
  }

  private mutating func check(_ command: ScriptCommand) {
    var mistake: ScriptError?
    var need: Need?
    if command.words.first?.keyword == "peripheral" || command.words.first?.text == nil { servesDevice = true }
    let known = command.words.map { text(of: $0) }
    if let word = command.words.first, self.known(word, "The command") == nil { return knowsDevice = true }
    for values in Self.guesses(known.count { $0 == nil }) {
      var rest = values[...]
      var words: [String] = []
      var guessed: Set<String> = []
      for (word, text) in zip(command.words, known) {
        let guess = text == nil ? rest.popFirst() ?? "" : ""
        let said = text ?? (try? variables.text(of: word) { _ in guess }) ?? guess
        if text == nil { guessed.insert(said) }
        words.append(said)
      }
      let quoted = zip(command.words, words).filter(\.0.isQuoted).map(\.1)
      do {
        need = try program.command(Command(words: words, quoted: quoted, guessed: guessed, file: line.place.file))
        break
      } catch {
        if mistake == nil {
          let place = zip(command.words, words).first { $0.1 == error.word }.map { line.place(of: $0.0) } ?? line.place
          mistake = ScriptError(place, error.sentence)
          mistake?.isOfFile = error.isOfFile
        }
      }
    }
    switch need {
    case nil:
      if let mistake { mistakes.append(mistake) }
      // The faulty command may be the one that connects.
      knowsDevice = true
    case .nothing: break
    case .namesDevice: knowsDevice = true
    case .device: needsDevice()
    }
    guard let failure = command.failure, let kind = failure.kind else { return }
    line = failure.line
    if let text = text(of: kind), !program.errors.contains(text), Self.number(text) == nil {
      note(at: kind, "Unknown error \(DisplayText.quote(text)). \(Self.hint(text, program.errors, code: "0x80"))")
    }
  }

  private mutating func needsDevice() { if !knowsDevice { script.firstNeed = script.firstNeed ?? line.place } }

  private static func hint(_ text: String, _ words: [String], code: String) -> String {
    SpellingSuggestion.nearest(to: text, among: words).map { "Did you mean \($0)?" }
      ?? "Use a code (\(code)) or a name: \(words.prefix(12).joined(separator: ", "))\(words.count > 12 ? ", …" : "")"
  }

  // MARK: Words

  /// Returns the text of a word. Returns nil while one of its variables has no value.
  private mutating func text(of word: ShellWord) -> String? {
    script.variables.formUnion(word.variables)
    // A file that was not read may set the variable.
    for name in word.variables where !variables.isKnown(name) && undefined.insert(name).inserted && !script.lacksFile {
      let meant = SpellingSuggestion.nearest(to: name, among: variables.names).map { " Did you mean \($0)?" } ?? ""
      note(at: word, "No line before this one sets the variable \(name).\(meant)")
    }
    do {
      let text = try variables.text(of: word)
      if !word.variables.isEmpty { expanded += text.utf8.count }
      if expanded <= LongText.limitOfScript { return text }
      throw LongText()
    } catch is LongText {
      note(at: word, LongText.reason)
    } catch {
      // MissingVariable: the lines above have reported the name.
    }
    return nil
  }

  private mutating func known(_ word: ShellWord, _ what: String) -> String? {
    let text = text(of: word)
    if text == nil, word.variables.allSatisfy(variables.isKnown) {
      note(at: word, "\(what) must be known before the script runs. It cannot be a result.")
    }
    return text
  }

  private mutating func selector(_ word: ShellWord) {
    guard let text = text(of: word), (try? word.isQuoted ? Selector(typed: text) : Selector(text)) == nil else { return }
    note(at: word, "Unknown characteristic \(DisplayText.quote(text)). To check the last result: expect == …")
  }

  private mutating func check(_ expected: ExpectedAttribute) {
    needsDevice()
    for (name, _) in expected.properties {
      guard let text = text(of: name), Properties(name: text) == nil else { continue }
      note(at: name, Self.unknownProperty(text))
    }
    guard let text = text(of: expected.attribute) else { return }
    let isQuoted = expected.attribute.isQuoted && expected.sort == .characteristic
    guard let selector = try? isQuoted ? Selector(typed: text) : Selector(text) else {
      return note(
        at: expected.attribute,
        "Unknown \(expected.sort.rawValue) \(DisplayText.quote(text)). Use a UUID, a handle, a SIG name, or a user description (2901) in quotes."
      )
    }
    if selector.descriptor != nil || expected.sort == .service && selector.service != nil {
      note(at: expected.attribute, "\(DisplayText.quote(text)) does not name a \(expected.sort.rawValue).")
    }
  }

  private mutating func number(_ word: ShellWord) {
    guard let text = text(of: word), Self.count(text) == nil else { return }
    note(at: word, Self.invalidCount(text))
  }

  private mutating func time(_ word: ShellWord?) {
    guard let word, let text = text(of: word), ScriptTime.parse(text) == nil else { return }
    note(at: word, ScriptTime.invalid(text))
  }

  // MARK: Predicates

  private mutating func format(of extraction: Extraction) -> ValueFormat? {
    if let field = extraction.field { _ = text(of: field) }
    guard let word = extraction.format, let text = text(of: word) else { return nil }
    do { return try ValueFormat(text) } catch {
      note(at: word, "\(error)")
      return nil
    }
  }

  private mutating func check(_ predicate: Predicate, _ extraction: Extraction) {
    let format = format(of: extraction)
    let texts = predicate.operands.map { text(of: $0) }
    if texts.contains(nil) || extraction.format != nil && format == nil { return }
    // The type of a field is only known when its value arrives.
    let sample: ScriptValue =
      if let format { .formatted([UInt8](repeating: 0, count: format.numberBytes ?? 1), format) } else if extraction.field == nil {
        .bytes([0])
      } else { .field(JSONTree(kind: .number("0"), line: 0)) }
    do { _ = try predicate.verdict(on: sample) { try variables.text(of: $0) } } catch {
      note(at: predicate.operands.first, (error as? PredicateMistake)?.reason ?? "\(error)")
    }
  }

  // MARK: Numbers

  package static func count(_ text: String) -> Int? { Int(text).flatMap { (1...Repetition.limit).contains($0) ? $0 : nil } }

  /// Returns the error message for an invalid count in `repeat`, `retry` or `expect N of`.
  package static func invalidCount(_ text: String) -> String { "Invalid count \(DisplayText.quote(text)). Use 1 to \(Repetition.limit)." }

  /// Returns the error message for an unknown name of a characteristic property.
  package static func unknownProperty(_ text: String) -> String {
    let names = Properties(rawValue: .max).names
    let hint = SpellingSuggestion.nearest(to: text, among: names).map { "Did you mean \($0)?" }
    return "Unknown property \(DisplayText.quote(text)). \(hint ?? "Use one of: \(names.joined(separator: " "))")"
  }

  /// Parses the time of `sleep`. A number without a unit is in seconds. Returns nil for other text.
  package static func pause(_ text: String) -> Duration? { ScriptTime.parse(text) ?? ScriptTime.parse(text + "s") }

  /// Parses the hexadecimal code of an error or a disconnection reason, such as `0x13`. Returns nil for other text.
  package static func number(_ text: String) -> UInt8? {
    let digits = text.hasPrefix("0x") ? text.dropFirst(2) : ""
    return Hex.number(digits).flatMap { UInt8(exactly: $0) }
  }
}
