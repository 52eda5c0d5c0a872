import ATT
import Bluetooth
import CommandLine
import EventLoop
import GATT
import Presentation
import Text

/// A command and its results, for a script that repeats it.
struct RecordedCommand {
  enum Kind {
    case command
    /// The connection before a single command.
    case connection
    case read([String], options: [String])
    /// A command that the script only mentions, with the reason.
    case comment(String)
  }

  struct Value {
    let attribute: String
    let octets: [UInt8]
    /// The time from the start of the command to the arrival of the value.
    let after: Duration
  }

  struct Reading {
    /// The attribute as the user named it.
    let attribute: String
    let result: Result<[UInt8], Failure>
  }

  var words: [String]
  var kind = Kind.command
  var isEndless = false
  /// Whether the script can expect the failure of the command to repeat.
  var failsAgain = true
  /// The values read, in order.
  var reads: [Reading] = []
  private(set) var notifications: [Value] = []
  private(set) var omitted = 0
  private(set) var shown: [String] = []
  /// The answer to `call`.
  var answer: RecordedAnswer?
  var failure: Failure?
  /// The time from the start to the end. Nil before the end.
  var duration: Duration?

  /// The maximum number of notifications that a command keeps.
  static let limit = 256
  private static let shownLimit = 20

  init(_ words: [String]) { self.words = words }

  mutating func add(_ value: Value) { if notifications.count < Self.limit { notifications.append(value) } else { omitted += 1 } }

  /// Adds the output of a command whose results a script cannot expect.
  mutating func show(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where shown.count < Self.shownLimit {
      shown.append(String(line))
    }
  }
}

/// Observes a command that runs, and records its results.
@LoopActor
final class CommandRecording: CommandObserver {
  var command: RecordedCommand
  private var parts: RecordedWords?
  /// Whether the command had a link.
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

  /// Adds a notification. After the end of this command, it belongs to the latest command.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client) {
    let recording = command.duration == nil ? self : recorder?.last ?? self
    let isOnly = uuid.map { uuid in client.table?.characteristics.count { $0.uuid == uuid } == 1 } ?? false
    recording.command.add(
      .init(attribute: isOnly ? uuid?.description ?? "" : event.handle.description, octets: event.value, after: recording.elapsed))
  }

  func didEnd(_ error: (any Error)?) {
    guard command.duration == nil else { return }
    (command.duration, command.failure) = (elapsed, error.map { Failure($0) })
  }
}
