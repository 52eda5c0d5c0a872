import ATT
import Bluetooth
import CommandLine
import EventLoop
import GATT
import Presentation
import Text

/// A command and its results, for a script that repeats it.
@LoopActor
final class RecordedCommand: CommandObserver {
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

  private(set) var words: [String]
  private var parts: RecordedWords?
  private(set) var kind: Kind
  /// The values read, in order.
  private(set) var reads: [Reading] = []
  private(set) var notifications: [Value] = []
  private(set) var omitted = 0
  private(set) var shown: [String] = []
  /// The answer to `call`.
  private(set) var answer: RecordedAnswer?
  private(set) var failure: Failure?
  private(set) var duration: Duration?
  let isEndless: Bool
  /// Whether the script can expect the failure of the command to repeat.
  let failsAgain: Bool
  /// Whether the command had a link.
  private(set) var hasLink = false
  private let begin = EventLoop.shared.now
  private weak var recorder: ScriptRecorder?

  /// The maximum number of notifications that a command keeps.
  static let limit = 256
  private static let shownLimit = 20

  init(_ words: [String], parts: RecordedWords?, _ kind: Kind, isEndless: Bool, failsAgain: Bool = true, _ recorder: ScriptRecorder?) {
    self.words = words
    self.parts = parts
    self.kind = kind
    self.isEndless = isEndless
    self.failsAgain = failsAgain
    self.recorder = recorder
  }

  func didConnect() { hasLink = true }

  func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>) { reads.append(Reading(attribute: attribute, result: result)) }

  func willWrite(_ bytes: [UInt8]) {
    guard var parts else { return }
    parts.writes(bytes)
    words = parts.words
  }

  func didAnswer(_ values: JSONTree) { answer = RecordedAnswer(values) }

  /// Adds a notification. After the end of this command, it belongs to the latest command.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client) {
    let command = duration == nil ? self : recorder?.last ?? self
    guard command.notifications.count < Self.limit else { return command.omitted += 1 }
    let isOnly = uuid.map { uuid in client.table?.characteristics.count { $0.uuid == uuid } == 1 } ?? false
    command.notifications.append(command.value(isOnly ? uuid?.description ?? "" : event.handle.description, event.value))
  }

  private func value(_ attribute: String, _ octets: [UInt8]) -> Value {
    Value(attribute: attribute, octets: octets, after: begin.duration(to: EventLoop.shared.now))
  }

  /// Adds the output of a command whose results a script cannot expect.
  func show(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where shown.count < Self.shownLimit {
      shown.append(DisplayText.escape(String(line)))
    }
  }

  /// Changes the kind of a command that never ran.
  func becomes(_ kind: Kind) { self.kind = kind }

  func didEnd(_ error: (any Error)?) {
    guard duration == nil else { return }
    duration = begin.duration(to: EventLoop.shared.now)
    failure = error.map { Failure($0) }
  }
}
