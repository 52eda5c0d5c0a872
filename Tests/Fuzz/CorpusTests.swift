import TestSupport

/// Runs the corpus and the seeds as ordinary tests. `scripts/fuzz` looks for new inputs.
@Suite(.timeLimit(.minutes(15))) struct CorpusTests {
  @Test(arguments: FuzzTarget.all) func takesItsInputs(_ target: FuzzTarget) async throws {
    #expect(!target.kept.isEmpty)
    try await onLoop { for input in target.kept + target.seeds { await target.run(input) } }
  }
}

extension FuzzTarget: CustomTestStringConvertible {
  var testDescription: String { name }
}

/// Records an issue if a promise does not hold.
func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { Issue.record("broken: \(what())") }
}
