import BluetoothLE
import Presentation
import Terminal

/// The rounds of `read --every`. Their times count from the first round, so that they do not drift.
@LoopActor
final class ReadSchedule {
  private let period: Duration
  private let count: Int?
  private let duration: Duration?
  private var begin: LoopClock.Instant?
  /// The number of periods between the first round and the next.
  private var next: Int64 = 0
  /// The number of complete rounds.
  private(set) var rounds = 0
  private var isInRound = false
  private var isLate = false

  /// Creates a schedule. `duration` is in seconds. Nil or 0 means no limit.
  nonisolated init(_ period: Double, _ count: Int?, _ duration: Double?) {
    self.period = .limited(seconds: period)
    self.count = count
    self.duration = duration.flatMap { $0 > 0 ? .limited(seconds: $0) : nil }
  }

  /// The end of `--duration`. Nil before the first round and without a limit.
  var end: LoopClock.Instant? { duration.flatMap { begin?.advanced(by: $0) } }
  var isOver: Bool { rounds == count || end.map { $0 <= EventLoop.shared.now || time >= $0 } ?? false }

  /// The time of the next round.
  private var time: LoopClock.Instant {
    (begin ?? EventLoop.shared.now).advanced(by: .nanoseconds(next.multipliedReportingOverflow(by: period.wholeNanoseconds).partialValue))
  }

  /// Waits for the next round. Skips rounds that are late, except for one that a lost connection interrupted.
  /// - Returns: False if the schedule is over.
  func wait(_ output: Output) async throws -> Bool {
    let now = EventLoop.shared.now
    let begin = self.begin ?? now
    self.begin = begin
    let length = max(1, period.wholeNanoseconds)
    let passed = now.nanoseconds &- begin.nanoseconds
    let due = max(next, isInRound ? passed / length : (passed &+ length &- 1) / length)
    let skipped = due - next
    next = due
    if skipped > 0, isInRound || !isLate {
      isLate = isLate || !isInRound
      output.note(
        isInRound
          ? "Skipped \(skipped.counted("reading")) while the connection was lost."
          : "A reading took longer than --every. blectl skips the readings that are late.")
    }
    if isOver { return false }
    isInRound = true
    try await EventLoop.shared.sleep(until: time)
    return true
  }

  func endRound() {
    isInRound = false
    rounds += 1
    next += 1
  }

  /// Prepares a new connection after a lost one. Returns whether a round has ended on the lost connection.
  func interrupt() -> Bool {
    defer { roundsBefore = rounds }
    return rounds > roundsBefore
  }

  private var roundsBefore = 0

  /// - Throws: `Failure(.timeout)` if `--duration` ended before `--count`.
  func checkCount() throws {
    guard let count, rounds < count, let duration else { return }
    throw Failure(.timeout, "Read \(rounds) of \(count) times in \(duration.secondsText) s. To read longer, use --duration.")
  }
}
