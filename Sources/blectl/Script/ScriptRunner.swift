import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

/// Runs one script on one device.
@LoopActor
final class ScriptRunner {
  let script: Script
  /// Whom it is about, as PEER.
  let device: String?
  let shell: Shell
  let capture: ShellCapture
  let log: PacketLog
  var variables: ScriptVariables
  /// What `expect` without ATTR looks at.
  var result: ScriptResult?
  /// What is subscribed to for `expect`, on the link that `client` is of.
  let subscriptions = ScriptSubscriptions()
  /// Of the line that runs.
  var step = StepRecorder()
  /// Of the test that runs.
  var steps: [StepResult] = []
  var notes: [String] = []
  private var omittedNotes = 0
  private var isInterrupted = false
  /// The last test has said that the link was lost, or was to be.
  private var expectedLossBefore = false
  /// Of lines that have no result of their own.
  private var earlierNotes: [String] = []
  var omittedSteps = 0
  var start: LoopClock.Instant
  var lastLine: ScriptLine?
  /// In which records are written that nobody sees.
  let jsonOutput: Output
  /// The device was to end the link.
  var expectsLoss = false
  /// No test is run after it.
  private(set) var setupFailure: SetupFailure?
  /// A failed setup ends only its test, and is not tried again.
  let keepsGoing: Bool
  /// Blocks of `retry` around the line that runs.
  var retryDepth = 0

  private let process: ProcessContext
  private let repetition: Int?

  /// Whom the last link was to.
  var peer: String?

  /// Values since the last command that can be expected later.
  static let valueLimit = 1 << 16
  /// Steps that a result keeps.
  static let limit = 5000
  private static let noteLimit = 1000

  /// - Parameters:
  ///   - device: stands above the script's own.
  ///   - repetition: counted from 1, where everything runs several times.
  ///   - setupFailure: of a script before this one, about the same device.
  init(
    _ script: Script, device: String?, _ options: ScriptRun.Options, repetition: Int?, setupFailure: SetupFailure?,
    _ process: ProcessContext
  ) {
    self.script = script
    self.device = device ?? script.device
    self.process = process
    self.repetition = repetition
    self.setupFailure = setupFailure
    keepsGoing = options.keepsGoing
    variables = ScriptVariables(options.variables)
    var style = process.output.style
    style.json = true
    jsonOutput = Output(style, sharing: process.output)
    shell = Shell(process, timeout: options.timeout)
    log = PacketLog()
    start = EventLoop.shared.now
    capture = ShellCapture(showsRecords: process.output.style.json)
    shell.capture = capture
    capture.onRecord = { [weak self] bytes, isCommand in self?.take(bytes, isCommand) }
    capture.onMessage = { [weak self] text, isNote in
      guard let self else { return }
      if isNote { note(text) } else { process.output.verbose(1, text) }
    }
  }

  /// - Parameters:
  ///   - selects: which tests to run.
  ///   - report: told of each when it is over. - Returns: whether to go on.
  /// - Throws: CancellationError; OutputFailure; what `report` throws.
  func run(_ selects: (Script.Test) -> Bool, report: @LoopActor (TestResult) async throws -> Bool) async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await tests(selects, report)) } catch { outcome = .failure(error) }
    await shell.end()
    try outcome.get()
    if isInterrupted { throw CancellationError() }
  }

  private func tests(_ selects: (Script.Test) -> Bool, _ report: @LoopActor (TestResult) async throws -> Bool) async throws {
    let selected = script.tests.filter(selects)
    guard script.tests.isEmpty || !selected.isEmpty else { return }
    let own = try await ownLines()
    if case .notRun = own.outcome, script.tests.isEmpty { _ = try await report(own) }
    let (ownVariables, ownSettings) = (variables, shell.settings)
    var reason: String?
    switch own.outcome {
    case .passed where script.tests.isEmpty: guard try await report(own) else { return }
    case .passed: earlierNotes = own.notes
    case .skipped(let why):
      if script.tests.isEmpty { _ = try await report(own) }
      reason = why
    case .failed, .error:
      guard try await report(own) else { return }
      if setupFailure == nil { reason = "the file's own lines failed" }
    case .notRun: break
    }
    for test in selected {
      // What a test sets is its own, so that it does not matter which tests run.
      variables = ownVariables
      if shell.settings != ownSettings { shell.change(ownSettings) }
      let result =
        if let reason { result(of: test, .skipped(reason)) } else if let setupFailure {
          result(of: test, .notRun(setupFailure.reason))
        } else {
          try await run(test)
        }
      guard try await report(result), !isInterrupted else { return }
    }
  }

  private func result(of test: Script.Test, _ outcome: TestResult.Outcome) -> TestResult {
    TestResult(
      file: script.file, line: test.line.place.line, name: test.name, tags: test.tags, peer: peer, repetition: repetition,
      outcome: outcome, start: EventLoop.shared.wallClock, date: RealTime.now)
  }

  // MARK: One test

  private func ownLines() async throws -> TestResult {
    let name = script.file.split(separator: "/").last.map(String.init) ?? script.file
    let line = script.statements.first?.place.line ?? 1
    if let setupFailure {
      return TestResult(
        file: script.file, line: line, name: name, repetition: repetition, outcome: .notRun(setupFailure.reason),
        start: EventLoop.shared.wallClock, date: RealTime.now)
    }
    return try await run(name, line, []) { try await self.run(self.script.statements) }
  }

  private func run(_ test: Script.Test) async throws -> TestResult {
    if case .skip(let word)? = test.statements.first?.kind {
      return result(of: test, .skipped(word.flatMap { try? variables.text(of: $0) } ?? ""))
    }
    return try await run(test.name, test.line.place.line, test.tags, teardown: script.teardown) {
      try await self.run(self.script.setup, then: [test.statements[...]])
      try await self.run(test.statements)
    }
  }

  /// What a test is called whose end nobody waited for.
  private static let interrupted = "the run was interrupted here"

  private func run(
    _ name: String, _ line: Int, _ tags: [String], teardown: [ScriptStatement] = [], _ body: @escaping @LoopActor () async throws -> Void
  ) async throws -> TestResult {
    if process.output.style.json { capture.members = members(name) }
    process.output.progress("  … \(DisplayText.escape(name))")
    let isLost = presentLink.map { !$0.connection.isOpen } ?? false
    await dropLostLink()
    // What came before is nothing that this test brought about.
    shell.current?.forget()
    let (wallClock, date) = (EventLoop.shared.wallClock, RealTime.now)
    start = EventLoop.shared.now
    log.begin()
    (steps, notes, omittedSteps, expectsLoss) = ([], earlierNotes, 0, false)
    earlierNotes = []
    if isLost, !expectedLossBefore { notes.append("the link was lost after the test before this one") }
    expectedLossBefore = false
    (result, lastLine, omittedNotes) = (nil, nil, 0)
    var outcome = try await PacketLog.$present.withValue(log) {
      try await self.outcome {
        try await body()
        try self.checkLink()
      }
    }
    if !teardown.isEmpty, setupFailure != nil, presentLink == nil, log.count == 0 {
      notes.append("the teardown was not run, because this test had no link to the device")
    } else if !teardown.isEmpty {
      await dropLostLink()
      let second = try await PacketLog.$present.withValue(log) { try await self.teardownOutcome(teardown) }
      outcome = Self.joined(outcome, second)
    }
    expectedLossBefore = expectsLoss || outcome.problem != nil
    if omittedNotes > 0 { notes.append("\(omittedNotes) more note(s) came, which are not kept") }
    if omittedSteps > 0 { notes.append("\(omittedSteps) more step(s) were run, which are not kept") }
    let (packets, omitted) = log.taken()
    return TestResult(
      file: script.file, line: line, name: name, tags: tags, peer: peer, repetition: repetition, outcome: outcome, start: wallClock,
      date: date, duration: start.duration(to: EventLoop.shared.now), steps: steps, notes: notes, packets: packets, omittedPackets: omitted)
  }

  /// - Throws: what ends the whole run.
  private func outcome(_ body: @LoopActor () async throws -> Void) async throws -> TestResult.Outcome {
    do {
      try await body()
      return .passed
    } catch let error as StepFailure {
      let problem = problem(error)
      if error.isSetup, !keepsGoing {
        setupFailure = SetupFailure(reason: error.failure.message, isOfAdapter: error.failure.kind == .adapter)
      }
      return error.isAround ? .error(problem) : .failed(problem)
    } catch let skipped as SkippedTest {
      return .skipped(skipped.reason)
    } catch is CancellationError where lastLine != nil {
      isInterrupted = true
      guard let line = lastLine else { throw CancellationError() }
      return .error(problem(StepFailure(Failure(.interrupted, Self.interrupted), line)))
    }
  }

  /// Also of a test that was interrupted: a door is shut again. That has a moment only.
  private func teardownOutcome(_ teardown: [ScriptStatement]) async throws -> TestResult.Outcome {
    func outcome() async throws -> TestResult.Outcome {
      try await self.outcome {
        try await self.run(teardown)
        try self.checkLink()
      }
    }
    guard isInterrupted else { return try await outcome() }
    let end = EventLoop.shared.now.advanced(by: .seconds(3))
    return await shielded { (try? await withDeadline(end) { try await outcome() }) ?? .passed }
  }

  private func problem(_ error: StepFailure) -> TestProblem {
    TestProblem(
      file: error.line.place.file, line: error.line.place.line, source: error.line.source, message: error.failure.message,
      kind: error.failure.kind.rawValue, name: error.failure.name, expected: error.expected, actual: error.actual,
      arrived: error.arrived, took: error.took,
      others: error.others, packets: log.last)
  }

  /// What failed after the test is told with what failed in it.
  private static func joined(_ first: TestResult.Outcome, _ second: TestResult.Outcome) -> TestResult.Outcome {
    guard case .failed(let later) = second else {
      guard case .error(let later) = second else { return first }
      return joined(first, later) { .error($0) }
    }
    return joined(first, later) { .failed($0) }
  }

  private static func joined(
    _ first: TestResult.Outcome, _ later: TestProblem, _ make: (TestProblem) -> TestResult.Outcome
  ) -> TestResult.Outcome {
    let text = "teardown, \(later.file):\(later.line): \(later.message)"
    switch first {
    case .passed, .skipped, .notRun: return make(later)
    case .failed(var problem):
      problem.further.append(text)
      return .failed(problem)
    case .error(var problem):
      problem.further.append(text)
      return .error(problem)
    }
  }

  // MARK: What is said

  /// With the test's result.
  func note(_ text: String) {
    guard notes.count < Self.noteLimit else { return omittedNotes += 1 }
    notes.append(text)
  }

  private func members(_ name: String) -> [UInt8] {
    var json = JSONLine()
    json.string("file", script.file)
    json.string("test", name)
    // Without the brace before and what ends the line.
    return [UInt8(ascii: ",")] + json.finished().dropFirst().dropLast(2)
  }
}
