import CommandLine
import Scripts

/// A run of scripts that reports their results. With `--jobs` above 1, scripts run in parallel.
@LoopActor
final class ScriptRun {
  struct Options {
    /// Whether results name the device of the script, because several `--peer` run each file.
    var namesDevice = false
    var variables: [String: String] = [:]
    /// The globs of `--only`, which select tests by name. Empty selects all tests.
    var only: [String] = []
    /// The tags of `--tag`, which select tests. Empty selects all tests.
    var tags: [String] = []
    /// The maximum number of files that run in parallel, 1–64.
    var jobs = 1
    var repetitions = 1
    /// The maximum number of times that a failed test runs again.
    var retries = 0
    var endsWithFailure = false
    /// Whether the tests of a device still run after blectl failed to reach the device or the adapter.
    var keepsGoing = false
    var timeout: Double?
  }

  private let options: Options
  private let process: ProcessContext
  private let reports: [ScriptReport]
  private(set) var summary = RunSummary()
  /// The number of results of a complete run in which no command outside of tests fails.
  private var total = 0
  /// The exit code of the first test that ended with an error. Nil if no test did.
  private(set) var errorStatus: ExitStatus?
  private var isOver = false
  /// The failed setups, by device in lowercase. The empty key stands for the adapter, whose failure concerns all devices.
  private var setupFailures: [String: SetupFailure] = [:]
  private var reported: Set<[String]> = []
  /// The error of standard output, for example a closed pipe. Nil while standard output works.
  private var broken: OutputFailure?
  private var workers: [Task<Void, Never>] = []

  init(_ options: Options, _ reports: [ScriptReport], _ process: ProcessContext) {
    (self.options, self.reports, self.process) = (options, reports, process)
  }

  func selects(_ test: Script.Test) -> Bool {
    (options.only.isEmpty || options.only.contains { Glob.matches($0, test.name) })
      && (options.tags.isEmpty || options.tags.contains { test.tags.contains($0) })
  }

  /// Returns the number of results of a complete run in which no command outside of tests fails.
  func count(_ scripts: [Script]) -> Int { listed(scripts).count * options.repetitions }

  /// Returns a result without an outcome for each selected test, and for each selected file without tests.
  func listed(_ scripts: [Script]) -> [TestResult] {
    scripts.flatMap { script in
      var results = script.tests.filter(selects).map {
        TestResult(file: script.file, line: $0.line.place.line, name: $0.name, tags: $0.tags)
      }
      if script.tests.isEmpty, selectsWhole { results = [TestResult(file: script.file, line: script.ownLine, name: script.ownName)] }
      if options.namesDevice { for index in results.indices { results[index].variant.device = script.device } }
      return results
    }
  }

  /// Whether the run also selects files without tests. Each of these files counts as one test.
  private var selectsWhole: Bool { options.only.isEmpty && options.tags.isEmpty }

  /// Runs the scripts and writes the reports, even after an interruption.
  /// - Throws: CancellationError; OutputFailure.
  func run(_ scripts: [Script]) async throws {
    (summary.start, summary.date) = (EventLoop.shared.wallClock, RealTime.now)
    let start = EventLoop.shared.now
    total = count(scripts)
    // If lines outside of tests fail, their file adds a result.
    let isKnown = !scripts.contains { !$0.tests.isEmpty && $0.hasOwnSteps }
    for report in reports { try await report.begin(isKnown ? total : nil) }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await runAll(scripts)) } catch { outcome = .failure(error) }
    summary.duration = start.duration(to: EventLoop.shared.now)
    // Lines outside of tests are not a test, but have a result if they fail.
    summary.notRun = max(summary.notRun, total - summary.passed - summary.failed - summary.errors - summary.skipped)
    let (reports, summary) = (reports, summary)
    let isComplete = if case .success = outcome { true } else { false }
    // Write the reports after Ctrl-C, too.
    let failure = await shielded { () -> (any Error)? in
      var first: (any Error)?
      for report in reports {
        do {
          try await self.addNotRun(scripts, to: report)
          try await report.end(summary, isComplete)
        } catch { first = first ?? error }
      }
      return first
    }
    try outcome.get()
    if let failure = broken ?? failure { throw failure }
  }

  /// Adds the selected tests that did not start to a report.
  private func addNotRun(_ scripts: [Script], to report: ScriptReport) async throws {
    guard summary.notRun > 0, report.listsNotRun else { return }
    for repetition in 1...options.repetitions {
      for script in scripts {
        let outcome: TestResult.Outcome =
          if let failure = setupFailure(of: script) { .notRun(failure.reason) } else { .skipped("the run ended early") }
        for var result in listed([script]) {
          result.variant.repetition = options.repetitions > 1 ? repetition : nil
          result.outcome = outcome
          (result.start, result.date) = (EventLoop.shared.wallClock, RealTime.now)
          if !reported.contains(Self.key(result)) { try await report.add(result) }
        }
      }
    }
  }

  /// Returns the file, line, name, device and repetition of a test, which identify its result within the run.
  private static func key(_ result: TestResult) -> [String] {
    [result.file, "\(result.line)", result.name, result.variant.device ?? "", "\(result.variant.repetition ?? 0)"]
  }

  private func runAll(_ scripts: [Script]) async throws {
    let selected = scripts.filter { selectsWhole || $0.tests.contains(where: selects) }
    guard options.jobs > 1 else { return try await runRepeatedly(selected) }
    var queue = byDevice(selected)[...]
    var failure: (any Error)?
    let workers = (0..<min(options.jobs, queue.count)).map { _ in
      EventLoop.shared.spawn {
        do { while !self.isOver, let group = queue.popFirst() { try await self.runRepeatedly(group) } } catch {
          failure = failure ?? error
          self.isOver = true
          // Without a reader of the results, stop the other workers.
          for worker in self.workers { worker.cancel() }
        }
      }
    }
    self.workers = workers
    defer { self.workers = [] }
    await withTaskCancellationHandler {
      for worker in workers { await worker.value }
    } onCancel: {
      for worker in workers { worker.cancel() }
    }
    if let failure { throw failure }
  }

  private func runRepeatedly(_ scripts: [Script]) async throws {
    for repetition in 1...options.repetitions {
      for script in scripts where !isOver { try await run(script, options.repetitions > 1 ? repetition : nil) }
      if isOver { return }
    }
  }

  /// Groups scripts by the name of their device, so that the scripts of one group run one after another.
  private func byDevice(_ scripts: [Script]) -> [[Script]] {
    var groups: [[Script]] = []
    var places: [String: Int] = [:]
    for script in scripts {
      let device = device(of: script)
      if let device, let place = places[device] {
        groups[place].append(script)
      } else {
        if let device { places[device] = groups.count }
        groups.append([script])
      }
    }
    return groups
  }

  private func device(of script: Script) -> String? { script.device?.lowercased() }

  private func setupFailure(of script: Script) -> SetupFailure? { setupFailures[""] ?? device(of: script).flatMap { setupFailures[$0] } }

  /// Runs the selected tests of a script and reports their results. Stores a failed setup for later scripts.
  private func run(_ script: Script, _ repetition: Int?) async throws {
    let device = device(of: script)
    let runner = ScriptRunner(
      script, options, repetition: repetition, setupFailure: setupFailure(of: script), process)
    runner.onTest = { [self] name in
      RunProgress(process.output, name, summary.passed + summary.failed + summary.errors + summary.skipped + 1, of: total)
    }
    defer { if let failure = runner.setupFailure, let key = failure.isOfAdapter ? "" : device { setupFailures[key] = failure } }
    try await runner.run(selects) { result in
      summary.add(result)
      if case .error = result.outcome { errorStatus = errorStatus ?? runner.errorStatus }
      reported.insert(Self.key(result))
      try await tell(result)
      if options.endsWithFailure, result.problem != nil { isOver = true }
      return !isOver
    }
  }

  /// Adds a result to all reports. After a failure of standard output, continues with the other reports.
  private func tell(_ result: TestResult) async throws {
    for report in reports {
      do { try await report.add(result) } catch let error as OutputFailure {
        guard reports.count > 1 else { throw error }
        broken = broken ?? error
      }
    }
  }

  /// Throws the exit status of the run if a test failed or ended with an error.
  func throwStatus() throws {
    if summary.failed > 0 { throw ExitStatus.expectation }
    if summary.errors > 0 { throw errorStatus ?? .internal }
  }
}
