import Bluetooth
import DequeModule
import HCI

/// Which command may go to the controller when, and whose answer an event is (Vol 4 Part E §4.4). One command is in flight at a time: the
/// command credits that events carry are then exact, and an answer cannot be mistaken. Times are nanoseconds of a monotonic clock.
struct CommandQueue {
  /// How long a command may take: the specification allows 1 s (§4.5), serial adapters at low rates need more.
  static let timeout: Int64 = 4_000_000_000

  private struct Entry {
    let id: Int
    let command: CommandPacket
    let answeringEvent: AnsweringEvent
    /// It undoes something, so it is sent even without a credit.
    let isCleanUp: Bool
    var deadline: Int64
  }

  private var waiting: Deque<Entry> = []
  private var inFlight: Entry?
  private var credits = 1
  private var starvedSince: Int64?
  private var lastID = 0

  /// Commands that have not been answered.
  var count: Int { waiting.count + (inFlight == nil ? 0 : 1) }

  mutating func add(_ command: CommandPacket, answeredBy event: AnsweringEvent, isCleanUp: Bool = false) -> Int {
    lastID += 1
    waiting.append(Entry(id: lastID, command: command, answeringEvent: event, isCleanUp: isCleanUp, deadline: 0))
    return lastID
  }

  /// Forgets a command that is not on its way yet. One that is stays, so that its answer is known for what it is.
  /// Returns whether it was forgotten.
  mutating func withdraw(_ id: Int) -> Bool {
    let count = waiting.count
    waiting.removeAll { $0.id == id }
    if waiting.isEmpty { starvedSince = nil }
    return waiting.count < count
  }

  /// The command to send now.
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

  /// Takes a Command Complete. Returns the command that it answers; nil when it answers none (credits only, late, or unasked for).
  mutating func completed(_ event: Event.CommandComplete) -> Int? {
    credits = Int(event.credits)
    return answered(event.opcode, .commandComplete, event.parameters.first.map { ControllerErrorCode(rawValue: $0) })
  }

  /// Takes a Command Status. Returns as `completed`.
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

  /// When `expire` is to be called.
  var deadline: Int64? { inFlight?.deadline ?? starvedSince.map { $0 + Self.timeout } }

  /// The command that was given up.
  enum Expired: Equatable {
    case unanswered(Int)
    /// The controller gave no credit for it.
    case unsent(Int)
  }

  /// Gives up the command that had its time, or the first that waits for a credit. The next command is sent all the same: the controller may
  /// have forgotten to give one credit back.
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
