import CommandLine
import EventLoop
import LinuxIO
import Operations
import Presentation
import ScriptLanguage
import Shell
import Terminal
import TestReports
import Text

/// A runner for the tests of one script on one device.
@LoopActor
final class ScriptRunner {
  private let script: Script
  private let steps: ScriptSteps
  private let repetition: Int?
  /// Whether later tests still run after a failed setup. If true, blectl also does not retry a failed setup.
  private let keepsGoing: Bool
  private let process: ProcessContext
  /// The failure to reach the adapter or the device. Nil while tests can run.
  private(set) var setupFailure: SetupFailure? { didSet { steps.retriesSetup = false } }
  /// The exit code of the current test. Nil unless the test ended with an error.
  private(set) var errorStatus: ExitStatus?
  private var isInterrupted = false
  /// Whether the previous test had a problem or expected the device to disconnect.
  private var expectedLossBefore = false
  /// The notes from lines outside of tests, which the first test reports.
  private var earlierNotes: [String] = []

  /// Creates a runner, which opens its own session.
  /// - Parameters:
  ///   - device: The device from the command line, which overrides the script's own.
  ///   - repetition: The number of the repetition, from 1. Nil if the run does not repeat its tests.
  ///   - setupFailure: The failed setup of an earlier script for the same device. Nil if no setup failed.
  init(
    _ script: Script, device: String?, _ options: ScriptRun.Options, repetition: Int?, setupFailure: SetupFailure?,
    _ process: ProcessContext
  ) {
    self.script = script
    self.process = process
    self.repetition = repetition
    self.setupFailure = setupFailure
    keepsGoing = options.keepsGoing
    steps = ScriptSteps(device: device ?? script.device, options, retriesSetup: !keepsGoing && setupFailure == nil, process)
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
    let own = try await ownLines()
    let (ownVariables, ownSettings) = (steps.variables, steps.shell.settings)
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
      // Restore variables, so that tests do not depend on each other.
      steps.variables = ownVariables
      if steps.shell.settings != ownSettings { steps.shell.change(ownSettings) }
      let result =
        if let reason { self.result(of: test, .skipped(reason)) } else if let setupFailure {
          self.result(of: test, .notRun(setupFailure.reason))
        } else {
          try await run(test)
        }
      guard try await report(result), !isInterrupted else { return }
    }
  }

  private func result(of test: Script.Test, _ outcome: TestResult.Outcome) -> TestResult {
    result(test.name, test.line.place.line, test.tags, outcome)
  }

  private func result(_ name: String, _ line: Int, _ tags: [String], _ outcome: TestResult.Outcome) -> TestResult {
    TestResult(
      file: script.file, line: line, name: name, tags: tags, peer: steps.peer, repetition: repetition, outcome: outcome,
      start: EventLoop.shared.wallClock, date: RealTime.now)
  }

  // MARK: One test

  private func ownLines() async throws -> TestResult {
    let name = script.file.split(separator: "/").last.map(String.init) ?? script.file
    let line = script.statements.first?.place.line ?? 1
    if let setupFailure { return result(name, line, [], .notRun(setupFailure.reason)) }
    return try await run(name, line, []) { try await self.steps.run(self.script.statements) }
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
    _ name: String, _ line: Int, _ tags: [String], teardown: [ScriptStatement] = [], _ body: @escaping @LoopActor () async throws -> Void
  ) async throws -> TestResult {
    process.output.progress("  … \(DisplayText.escape(name))")
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
