import CommandLine
import Program
import Scripts

/// A runner for the tests of one script on one device.
@LoopActor
final class ScriptRunner {
  private let script: Script
  private let steps: ScriptSteps
  private let repetition: Int?
  /// Whether later tests still run after a failed setup. If true, blectl also does not retry a failed setup.
  private let keepsGoing: Bool
  private let retries: Int
  private let namesDevice: Bool
  /// The function that shows each test when it starts.
  var onTest: @LoopActor (String) -> RunProgress? = { _ in nil }
  private let process: ProcessContext
  /// The failure to reach the adapter or the device. Nil while tests can run.
  private(set) var setupFailure: SetupFailure? { didSet { steps.retriesSetup = false } }
  /// The exit code of the current test. Nil unless the test ended with an error.
  private(set) var errorStatus: ExitStatus?
  private var isInterrupted = false
  /// Whether the previous test had a problem or expected the device to disconnect.
  private var expectedLossBefore = false
  /// The device that lines outside of tests serve, also for the tests. Nil without one.
  private var lasting: RunningPeripheral?
  /// The notes from lines outside of tests, which the first test reports.
  private var earlierNotes: [String] = []

  /// Creates a runner, which opens its own session.
  /// - Parameters:
  ///   - repetition: The number of the repetition, from 1. Nil if the run does not repeat its tests.
  ///   - setupFailure: The failed setup of an earlier script for the same device. Nil if no setup failed.
  init(
    _ script: Script, _ options: ScriptRun.Options, repetition: Int?, setupFailure: SetupFailure?,
    _ process: ProcessContext
  ) {
    (self.script, self.process, self.repetition, self.setupFailure) = (script, process, repetition, setupFailure)
    (keepsGoing, retries, namesDevice) = (options.keepsGoing, options.retries, options.namesDevice)
    steps = ScriptSteps(script, options, retriesSetup: !keepsGoing && setupFailure == nil, process)
  }

  /// Runs the selected tests of the script and closes the session.
  /// - Parameters:
  ///   - selects: A function that returns whether to run a test.
  ///   - report: A function that receives each result and returns whether the run continues.
  /// - Throws: CancellationError; OutputFailure; the errors of `report`.
  func run(_ selects: (Script.Test) -> Bool, report: @LoopActor (TestResult) async throws -> Bool) async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await tests(selects, report)) } catch { outcome = .failure(error) }
    await steps.shell.end()
    try outcome.get()
    if isInterrupted { throw CancellationError() }
  }

  private func tests(_ selects: (Script.Test) -> Bool, _ report: @LoopActor (TestResult) async throws -> Bool) async throws {
    let selected = script.tests.filter(selects)
    guard script.tests.isEmpty || !selected.isEmpty else { return }
    let first = (steps.variables, steps.shell.settings)
    let own = script.tests.isEmpty ? try await attempts(from: first) { try await self.ownLines() } : try await ownLines()
    let state = (steps.variables, steps.shell.settings)
    lasting = script.tests.isEmpty ? nil : steps.shell.peripheral.running
    var reason: String?
    // Lines outside of tests are a test of their own if there is no other, or if they fail.
    if script.tests.isEmpty || own.problem != nil { guard try await report(own) else { return } }
    switch own.outcome {
    case .passed: earlierNotes = own.notes
    case .skipped(let why): reason = why
    case .failed, .error: if setupFailure == nil { reason = "the commands outside of tests failed" }
    case .notRun: break
    }
    for test in selected {
      let result =
        if let reason { self.result(of: test, .skipped(reason)) } else if let setupFailure {
          self.result(of: test, .notRun(setupFailure.reason))
        } else {
          try await attempts(from: state) { try await self.run(test) }
        }
      guard try await report(result), !isInterrupted else { return }
    }
  }

  /// Runs a test, and runs it again while it fails, up to `retries` times. Does not repeat a failed setup or a mistake in the script.
  private func attempts(
    from state: (variables: ScriptVariables, settings: ShellSettings), _ run: @LoopActor () async throws -> TestResult
  ) async throws -> TestResult {
    let notes = earlierNotes
    var earlier: [TestProblem] = []
    while true {
      // Restore variables, so that tests and attempts do not depend on each other.
      steps.variables = state.variables
      if steps.shell.settings != state.settings { steps.shell.change(state.settings) }
      earlierNotes = notes
      var result = try await run()
      result.tolerated.earlier = earlier
      guard let problem = result.problem, earlier.count < retries, setupFailure == nil, !isInterrupted, problem.kind != "usage" else {
        return result
      }
      earlier.append(problem)
    }
  }

  private func result(of test: Script.Test, _ outcome: TestResult.Outcome) -> TestResult {
    result(test.name, test.line.place.line, test.tags, outcome)
  }

  private func result(_ name: String, _ line: Int, _ tags: [String], _ outcome: TestResult.Outcome) -> TestResult {
    var result = TestResult(
      file: script.file, line: line, name: name, tags: tags, peer: steps.peer, repetition: repetition, outcome: outcome,
      start: EventLoop.shared.wallClock, date: RealTime.now)
    if namesDevice { result.variant.device = script.device }
    return result
  }

  // MARK: One test

  private func ownLines() async throws -> TestResult {
    let (name, line) = (script.ownName, script.ownLine)
    if let setupFailure { return result(name, line, [], .notRun(setupFailure.reason)) }
    return try await run(name, line, [], keepsPeripheral: !script.tests.isEmpty) { try await self.steps.run(self.script.statements) }
  }

  private func run(_ test: Script.Test) async throws -> TestResult {
    if case .skip(let word)? = test.statements.first?.kind {
      return result(of: test, .skipped(word.flatMap { try? steps.text($0) } ?? ""))
    }
    return try await run(test.name, test.line.place.line, test.tags, teardown: script.teardown) {
      try await self.steps.run(self.script.setup, then: [test.statements[...]])
      try await self.steps.run(test.statements)
    }
  }

  private func run(
    _ name: String, _ line: Int, _ tags: [String], teardown: [ScriptStatement] = [], keepsPeripheral: Bool = false,
    _ body: @escaping @LoopActor () async throws -> Void
  ) async throws -> TestResult {
    let progress = onTest(name)
    defer { progress?.end() }
    let isLost = steps.presentLink.map { !$0.connection.isOpen } ?? false
    let notes = isLost && !expectedLossBefore ? ["The connection was lost after the previous test."] : []
    await steps.begin(name, of: script.file, notes: earlierNotes + notes)
    (errorStatus, earlierNotes) = (nil, [])
    var result = result(name, line, tags, .passed)
    result.outcome = try await outcome(body)
    if !teardown.isEmpty, setupFailure != nil, steps.presentLink == nil, steps.log.count == 0 {
      steps.record.note("Skipped the teardown: this test had no connection to the device.")
    } else if !teardown.isEmpty {
      await steps.dropLostLink()
      result.outcome = result.outcome.joined(withTeardown: try await teardownOutcome(teardown))
    }
    expectedLossBefore = steps.expectsLoss || result.problem != nil
    if !keepsPeripheral, let device = steps.shell.peripheral.running, device !== lasting { await steps.shell.peripheral.end() }
    result.peer = steps.peer
    steps.record.finish(&result, at: EventLoop.shared.now)
    (result.packets, result.omittedPackets) = steps.log.taken()
    return result
  }

  /// Runs `body` and returns the outcome of the test.
  /// - Throws: Errors that end the whole run.
  private func outcome(_ body: @LoopActor () async throws -> Void) async throws -> TestResult.Outcome {
    do {
      try await body()
      try steps.checkLink()
      return .passed
    } catch let error as StepFailure {
      if error.outcome == .unreachable, !keepsGoing {
        setupFailure = SetupFailure(reason: error.failure.message, isOfAdapter: error.failure.kind == .adapter)
      }
      if error.outcome == .failed { return .failed(problem(error)) }
      errorStatus = errorStatus ?? error.failure.exitStatus
      return .error(problem(error))
    } catch let skipped as SkippedTest {
      return .skipped(skipped.reason)
    } catch is CancellationError {
      guard let line = steps.lastLine else { throw CancellationError() }
      (isInterrupted, errorStatus) = (true, .interrupted)
      return .error(problem(StepFailure(Failure(.interrupted, "The run was interrupted here.")).placed(at: line)))
    }
  }

  private func problem(_ error: StepFailure) -> TestProblem {
    var problem = error.problem
    problem.packets = steps.log.last
    return problem
  }

  /// Runs the teardown. After Ctrl-C, the teardown may run for up to 3 seconds.
  private func teardownOutcome(_ teardown: [ScriptStatement]) async throws -> TestResult.Outcome {
    func outcome() async throws -> TestResult.Outcome { try await self.outcome { try await self.steps.run(teardown) } }
    guard isInterrupted else { return try await outcome() }
    let end = EventLoop.shared.now.advanced(by: .seconds(3))
    return await shielded { (try? await withDeadline(end) { try await outcome() }) ?? .passed }
  }
}
