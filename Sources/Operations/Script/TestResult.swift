package import ATT

/// What one test of a script came to: everything that a report shows of it.
package struct TestResult: Sendable {
  package enum Outcome: Sendable {
    case passed
    /// The device is at fault: an expectation did not hold, a command failed, the link was lost.
    case failed(TestProblem)
    /// Not the device but what is around it: no adapter, nobody there, no link.
    case error(TestProblem)
    case skipped(String)
    /// The setup failed before, for this reason.
    case notRun(String)

    package var problem: TestProblem? {
      switch self {
      case .failed(let problem), .error(let problem): problem
      case .passed, .skipped, .notRun: nil
      }
    }
  }

  /// Of the file, as it was named.
  package var file: String
  /// Counted from 1: where the test begins.
  package var line: Int
  /// A file's own lines have its name.
  package var name: String
  package var tags: [String]
  /// Whom it was about, for people: `D1:00:00:00:00:01 GateLock`; nil when no device was needed.
  package var peer: String?
  /// Counted from 1; nil when everything runs once.
  package var repetition: Int?
  package var outcome: Outcome
  /// On the clock of the air, nanoseconds since 1970-01-01T00:00:00Z.
  package var start: Int64
  /// The same on the machine's clock: what files are dated with.
  package var date: Int64
  package var duration: Duration
  package var steps: [StepResult]
  /// What the script and the program had to say meanwhile.
  package var notes: [String]
  /// The last ones, in their order.
  package var packets: [TestPacket]
  /// How many came before those, untold.
  package var omittedPackets: Int

  package init(
    file: String, line: Int, name: String, tags: [String] = [], peer: String? = nil, repetition: Int? = nil, outcome: Outcome = .passed,
    start: Int64 = 0, date: Int64? = nil,
    duration: Duration = .zero, steps: [StepResult] = [], notes: [String] = [], packets: [TestPacket] = [], omittedPackets: Int = 0
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
    self.steps = steps
    self.notes = notes
    self.packets = packets
    self.omittedPackets = omittedPackets
  }

  /// Why it did not pass.
  package var problem: TestProblem? { outcome.problem }
}

/// Why a test did not pass.
package struct TestProblem: Sendable {
  /// Where the script says what did not hold. The file may be another than the test's, which includes it.
  package var file: String
  package var line: Int
  /// That line, as it stands there.
  package var source: String
  /// One sentence: what failed, on what, why, and what to do next.
  package var message: String
  /// The word for its kind: `expectation`, `att`, `link_lost`, …
  package var kind: String
  /// Snake case: `write_not_permitted`.
  package var name: String?
  package var expected: String?
  /// What came instead, in hex and decoded.
  package var actual: String?
  /// Of a number of values those that came, the last ones, in their order.
  package var arrived: [String]
  /// From the beginning of the step to its end.
  package var took: Duration?
  /// Values that came since the last command, and were not what was expected, in their order.
  package var others: [String]
  /// The last ones before it failed.
  package var packets: [TestPacket]
  /// What failed besides, as in the lines after a test.
  package var further: [String]

  package init(
    file: String, line: Int, source: String, message: String, kind: String, name: String? = nil, expected: String? = nil,
    actual: String? = nil, arrived: [String] = [], took: Duration? = nil, others: [String] = [], packets: [TestPacket] = [],
    further: [String] = []
  ) {
    self.file = file
    self.line = line
    self.source = source
    self.message = message
    self.kind = kind
    self.name = name
    self.expected = expected
    self.actual = actual
    self.arrived = arrived
    self.took = took
    self.others = others
    self.packets = packets
    self.further = further
  }
}

/// One line of a test that was run.
package struct StepResult: Sendable {
  package var file: String
  package var line: Int
  /// As it was run: variables replaced.
  package var text: String
  /// Since the test began.
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

/// A value that a step brought.
package struct StepValue: Sendable {
  /// What it is the value of: a characteristic, or a field of a record.
  package var name: String
  /// Since the test began.
  package var at: Duration
  /// For people: in hex, and decoded where its meaning is known.
  package var text: String
  /// For plots; nil for what is no number.
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
  /// Since the test began.
  package var at: Duration
  package var direction: Direction
  package var octets: [UInt8]
  /// What it is, for people: `Read Request battery_level`.
  package var text: String

  package init(at: Duration, direction: Direction, octets: [UInt8], text: String) {
    self.at = at
    self.direction = direction
    self.octets = octets
    self.text = text
  }
}

/// Of a whole run.
package struct RunSummary: Sendable {
  package var passed = 0
  package var failed = 0
  package var errors = 0
  package var skipped = 0
  /// Not begun, because the run ended before, or the setup failed.
  package var notRun = 0
  /// On the clock of the air, nanoseconds since 1970-01-01T00:00:00Z.
  package var start: Int64 = 0
  /// The same on the machine's clock.
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
