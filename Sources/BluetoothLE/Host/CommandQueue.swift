// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// Decides which command to send next and which command an event answers (Vol 4 Part E §4.4). Only one command is in flight at a time.
/// Times are nanoseconds of a monotonic clock.
struct CommandQueue {
  /// The time limit for an answer, in nanoseconds. It exceeds the 1 s of Vol 4 Part E §4.5, because slow serial adapters need more.
  static let timeout: Int64 = 4_000_000_000

  private struct Entry {
    let id: Int
    let command: CommandPacket
    let answeringEvent: AnsweringEvent
    /// Whether the command ends a procedure. If true, the queue sends the command after the time limit even without a credit.
    let isCleanUp: Bool
    var deadline: Int64
  }

  private var waiting: Deque<Entry> = []
  private var inFlight: Entry?
  private var credits = 1
  private var starvedSince: Int64?
  private var lastID = 0

  /// The number of unanswered commands.
  var count: Int { waiting.count + (inFlight == nil ? 0 : 1) }

  mutating func add(_ command: CommandPacket, answeredBy event: AnsweringEvent, isCleanUp: Bool = false) -> Int {
    lastID += 1
    waiting.append(Entry(id: lastID, command: command, answeringEvent: event, isCleanUp: isCleanUp, deadline: 0))
    return lastID
  }

  /// Removes a command that the host has not sent yet. A sent command stays, so that the queue recognizes its answer.
  /// Returns whether the queue removed the command.
  mutating func withdraw(_ id: Int) -> Bool {
    let count = waiting.count
    waiting.removeAll { $0.id == id }
    if waiting.isEmpty { starvedSince = nil }
    return waiting.count < count
  }

  /// Returns the command to send at `now`, in nanoseconds. Nil if no command waits, or while an answer or a credit is missing.
  mutating func next(at now: Int64) -> CommandPacket? {
    guard inFlight == nil, !waiting.isEmpty else { return nil }
    guard credits > 0, var entry = waiting.popFirst() else {
      if starvedSince == nil { starvedSince = now }
      return nil
    }
    entry.deadline = now + Self.timeout
    credits -= 1
    starvedSince = nil
    inFlight = entry
    return entry.command
  }

  /// Processes a Command Complete event. Returns the number of the answered command. Nil if the event is late or only grants credits.
  mutating func completed(_ event: Event.CommandComplete) -> Int? {
    credits = Int(event.credits)
    return answered(event.opcode, .commandComplete, event.parameters.first.map { ControllerErrorCode(rawValue: $0) })
  }

  /// Processes a Command Status event. Returns the number of the answered command. Nil if the event is late or only grants credits.
  mutating func status(_ event: Event.CommandStatus) -> Int? {
    credits = Int(event.credits)
    return answered(event.opcode, .commandStatus, event.status)
  }

  private mutating func answered(_ opcode: Opcode, _ event: AnsweringEvent, _ status: ControllerErrorCode?) -> Int? {
    guard let entry = inFlight, entry.command.opcode == opcode, event.isAnswer(declared: entry.answeringEvent, status: status) else {
      return nil
    }
    inFlight = nil
    return entry.id
  }

  /// The time at which to call `expire`, in nanoseconds. Nil if no command waits for an answer or a credit.
  var deadline: Int64? { inFlight?.deadline ?? starvedSince.map { $0 + Self.timeout } }

  /// The number of a command that the queue gave up.
  enum Expired: Equatable {
    case unanswered(Int)
    /// The controller gave no credit for the command.
    case unsent(Int)
  }

  /// Gives up the overdue command, or the first command that waits for a credit. The queue then continues with the next command.
  /// Returns nil if the queue gives up no command at `now`, in nanoseconds.
  mutating func expire(at now: Int64) -> Expired? {
    guard let due = deadline, now >= due else { return nil }
    starvedSince = nil
    credits = 1
    if let entry = inFlight {
      inFlight = nil
      return .unanswered(entry.id)
    }
    guard let first = waiting.first, !first.isCleanUp else { return nil }
    waiting.removeFirst()
    return .unsent(first.id)
  }
}
