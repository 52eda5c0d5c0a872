import CommandLine

/// A script with recorded commands and their results. Text from a device never starts a line.
struct RecordedScript {
  private(set) var text = ""
  /// The keys from `expectations(of:)` whose values changed during the recording. The script expects their values only in comments.
  private let volatile: Set<String>

  init(volatile: Set<String> = []) { self.volatile = volatile }

  /// Returns whether the text has no line break and no NUL, so that one script line can contain the text.
  static func isOneLine(_ text: String) -> Bool { !text.contains { $0.isNewline || $0 == "\0" } }

  mutating func line(_ line: String) { text += (Self.isOneLine(line) ? line : "  # " + DisplayText.escape(line)) + "\n" }

  private mutating func comment(_ text: String) { line("  # " + DisplayText.escape(SecretOptions.hidden(in: text))) }

  mutating func begin(_ device: String?, at time: String) {
    if let device {
      line("device \(ShellWords.quote(device))")
      line("")
    }
    line("test \"recorded \(time)\"")
  }

  mutating func add(_ command: RecordedCommand) {
    switch command.kind {
    case .comment(let why): return comment("\(why): \(Self.typed(command.words, command))")
    case .read(let attributes, let options): addReads(command, attributes, options)
    case .command, .connection: guard addCommand(command) else { return }
    }
    for value in command.notifications { expect(value, command) }
    if command.omitted > 0 { comment("\(command.omitted.counted("more value")) received") }
  }

  /// Adds a command. Returns false if the script contains the command only as a comment.
  private mutating func addCommand(_ command: RecordedCommand) -> Bool {
    var words = command.words
    if command.isEndless, let duration = command.duration {
      words += ["--duration", "\(max(1, Int(duration.inSeconds.rounded(.up))))"]
    } else if isInterrupted(command) {
      comment("interrupted: \(Self.typed(words, command))")
      return false
    }
    let typed = Self.typed(words, command)
    if command.isWait, command.failure == nil, !command.notifications.isEmpty {
      comment("expected below: \(typed)")
      return true
    }
    // The script may have a link to disconnect, so the failure need not repeat.
    if !command.failsAgain, let failure = command.failure {
      comment("\(words.first ?? "") failed: \(failure.message)")
      return false
    }
    let isSecret = SecretOptions.hidden(in: typed) != typed
    guard Self.isOneLine(typed), !isSecret else {
      comment("\(isSecret ? "not recorded, because it has a secret" : "a script cannot contain this line"): \(typed)")
      return false
    }
    line("  \(typed)")
    if !isInterrupted(command) { fails(command.failure) }
    for text in command.shown { comment(text) }
    for field in command.answer?.fields ?? [] { expect(field, typed) }
    if let omitted = command.answer?.omitted, omitted > 0 { comment("\(omitted.counted("more value")) in the answer") }
    return true
  }

  /// Adds one `read` line and one expectation for each attribute that the command read.
  private mutating func addReads(_ command: RecordedCommand, _ attributes: [String], _ options: [String]) {
    for reading in command.reads {
      line("  \(Self.typed(["read", reading.attribute] + options, command))")
      switch reading.result {
      case .success(let bytes): expect(bytes.isEmpty ? "length == 0" : "== \(Hex.encode(bytes))", key: reading.attribute)
      case .failure(let failure): fails(failure)
      }
    }
    let isSaid = !isInterrupted(command) && command.reads.contains { if case .failure = $0.result { true } else { false } }
    guard let failure = command.failure, !isSaid else { return }
    let rest = Array(attributes.dropFirst(command.reads.count).prefix(1))
    let typed = Self.typed(["read"] + rest + options, command)
    if rest.isEmpty || isInterrupted(command) || !Self.isOneLine(typed) { return comment(failure.message) }
    line("  \(typed)")
    fails(failure)
  }

  // MARK: Results

  private mutating func expect(_ expectation: String, key: String) {
    line("  \(volatile.contains(key) ? "# not always the same: " : "")expect \(expectation)")
  }

  private mutating func expect(_ field: RecordedAnswer.Field, _ typed: String) {
    guard let predicate = field.predicate, Self.isOneLine(field.path) else { return comment("\(field.path) = \(field.text)") }
    expect("field \(ShellWords.quote(field.path)) \(predicate)", key: "\(typed) \(field.path)")
  }

  private mutating func expect(_ value: RecordedCommand.Value, _ command: RecordedCommand) {
    // Twice the time it took, because other machines may be slower, but at least a script's default.
    let seconds = max(5, Int((value.after.inSeconds * 2).rounded(.up)))
    let bytes = Hex.encode(value.bytes)
    let predicate = value.bytes.isEmpty ? "length == 0" : "== \(bytes)"
    line("  expect \(ShellWords.quote(value.attribute)) \(predicate) within \(min(seconds, 86_400))s")
  }

  /// Returns the values that a command read or that `call` returned. The key of a value is the same when the command repeats.
  static func expectations(of command: RecordedCommand) -> [(key: String, value: String)] {
    let typed = typed(command.words, command)
    return command.reads.compactMap { reading in (try? reading.result.get()).map { (reading.attribute, Hex.encode($0)) } }
      + (command.answer?.fields ?? []).map { ("\(typed) \($0.path)", $0.text) }
  }

  // MARK: Failures

  private static let errors = Set(ScriptLoader.errors)

  /// Adds the `fails` line of a failed command. For an error name from a device file, also adds an `expect field name` line.
  private mutating func fails(_ failure: Failure?) {
    guard let failure else { return }
    let name = failure.kind == .device ? nil : failure.name.flatMap { Self.errors.contains($0) ? $0 : nil }
    line("  fails \(ShellWords.quote(name ?? failure.kind.rawValue))")
    if failure.kind == .device, let code = failure.name.flatMap({ RecordedAnswer.quote($0) }) { line("  expect field name == \(code)") }
    comment(failure.message)
  }

  /// Returns whether Ctrl-C or a closed output ended the command.
  private func isInterrupted(_ command: RecordedCommand) -> Bool { [.interrupted, .output].contains(command.failure?.kind) }

  /// Returns a command line with shell quotes around words that need them.
  private static func typed(_ words: [String], _ command: RecordedCommand) -> String {
    words.map { word in
      let quoted = ShellWords.quote(word)
      return quoted == word && command.userDescriptions.contains(word) ? "'\(word)'" : quoted
    }.joined(separator: " ")
  }
}
