import BluetoothLE
import Scripts

/// The start, the steps and the notes of the current test.
struct TestRecord {
  let start: LoopClock.Instant
  private var steps: [StepResult] = []
  private var notes: [String]
  private var warnings: [TestProblem] = []
  private var (omittedSteps, omittedNotes, omittedWarnings) = (0, 0, 0)

  /// The maximum number of steps in the result of one test.
  static let stepLimit = 5000
  static let noteLimit = 1000

  init(start: LoopClock.Instant, notes: [String] = []) { (self.start, self.notes) = (start, notes) }

  mutating func add(_ step: StepResult) { if steps.count < Self.stepLimit { steps.append(step) } else { omittedSteps += 1 } }

  mutating func note(_ text: String) { if notes.count < Self.noteLimit { notes.append(text) } else { omittedNotes += 1 } }

  mutating func warn(_ problem: TestProblem) {
    if warnings.count < Self.noteLimit { warnings.append(problem) } else { omittedWarnings += 1 }
  }

  /// Copies the steps, the notes, the warnings and the duration to the result of the test.
  func finish(_ result: inout TestResult, at end: LoopClock.Instant) {
    (result.steps, result.notes, result.duration) = (steps, notes, start.duration(to: end))
    result.tolerated.warnings = warnings
    if omittedWarnings > 0 { result.notes.append("More warnings, not kept: \(omittedWarnings)") }
    if omittedNotes > 0 { result.notes.append("More notes, not kept: \(omittedNotes)") }
    if omittedSteps > 0 { result.notes.append("More steps, not kept: \(omittedSteps)") }
  }
}
