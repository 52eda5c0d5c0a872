import EventLoop
import TestReports

/// The start, the steps and the notes of the current test.
struct TestRecord {
  let start: LoopClock.Instant
  private var steps: [StepResult] = []
  private var notes: [String]
  private var (omittedSteps, omittedNotes) = (0, 0)

  /// The maximum number of steps in the result of one test.
  static let stepLimit = 5000
  static let noteLimit = 1000

  init(start: LoopClock.Instant, notes: [String] = []) { (self.start, self.notes) = (start, notes) }

  mutating func add(_ step: StepResult) { if steps.count < Self.stepLimit { steps.append(step) } else { omittedSteps += 1 } }

  mutating func note(_ text: String) { if notes.count < Self.noteLimit { notes.append(text) } else { omittedNotes += 1 } }

  /// Copies the steps, the notes and the duration to the result of the test.
  func finish(_ result: inout TestResult, at end: LoopClock.Instant) {
    (result.steps, result.notes, result.duration) = (steps, notes, start.duration(to: end))
    if omittedNotes > 0 { result.notes.append("More notes, not kept: \(omittedNotes)") }
    if omittedSteps > 0 { result.notes.append("More steps, not kept: \(omittedSteps)") }
  }
}
