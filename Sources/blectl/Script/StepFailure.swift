import Operations

/// A failed line of a script, which ends its test.
struct StepFailure: Error {
  var failure: Failure
  let line: ScriptLine
  /// Whether the setup failed, not the device.
  var isAround = false
  /// Whether the device or adapter could not be reached (exit code 2 to 4).
  var isSetup = false
  var expected: String?
  var actual: String?
  /// The values that arrived, if several were expected.
  var arrived: [String] = []
  var took: Duration?
  /// Other values that arrived.
  var others: [String] = []

  init(_ failure: Failure, _ line: ScriptLine, isAround: Bool = false) {
    self.failure = failure
    self.line = line
    self.isAround = isAround || failure.kind == .adapter
  }

  /// A failed connection attempt.
  static func setup(_ failure: Failure, _ line: ScriptLine) -> Self {
    var error = Self(failure, line, isAround: true)
    error.isSetup = failure.isOfSetup
    return error
  }

  /// - Parameter before: how many more came, which are not kept.
  func with(_ arrived: [String], before: Int) -> Self {
    var error = self
    error.arrived = (before > 0 ? ["(\(before) earlier, not shown)"] : []) + arrived
    return error
  }
}

/// Thrown by `skip`.
struct SkippedTest: Error { let reason: String }

/// The reason why the tests after a failed setup do not run.
struct SetupFailure {
  let reason: String
  /// Whether no device can be reached, because the adapter failed.
  let isOfAdapter: Bool
}

extension Failure {
  /// Whether a failed connection attempt may succeed on a retry.
  var isOfSetup: Bool { [.notFound, .adapter, .timeout].contains(exitStatus) }
}
