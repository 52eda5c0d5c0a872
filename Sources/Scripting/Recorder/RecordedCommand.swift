import CommandLine

/// A recorded command with its results, from which the recorder writes script lines.
struct RecordedCommand {
  enum Kind {
    case command
    /// The `connect` line that the recorder adds before a command of the command line.
    case connection
    case read([String], options: [String])
    /// A command that the script contains only as a comment. The associated text is the reason.
    case comment(String)
  }

  struct Value {
    let attribute: String
    let bytes: [UInt8]
    /// The time from the start of the command to the arrival of the value.
    let after: Duration
  }

  struct Reading {
    /// The attribute as the user named it, for example `battery_level`.
    let attribute: String
    let result: Result<[UInt8], Failure>
  }

  var words: [String]
  var kind = Kind.command
  /// The user descriptions (2901) among the words. A script has them in quotes.
  var userDescriptions: [String] = []
  var isEndless = false
  /// Whether the command only waits for values. In a script, the `expect` lines of these values wait instead.
  var isWait = false
  /// Whether a failure of the command is likely to repeat when the script runs.
  var failsAgain = true
  /// The results of the reads, in the order of the reads.
  var reads: [Reading] = []
  private(set) var notifications: [Value] = []
  private(set) var omitted = 0
  private(set) var shown: [String] = []
  /// The answer of the device to `call`. Nil for other commands and before the answer arrives.
  var answer: RecordedAnswer?
  var failure: Failure?
  /// The time from the start to the end of the command. Nil until the command ends.
  var duration: Duration?

  /// The maximum number of notifications that the recording of one command keeps.
  static let limit = 256
  private static let shownLimit = 20

  init(_ words: [String]) { self.words = words }

  mutating func add(_ value: Value) { if notifications.count < Self.limit { notifications.append(value) } else { omitted += 1 } }

  /// Adds output lines of a command, which the script contains as comments.
  mutating func show(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where shown.count < Self.shownLimit {
      shown.append(String(line))
    }
  }
}

/// A recorder of the results of one command while the command runs.
@LoopActor
final class CommandRecording: CommandObserver {
  var command: RecordedCommand
  private var parts: RecordedWords?
  /// Whether the command had an open connection to a device.
  private(set) var hasLink = false
  private let begin = EventLoop.shared.now
  private weak var recorder: ScriptRecorder?

  init(_ command: RecordedCommand, parts: RecordedWords?, _ recorder: ScriptRecorder) {
    (self.command, self.parts, self.recorder) = (command, parts, recorder)
  }

  private var elapsed: Duration { begin.duration(to: EventLoop.shared.now) }

  func didConnect() { hasLink = true }

  func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>) {
    command.reads.append(.init(attribute: attribute, result: result))
  }

  func willWrite(_ bytes: [UInt8]) {
    parts?.writes(bytes)
    if let parts { command.words = parts.words }
  }

  func didAnswer(_ values: JSONTree) { command.answer = RecordedAnswer(values) }

  /// Adds a notification. If this command has ended, adds the notification to the recorder's latest command.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client) {
    let recording = command.duration == nil ? self : recorder?.last ?? self
    let isOnly = uuid.map { uuid in client.table?.characteristics.count { $0.uuid == uuid } == 1 } ?? false
    recording.command.add(
      .init(attribute: isOnly ? uuid?.description ?? "" : event.handle.description, bytes: event.value, after: recording.elapsed))
  }

  func didEnd(_ error: (any Error)?) {
    guard command.duration == nil else { return }
    (command.duration, command.failure) = (elapsed, error.map { Failure($0) })
  }
}
