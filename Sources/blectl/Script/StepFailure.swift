import Operations

/// Why a line of a script ends its test.
struct StepFailure: Error {
  var failure: Failure
  let line: ScriptLine
  /// Not the device but what is around it.
  var isAround = false
  var expected: String?
  var actual: String?
  var took: Duration?
  /// Values that came, and were not it.
  var others: [String] = []

  init(_ failure: Failure, _ line: ScriptLine, isAround: Bool = false) {
    self.failure = failure
    self.line = line
    self.isAround = isAround || failure.kind == .adapter
  }
}

/// The test says that it cannot be run here.
struct SkippedTest: Error {
  let reason: String
}
