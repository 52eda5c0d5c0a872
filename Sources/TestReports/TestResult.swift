package import ATT

/// The result of one test, with everything that a report shows.
package struct TestResult: Sendable {
  package enum Outcome: Sendable {
    case passed
    /// The device failed: an expectation, a command or the connection.
    case failed(TestProblem)
    /// The setup failed: no adapter, no device or no connection.
    case error(TestProblem)
    case skipped(String)
    /// The setup failed before the test, for this reason.
    case notRun(String)

    /// The outcome without its details, as in JSON records.
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

    /// The reason why the test did not run.
    var reason: String? {
      switch self {
      case .skipped(let why), .notRun(let why): why
      case .passed, .failed, .error: nil
      }
    }

    /// Returns the outcome of a test and its teardown. A failed teardown adds its message to the problem of the test.
    package func joined(withTeardown teardown: Self) -> Self {
      guard let later = teardown.problem else { return self }
      guard var problem else { return teardown }
      problem.further.append("teardown, \(later.file):\(later.line): \(later.message)")
      return status == .failed ? .failed(problem) : .error(problem)
    }
  }

  /// The name of the file as the user gave it.
  package var file: String
  /// The first line of the test, counted from 1.
  package var line: Int
  /// The name of the test. Lines outside of tests have the name of the file.
  package var name: String
  package var tags: [String]
  /// The device for people, such as `D1:00:00:00:00:01 GateLock`. Nil if the test needed no device.
  package var peer: String?
  /// The number of the repetition, from 1. Nil if everything runs once.
  package var repetition: Int?
  package var outcome: Outcome
  /// The start of the test on the clock of the air, in nanoseconds since 1970-01-01T00:00:00Z.
  package var start: Int64
  /// The start of the test on the machine's clock, for dates of files, in nanoseconds since 1970-01-01T00:00:00Z.
  package var date: Int64
  package var duration: Duration
  package var steps: [StepResult] = []
  /// The notes of the script and of the program.
  package var notes: [String] = []
  /// The last packets, in order.
  package var packets: [TestPacket] = []
  /// The number of earlier packets, which the result omits.
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
    self.repetition = repetition
    self.outcome = outcome
    self.start = start
    self.date = date ?? start
    self.duration = duration
  }

  /// The reason why the test did not pass.
  package var problem: TestProblem? { outcome.problem }
  var status: String { outcome.status.rawValue }
}

/// The reason why a test did not pass.
package struct TestProblem: Sendable {
  /// The place of the failed line, which may be in an included file.
  package var file: String
  package var line: Int
  /// The text of the failed line.
  package var source: String
  /// The message, which says what failed, why, and what to do.
  package var message: String
  /// The kind of the problem, such as `expectation`, `att` or `link_lost`.
  package var kind: String
  /// The name of the error in snake case, such as `write_not_permitted`.
  package var name: String?
  package var expected: String?
  /// The actual value, in hex and decoded.
  package var actual: String?
  /// The last values that arrived, if the line expected several.
  package var arrived: [String] = []
  package var took: Duration?
  /// The other values since the last command, in order.
  package var others: [String] = []
  /// The last packets before the failure.
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

/// A line of a test that ran.
package struct StepResult: Sendable {
  package var file: String
  package var line: Int
  /// The text of the line, with the values of its variables.
  package var text: String
  /// The time since the start of the test.
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

/// A value of a step.
package struct StepValue: Sendable {
  /// The name of the characteristic or the field.
  package var name: String
  /// The time since the start of the test.
  package var at: Duration
  /// The value for people, in hex and decoded if possible.
  package var text: String
  /// The number for plots. Nil for other values.
  package var number: Double?
  package var unit: String?

  package init(name: String, at: Duration, text: String, number: Double? = nil, unit: String? = nil) {
    self.name = name
    self.at = at
    self.text = text
    self.number = number
    self.unit = unit
  }
}

/// An ATT PDU on the link of the test.
package struct TestPacket: Sendable {
  /// The time since the start of the test.
  package var at: Duration
  package var direction: Direction
  package var octets: [UInt8]
  /// The PDU for people, such as `Read Request battery_level`.
  package var text: String

  package init(at: Duration, direction: Direction, octets: [UInt8], text: String) {
    self.at = at
    self.direction = direction
    self.octets = octets
    self.text = text
  }
}

/// The counts and times of a run.
package struct RunSummary: Sendable {
  package var passed = 0
  package var failed = 0
  package var errors = 0
  package var skipped = 0
  /// The number of tests that did not start, because the run ended early or the setup failed.
  package var notRun = 0
  /// The start of the run on the clock of the air, in nanoseconds since 1970-01-01T00:00:00Z.
  package var start: Int64 = 0
  /// The start of the run on the machine's clock, in nanoseconds since 1970-01-01T00:00:00Z.
  package var date: Int64 = 0
  package var duration = Duration.zero

  package init() {}

  package mutating func add(_ outcome: TestResult.Outcome) {
    switch outcome {
    case .passed: passed += 1
    case .failed: failed += 1
    case .error: errors += 1
    case .skipped: skipped += 1
    case .notRun: notRun += 1
    }
  }
}
