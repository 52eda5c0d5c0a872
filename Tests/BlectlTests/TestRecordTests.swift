import Scripts
import TestSupport

@testable import Presentation
@testable import Scripting

/// Tests what a test keeps of its steps and its failure.
@Suite(.timeLimit(.minutes(15))) struct TestRecordTests {
  private static func instant(_ seconds: Int64) -> LoopClock.Instant { LoopClock.Instant(nanoseconds: seconds * 1_000_000_000) }

  @Test func whatIsNotKeptIsCounted() {
    var record = TestRecord(start: Self.instant(2), notes: ["earlier"])
    let step = StepResult(file: "a", line: 1, text: "read 2a19", at: .zero, duration: .zero, failed: false, values: [])
    for _ in 0..<TestRecord.stepLimit + 2 { record.add(step) }
    for number in 0..<TestRecord.noteLimit { record.note("\(number)") }
    var result = TestResult(file: "a", line: 1, name: "a")
    record.finish(&result, at: Self.instant(5))
    #expect(result.steps.count == TestRecord.stepLimit && result.duration == .seconds(3))
    #expect(result.notes.count == TestRecord.noteLimit + 2 && result.notes.first == "earlier")
    #expect(result.notes.suffix(2) == ["More notes, not kept: 1", "More steps, not kept: 2"])
  }

  @Test func theFirstPlaceStays() throws {
    let (statements, _) = try ScriptParser.parse(Array("sleep 1s\nsleep 2s".utf8), file: "a", settings: [])
    let failure = StepFailure("No value.", expected: "== 01", actual: "nothing").placed(at: statements[1].line)
    let again = failure.placed(at: statements[0].line).with(["02"], before: 3).problem
    #expect(again.line == 2 && again.source == "sleep 2s" && again.file == "a" && again.kind == "expectation")
    #expect(again.expected == "== 01" && again.actual == "nothing" && again.arrived == ["(3 earlier, not shown)", "02"])
  }

  @Test func aFailedTeardownAddsToTheProblem() {
    let (first, later) = (
      TestProblem(file: "a", line: 1, source: "", message: "One.", kind: "att"),
      TestProblem(file: "b", line: 2, source: "", message: "Two.", kind: "timeout")
    )
    let rows: [(TestResult.Outcome, TestResult.Outcome, TestResult.Outcome.Status, message: String?, further: [String]?)] = [
      (.failed(first), .error(later), .failed, "One.", ["teardown, b:2: Two."]),
      (.error(first), .failed(later), .error, "One.", ["teardown, b:2: Two."]),
      (.error(first), .passed, .error, "One.", []), (.skipped(""), .error(later), .error, "Two.", []),
      (.passed, .failed(later), .failed, "Two.", []), (.passed, .skipped(""), .passed, nil, nil),
    ]
    for (test, teardown, status, message, further) in rows {
      let both = test.joined(withTeardown: teardown)
      #expect(both.status == status && both.problem?.message == message && both.problem?.further == further, "\(test), \(teardown)")
    }
  }
}
