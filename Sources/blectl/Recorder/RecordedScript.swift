import EventLoop
import Operations
import Text

/// Writes commands and what came of them in the words of a script.
@LoopActor
struct RecordedScript {
  private(set) var text = ""
  /// Attributes whose values are not expected again.
  private let volatile: Set<String>

  init(volatile: Set<String>) { self.volatile = volatile }

  mutating func line(_ line: String) { text += line + "\n" }

  mutating func add(_ command: RecordedCommand) {
    switch command.kind {
    case .comment(let why): return line("  # \(why): \(Self.typed(command.words))")
    case .read(let attributes, let options): addReads(command, attributes, options)
    case .command, .connection: addCommand(command)
    }
    for value in command.notifications { expect(value, command) }
    if command.omitted > 0 { line("  # \(command.omitted) more value(s) came") }
  }

  private mutating func addCommand(_ command: RecordedCommand) {
    var words = command.words
    if command.isEndless, let duration = command.duration {
      words += ["--duration", "\(max(1, Int(duration.inSeconds.rounded(.up))))"]
    } else if isInterrupted(command) {
      return line("  # interrupted: \(Self.typed(words))")
    }
    line("  \(Self.typed(words))")
    if !isInterrupted(command) { fails(command.failure) }
    for text in command.shown { line("  # \(text)") }
  }

  /// Each by itself: what is expected is about the last result.
  private mutating func addReads(_ command: RecordedCommand, _ attributes: [String], _ options: [String]) {
    for value in command.reads {
      line("  \(Self.typed(["read", value.attribute] + options))")
      let octets = Hex.encode(value.octets)
      let expected = value.octets.isEmpty ? "expect length == 0" : "expect == \(octets)"
      line("  \(volatile.contains(value.attribute) ? "# it was different at times: " : "")\(expected)")
    }
    guard let failure = command.failure else { return }
    let rest = Array(attributes.dropFirst(command.reads.count).prefix(1))
    if rest.isEmpty || isInterrupted(command) { return line("  # \(DisplayText.escape(failure.message))") }
    line("  \(Self.typed(["read"] + rest + options))")
    fails(failure)
  }

  private mutating func expect(_ value: RecordedCommand.Value, _ command: RecordedCommand) {
    // Twice what it took, as others may be slower; never less than what a script waits anyway.
    let seconds = max(5, Int((value.after.inSeconds * 2).rounded(.up)))
    let octets = Hex.encode(value.octets)
    let predicate = value.octets.isEmpty ? "length == 0" : "== \(octets)"
    line("  expect \(ShellWords.quote(value.attribute)) \(predicate) within \(min(seconds, 86_400))s")
  }

  private mutating func fails(_ failure: Failure?) {
    guard let failure else { return }
    line("  fails \(failure.name ?? failure.kind.rawValue)")
    line("  # \(DisplayText.escape(failure.message))")
  }

  private func isInterrupted(_ command: RecordedCommand) -> Bool { command.failure?.kind == .interrupted }

  /// As it has to be typed.
  private static func typed(_ words: [String]) -> String {
    // A line of a script is one line.
    words.map { ShellWords.quote($0.replacing("\n", with: " ")) }.joined(separator: " ")
  }
}
