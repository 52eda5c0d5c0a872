import ATT
import CommandLine
import EventLoop
import GATT
import LinuxIO
import Operations
import Presentation
import ScriptLanguage
import Shell
import Terminal
import TestReports
import Text

/// Runs a script on one device.
@LoopActor
final class ScriptRunner: ResultObserver {
  let script: Script
  /// The device of the script, as PEER.
  let device: String?
  let shell: Shell
  let log: PacketLog
  /// The file and the test, for the records that blectl prints.
  private(set) var members: RecordWriter.Members?
  var variables: ScriptVariables
  /// The result that `expect` without ATTR checks.
  var result: ScriptResult?
  /// The subscriptions for `expect`.
  let subscriptions = ScriptSubscriptions()
  /// The recorder of the current line.
  var step = StepRecorder()
  /// The steps of the current test.
  var steps: [StepResult] = []
  var notes: [String] = []
  private var omittedNotes = 0
  private var isInterrupted = false
  /// Whether the last test reported or expected a lost connection.
  private var expectedLossBefore = false
  /// Notes of lines outside of tests. The first test reports them.
  private var earlierNotes: [String] = []
  var omittedSteps = 0
  var start: LoopClock.Instant
  var lastLine: ScriptLine?
  /// Whether the script expected the device to disconnect.
  var expectsLoss = false
  /// The exit code of the current test, if the test ended with an error.
  private(set) var errorStatus: ExitStatus?
  /// The failed setup. No test runs after it.
  private(set) var setupFailure: SetupFailure?
  /// Whether a failed setup ends only its test, without a retry.
  let keepsGoing: Bool
  /// The number of `retry` blocks around the current line.
  var retryDepth = 0

  private let process: ProcessContext
  private let repetition: Int?

  /// The device of the last connection.
  var peer: String?

  /// The maximum number of values since the last command that a lane keeps.
  static let valueLimit = 1 << 16
  /// The maximum number of steps in a result.
  static let limit = 5000
  private static let noteLimit = 1000

  /// Creates a runner with a session of its own.
  /// - Parameters:
  ///   - device: The device from the command line, which overrides the script's own.
  ///   - repetition: The number of the repetition, from 1. Nil without repetitions.
  ///   - setupFailure: The failed setup of an earlier script for the same device.
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
    shell = Shell(process, timeout: options.timeout)
    log = PacketLog()
    start = EventLoop.shared.now
    shell.observer = self
  }

  /// Runs the selected tests.
  /// - Parameters:
  ///   - selects: Selects the tests to run.
  ///   - report: Receives each result. Returns whether to continue.
  /// - Throws: CancellationError; OutputFailure; the errors of `report`.
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
      if setupFailure == nil { reason = "the commands outside of tests failed" }
    case .notRun: break
    }
    for test in selected {
      // Restore variables, so that tests do not depend on each other.
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

  /// The message of an interrupted test.
  private static let interrupted = "The run was interrupted here."

  private func run(
    _ name: String, _ line: Int, _ tags: [String], teardown: [ScriptStatement] = [], _ body: @escaping @LoopActor () async throws -> Void
  ) async throws -> TestResult {
    if showsRecords {
      members = RecordWriter.Members {
        $0.string("file", script.file)
        $0.string("test", name)
      }
    }
    process.output.progress("  … \(DisplayText.escape(name))")
    let isLost = presentLink.map { !$0.connection.isOpen } ?? false
    await dropLostLink()
    // Values that arrived before the test do not belong to it.
    shell.current?.forget()
    let (wallClock, date) = (EventLoop.shared.wallClock, RealTime.now)
    start = EventLoop.shared.now
    log.begin()
    (steps, notes, omittedSteps, expectsLoss, errorStatus) = ([], earlierNotes, 0, false, nil)
    earlierNotes = []
    if isLost, !expectedLossBefore { notes.append("The connection was lost after the previous test.") }
    expectedLossBefore = false
    (result, lastLine, omittedNotes) = (nil, nil, 0)
    var outcome = try await self.outcome {
      try await body()
      try self.checkLink()
    }
    if !teardown.isEmpty, setupFailure != nil, presentLink == nil, log.count == 0 {
      notes.append("Skipped the teardown: this test had no connection to the device.")
    } else if !teardown.isEmpty {
      await dropLostLink()
      outcome = Self.joined(outcome, try await teardownOutcome(teardown))
    }
    expectedLossBefore = expectsLoss || outcome.problem != nil
    if omittedNotes > 0 { notes.append("More notes, not kept: \(omittedNotes)") }
    if omittedSteps > 0 { notes.append("More steps, not kept: \(omittedSteps)") }
    let (packets, omitted) = log.taken()
    return TestResult(
      file: script.file, line: line, name: name, tags: tags, peer: peer, repetition: repetition, outcome: outcome, start: wallClock,
      date: date, duration: start.duration(to: EventLoop.shared.now), steps: steps, notes: notes, packets: packets, omittedPackets: omitted)
  }

  /// Runs `body` and returns its outcome.
  /// - Throws: Errors that end the whole run.
  private func outcome(_ body: @LoopActor () async throws -> Void) async throws -> TestResult.Outcome {
    do {
      try await body()
      return .passed
    } catch let error as StepFailure {
      let problem = problem(error)
      if error.outcome == .unreachable, !keepsGoing {
        setupFailure = SetupFailure(reason: error.failure.message, isOfAdapter: error.failure.kind == .adapter)
      }
      if error.outcome == .failed { return .failed(problem) }
      errorStatus = errorStatus ?? error.failure.exitStatus
      return .error(problem)
    } catch let skipped as SkippedTest {
      return .skipped(skipped.reason)
    } catch is CancellationError where lastLine != nil {
      isInterrupted = true
      guard let line = lastLine else { throw CancellationError() }
      errorStatus = .interrupted
      return .error(problem(StepFailure(Failure(.interrupted, Self.interrupted), line)))
    }
  }

  /// Runs the teardown, for up to 3 seconds if the user interrupted the test.
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

  /// Joins the outcome of a test with the outcome of its teardown.
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

  func note(_ text: String) {
    guard notes.count < Self.noteLimit else { return omittedNotes += 1 }
    notes.append(text)
  }

  // MARK: ResultObserver

  var showsRecords: Bool { process.output.style.json }

  func didRecord(_ record: JSONTree, isCommand: Bool) {
    step.take(record, at: start.duration(to: EventLoop.shared.now), isCommand: isCommand) { meaning(of: $0, in: $1) }
  }

  func didSay(_ text: String, isNote: Bool) { if isNote { note(text) } else { process.output.verbose(1, text) } }

  func didExchange(_ direction: ATT.Direction, _ pdu: [UInt8], _ client: Client) { log.add(direction, pdu, client) }
}
