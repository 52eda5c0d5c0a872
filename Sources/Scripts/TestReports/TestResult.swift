package import BluetoothLE

/// The result of one test, with all details that the reports show.
package struct TestResult: Sendable {
  package enum Outcome: Sendable {
    case passed
    /// The device did not behave as the script expects.
    case failed(TestProblem)
    /// The setup or the script is at fault, for example because the adapter or the device is missing.
    case error(TestProblem)
    case skipped(String)
    /// The test did not start, because the setup had failed before. The text is the reason.
    case notRun(String)

    /// The outcome without its details. The raw values appear in JSON records.
    package enum Status: String, Sendable, CaseIterable { case passed, failed, error, skipped, notRun = "not_run" }

    package var status: Status {
      switch self {
      case .passed: .passed
      case .failed: .failed
      case .error: .error
      case .skipped: .skipped
      case .notRun: .notRun
      }
    }

    package var problem: TestProblem? {
      switch self {
      case .failed(let problem), .error(let problem): problem
      case .passed, .skipped, .notRun: nil
      }
    }

    /// The reason why the test was not completed. Nil if the test passed, failed or ended with an error.
    var reason: String? {
      switch self {
      case .skipped(let why), .notRun(let why): why
      case .passed, .failed, .error: nil
      }
    }

    /// Returns the combined outcome of a test and its teardown. Adds a failure of the teardown to the test's problem.
    package func joined(withTeardown teardown: Self) -> Self {
      guard let later = teardown.problem else { return self }
      guard var problem else { return teardown }
      problem.further.append("teardown, \(later.file):\(later.line): \(later.message)")
      return status == .failed ? .failed(problem) : .error(problem)
    }
  }

  /// The name of the script file as the user gave it.
  package var file: String
  /// The line of the file where the test starts, from 1.
  package var line: Int
  /// The name of the test. The result of lines outside of tests has the name of the file.
  package var name: String
  package var tags: [String]
  /// The address and name of the device, such as `D1:00:00:00:00:01 GateLock`. Nil if the test needed no device.
  package var peer: String?
  package var variant = TestVariant()
  package var outcome: Outcome
  /// The start of the test on the event loop's clock, which may be simulated, in nanoseconds since 1970-01-01T00:00:00Z.
  package var start: Int64
  /// The start of the test on the machine's real clock, in nanoseconds since 1970-01-01T00:00:00Z.
  package var date: Int64
  package var duration: Duration
  package var steps: [StepResult] = []
  /// The notes that the script and blectl added to the test.
  package var notes: [String] = []
  package var tolerated = ToleratedProblems()
  /// The latest packets of the test, in the order of their times.
  package var packets: [TestPacket] = []
  /// The number of packets before those in `packets`, which the result omits.
  package var omittedPackets = 0

  package init(
    file: String, line: Int, name: String, tags: [String] = [], peer: String? = nil, repetition: Int? = nil, outcome: Outcome = .passed,
    start: Int64 = 0, date: Int64? = nil, duration: Duration = .zero
  ) {
    self.file = file
    self.line = line
    self.name = name
    self.tags = tags
    self.peer = peer
    variant.repetition = repetition
    self.outcome = outcome
    self.start = start
    self.date = date ?? start
    self.duration = duration
  }

  /// The number of times that the test ran.
  var attempts: Int { tolerated.earlier.count + 1 }
  /// Whether the test failed at first, and then passed.
  package var isFlaky: Bool { outcome.status == .passed && attempts > 1 }

  /// The reason why the test did not pass. Nil if the test passed, was skipped or did not start.
  package var problem: TestProblem? { outcome.problem }
  var status: String { outcome.status.rawValue }
}

/// The device and the repetition that distinguish several results of the same test.
package struct TestVariant: Sendable, Hashable {
  /// The device as `--peer` names it. Nil unless the run names several devices.
  package var device: String?
  /// The number of the repetition, from 1. Nil if the run does not repeat its tests.
  package var repetition: Int?
}

/// The problems that did not decide the outcome of a test.
package struct ToleratedProblems: Sendable {
  /// The failures of lines that end in `or warn`.
  package var warnings: [TestProblem] = []
  /// The problems of earlier attempts. Empty unless the test failed and ran again.
  package var earlier: [TestProblem] = []
}

/// The failure of a test: the failed line, the message and the values and packets before the failure.
package struct TestProblem: Sendable {
  /// The name of the file that contains the failed line, which may be an included file.
  package var file: String
  package var line: Int
  /// The source text of the failed line.
  package var source: String
  /// The message, which says what failed, why, and what to do.
  package var message: String
  /// The kind of the problem, such as `expectation`, `att` or `link_lost`.
  package var kind: String
  /// The name of the error in snake case, such as `write_not_permitted`. Nil if the error has no name.
  package var name: String?
  package var expected: String?
  /// The actual value or state, with values in hex and decoded. Nil if the problem has no `expected`.
  package var actual: String?
  /// The latest matching values that arrived before the failure. Empty unless the line expected several values.
  package var arrived: [String] = []
  package var took: Duration?
  /// The values that arrived since the last command and that no line expected, in the order of arrival.
  package var others: [String] = []
  /// The latest packets before the failure, in the order of their times.
  package var packets: [TestPacket] = []
  /// The messages of further failures, for example in the teardown.
  package var further: [String] = []

  package init(file: String, line: Int, source: String, message: String, kind: String, name: String? = nil) {
    self.file = file
    self.line = line
    self.source = source
    self.message = message
    self.kind = kind
    self.name = name
  }
}

/// The result of one line of a test.
package struct StepResult: Sendable {
  package var file: String
  package var line: Int
  /// The text of the line, in which values replace variables.
  package var text: String
  /// The start of the line, relative to the start of the test.
  package var at: Duration
  package var duration: Duration
  package var failed: Bool
  package var values: [StepValue]

  package init(file: String, line: Int, text: String, at: Duration, duration: Duration, failed: Bool, values: [StepValue]) {
    self.file = file
    self.line = line
    self.text = text
    self.at = at
    self.duration = duration
    self.failed = failed
    self.values = values
  }
}

/// A value that a line of a test received or checked.
package struct StepValue: Sendable {
  /// The name of the characteristic, or of the field that the line checked.
  package var name: String
  /// The time when the line received or checked the value, relative to the start of the test.
  package var at: Duration
  /// The value as text, in hex and decoded if possible.
  package var text: String
  /// The value as a number for plots. Nil if the value is not a single number.
  package var number: Double?
  package var unit: String?

  package init(name: String, at: Duration, text: String, number: Double? = nil, unit: String? = nil) {
    (self.name, self.at, self.text, self.number, self.unit) = (name, at, text, number, unit)
  }
}

/// An ATT PDU that blectl and the device exchanged during a test.
package struct TestPacket: Sendable {
  /// The time of the packet, relative to the start of the test.
  package var at: Duration
  package var direction: PDUDirection
  package var bytes: [UInt8]
  /// A description of the PDU, such as `Read Request battery_level`.
  package var text: String

  package init(at: Duration, direction: PDUDirection, bytes: [UInt8], text: String) {
    (self.at, self.direction, self.bytes, self.text) = (at, direction, bytes, text)
  }
}

/// The counts of test outcomes and warnings, and the times of a run.
package struct RunSummary: Sendable {
  package var passed = 0
  /// The number of tests among `passed` that failed at first.
  package var flaky = 0
  package var failed = 0
  package var errors = 0
  package var skipped = 0
  package var warnings = 0
  /// The number of tests that did not start, because the run ended early or the setup failed.
  package var notRun = 0
  /// The start of the run on the event loop's clock, which may be simulated, in nanoseconds since 1970-01-01T00:00:00Z.
  package var start: Int64 = 0
  /// The start of the run on the machine's real clock, in nanoseconds since 1970-01-01T00:00:00Z.
  package var date: Int64 = 0
  package var duration = Duration.zero

  package init() {}

  package mutating func add(_ result: TestResult) {
    warnings += result.tolerated.warnings.count
    if result.isFlaky { flaky += 1 }
    switch result.outcome {
    case .passed: passed += 1
    case .failed: failed += 1
    case .error: errors += 1
    case .skipped: skipped += 1
    case .notRun: notRun += 1
    }
  }
}
