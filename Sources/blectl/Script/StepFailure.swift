import Operations

/// Why a line of a script ends its test.
struct StepFailure: Error {
  var failure: Failure
  let line: ScriptLine
  /// Not the device but what is around it.
  var isAround = false
  /// The device, or the adapter, could not be reached: exit code 2 to 4.
  var isSetup = false
  var expected: String?
  var actual: String?
  /// Of a number of values those that came.
  var arrived: [String] = []
  var took: Duration?
  /// Values that came, and were not it.
  var others: [String] = []

  init(_ failure: Failure, _ line: ScriptLine, isAround: Bool = false) {
    self.failure = failure
    self.line = line
    self.isAround = isAround || failure.kind == .adapter
  }

  /// The link did not come about.
  static func setup(_ failure: Failure, _ line: ScriptLine) -> Self {
    var error = Self(failure, line, isAround: true)
    error.isSetup = failure.isOfSetup
    return error
  }

  /// - Parameter before: how many more came, which are not kept.
  func with(_ arrived: [String], before: Int) -> Self {
    var error = self
    error.arrived = (before > 0 ? ["(\(before) before these)"] : []) + arrived
    return error
  }
}

/// The test says that it cannot be run here.
struct SkippedTest: Error {
  let reason: String
}

/// Why the tests behind a failed setup are not run.
struct SetupFailure {
  let reason: String
  /// No device can be reached, not only that of the script.
  let isOfAdapter: Bool
}

extension Failure {
  /// Of a command that makes a link: another try has a chance, and without it no test has.
  var isOfSetup: Bool { [.notFound, .adapter, .timeout].contains(exitStatus) }
}
