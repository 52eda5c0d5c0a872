import Testing

@testable import Presentation
@testable import Scripting

/// The effect of a failed step on its test, for every kind of failure.
@Suite(.timeLimit(.minutes(15))) struct TestOutcomeTests {
  private typealias Step = TestOutcome.Step

  /// Step, and the kinds of failure for each outcome. Other kinds are failures of the device.
  private static let rows: [(step: String, Step, errors: Set<Failure.Kind>, unreachable: Set<Failure.Kind>)] = [
    ("a command", Step(), [.adapter], []),
    ("the first command", Step(isFirst: true), [], [.adapter]),
    ("the first command, with fails", Step(isFirst: true, expectsFailure: true), [.adapter], []),
    ("call", Step(usesFile: true), [.adapter, .usage, .input], []),
    ("the first call", Step(isFirst: true, usesFile: true), [.usage, .input], [.adapter]),
    (
      "connect", Step(isConnection: true, isFirst: true),
      Set(Failure.Kind.allCases).subtracting([.notFound, .ambiguous, .adapter, .timeout]), [.notFound, .ambiguous, .adapter, .timeout]
    ),
    ("connect, with fails", Step(isConnection: true, expectsFailure: true), Set(Failure.Kind.allCases), []),
  ]

  @Test(arguments: rows.indices) func everyKind(_ index: Int) {
    let row = Self.rows[index]
    for kind in Failure.Kind.allCases {
      let expected: TestOutcome = row.unreachable.contains(kind) ? .unreachable : row.errors.contains(kind) ? .error : .failed
      #expect(TestOutcome(of: Failure(kind, "Message."), in: row.1) == expected, "\(row.step): \(kind)")
    }
  }

  /// Invalid Handle means that the attribute does not exist, which is exit code 2.
  @Test func attributesThatDoNotExist() {
    #expect(TestOutcome(of: Failure(.att, "Message.", code: 0x01), in: Step(isConnection: true)) == .unreachable)
    #expect(TestOutcome(of: Failure(.att, "Message.", code: 0x01), in: Step()) == .failed)
  }
}
