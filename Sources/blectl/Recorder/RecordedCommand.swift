import ATT
import Bluetooth
import EventLoop
import GATT
import Operations
import Text

/// A command as it was done, and what came of it, for a script that does it again.
@LoopActor
final class RecordedCommand {
  /// That of the task.
  @TaskLocal static var present: RecordedCommand?

  enum Kind {
    case command
    /// Of a link that is made before a command of one line.
    case connection
    case read([String], options: [String])
    /// A script does not have it, or it is about another device.
    case comment(String)
  }

  struct Value {
    let attribute: String
    let octets: [UInt8]
    /// Since the command began.
    let after: Duration
  }

  struct Reading {
    /// As it was named.
    let attribute: String
    let result: Result<[UInt8], Failure>
  }

  private(set) var words: [String]
  private var parts: RecordedWords?
  private(set) var kind: Kind
  /// In the order in which they came.
  private(set) var reads: [Reading] = []
  private(set) var notifications: [Value] = []
  private(set) var omitted = 0
  private(set) var shown: [String] = []
  /// To `call`.
  private(set) var answer: RecordedAnswer?
  private(set) var failure: Failure?
  private(set) var duration: Duration?
  let isEndless: Bool
  /// There was a link for it.
  var hasLink = false
  private let begin = EventLoop.shared.now
  private weak var recorder: ScriptRecorder?

  /// Values of one command that are kept: a session looks back at as many.
  static let limit = 256
  private static let shownLimit = 20

  init(_ words: [String], parts: RecordedWords?, _ kind: Kind, isEndless: Bool, _ recorder: ScriptRecorder?) {
    self.words = words
    self.parts = parts
    self.kind = kind
    self.isEndless = isEndless
    self.recorder = recorder
  }

  /// - Parameter attribute: as it was named.
  func read(_ attribute: String, _ octets: [UInt8]) { reads.append(Reading(attribute: attribute, result: .success(octets))) }

  func read(_ attribute: String, _ failure: Failure) { reads.append(Reading(attribute: attribute, result: .failure(failure))) }

  /// The octets of its VALUE.
  func writes(_ octets: [UInt8]) {
    guard var parts else { return }
    parts.writes(octets)
    words = parts.words
  }

  /// - Parameter values: as JSON.
  func answered(_ values: [UInt8]) { answer = RecordedAnswer(values) }

  /// What comes after its end belongs to the command that was given last.
  func received(_ event: ValueEvent, _ uuid: UUID?, _ client: Client) {
    let command = duration == nil ? self : recorder?.last ?? self
    guard command.notifications.count < Self.limit else { return command.omitted += 1 }
    let isOnly = uuid.map { uuid in client.table?.characteristics.count { $0.uuid == uuid } == 1 } ?? false
    command.notifications.append(command.value(isOnly ? uuid?.description ?? "" : event.handle.description, event.value))
  }

  private func value(_ attribute: String, _ octets: [UInt8]) -> Value {
    Value(attribute: attribute, octets: octets, after: begin.duration(to: EventLoop.shared.now))
  }

  /// What else a user saw of it.
  func show(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where shown.count < Self.shownLimit {
      shown.append(DisplayText.escape(String(line)))
    }
  }

  /// It was never done.
  func becomes(_ kind: Kind) { self.kind = kind }

  func end(_ error: (any Error)?) {
    guard duration == nil else { return }
    duration = begin.duration(to: EventLoop.shared.now)
    failure = error.map { Failure($0) }
  }
}
