import EventLoop
import Operations
import Text

/// Scripts, several at a time where that is wanted, and what their tests came to.
@LoopActor
final class ScriptRun {
  struct Options {
    var peer: PeerArgument?
    var variables: [String: String] = [:]
    /// Globs; none: all.
    var only: [String] = []
    /// None: all.
    var tags: [String] = []
    /// How many files at a time.
    var jobs = 1
    var repetitions = 1
    var endsWithFailure = false
    var timeout: Double?
  }

  /// One file, once.
  private struct Job {
    let script: Script
    let repetition: Int?
  }

  private let options: Options
  private let process: ProcessContext
  private let reports: [any ScriptReport]
  private(set) var summary = RunSummary()
  /// The exit code that the first test with an error has.
  private(set) var errorStatus: ExitStatus?
  private var isOver = false

  init(_ options: Options, _ reports: [any ScriptReport], _ process: ProcessContext) {
    self.options = options
    self.reports = reports
    self.process = process
  }

  func selects(_ test: Script.Test) -> Bool {
    (options.only.isEmpty || options.only.contains { Glob.matches($0, test.name) })
      && (options.tags.isEmpty || options.tags.contains { test.tags.contains($0) })
  }

  /// How many results there will be, unless the file's own lines fail.
  func count(_ scripts: [Script]) -> Int {
    scripts.reduce(0) { $0 + ($1.tests.isEmpty ? selectsWhole ? 1 : 0 : $1.tests.count(where: selects)) } * options.repetitions
  }

  /// A file without tests is one.
  private var selectsWhole: Bool { options.only.isEmpty && options.tags.isEmpty }

  /// - Throws: CancellationError; OutputFailure. The reports are written then, too, as far as they go.
  func run(_ scripts: [Script]) async throws {
    summary.start = EventLoop.shared.wallClock
    let start = EventLoop.shared.now
    let total = count(scripts)
    for report in reports { try await report.begin(total) }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await runAll(scripts)) } catch { outcome = .failure(error) }
    summary.duration = start.duration(to: EventLoop.shared.now)
    summary.notRun = max(0, total - summary.passed - summary.failed - summary.errors - summary.skipped)
    let (reports, summary) = (reports, summary)
    var isComplete = true
    if case .failure = outcome { isComplete = false }
    // Also after Ctrl-C: what was found out is worth having.
    let failure = await shielded { [isComplete] () -> (any Error)? in
      var first: (any Error)?
      for report in reports {
        do { try await report.end(summary, isComplete: isComplete) } catch { first = first ?? error }
      }
      return first
    }
    try outcome.get()
    if let failure { throw failure }
  }

  private func runAll(_ scripts: [Script]) async throws {
    var jobs: [[Job]] = []
    for repetition in 1...options.repetitions {
      for script in scripts where selectsWhole || script.tests.contains(where: selects) {
        jobs.append([Job(script: script, repetition: options.repetitions > 1 ? repetition : nil)])
      }
    }
    // Two files about one device would take it from each other.
    if options.jobs > 1 { jobs = Self.byDevice(jobs.flatMap { $0 }) { options.peer?.description ?? $0.script.device } }
    var queue = jobs[...]
    let workers = (0..<min(options.jobs, jobs.count)).map { _ in
      EventLoop.shared.spawn { () -> (any Error)? in
        do {
          while !self.isOver, let list = queue.popFirst() { for job in list where !self.isOver { try await self.run(job) } }
          return nil
        } catch {
          self.isOver = true
          return error
        }
      }
    }
    let failure = await withTaskCancellationHandler {
      var first: (any Error)?
      for worker in workers { if let error = await worker.value { first = first ?? error } }
      return first
    } onCancel: {
      for worker in workers { worker.cancel() }
    }
    if let failure { throw failure }
  }

  private static func byDevice(_ jobs: [Job], _ device: (Job) -> String?) -> [[Job]] {
    var groups: [[Job]] = []
    var places: [String: Int] = [:]
    for job in jobs {
      guard let device = device(job)?.lowercased() else {
        groups.append([job])
        continue
      }
      if let place = places[device] {
        groups[place].append(job)
      } else {
        places[device] = groups.count
        groups.append([job])
      }
    }
    return groups
  }

  private func run(_ job: Job) async throws {
    let runner = ScriptRunner(
      job.script, device: options.peer?.description, variables: options.variables, timeout: options.timeout, repetition: job.repetition,
      process)
    try await runner.run(selects) { result in
      summary.add(result.outcome)
      if case .error(let problem) = result.outcome, errorStatus == nil {
        errorStatus = Failure.Kind(rawValue: problem.kind).map { Failure($0, "").exitStatus }
      }
      for report in reports { try await report.add(result) }
      if options.endsWithFailure, result.problem != nil { isOver = true }
      return !isOver
    }
  }

  /// - Throws: ExitStatus, which says what the tests came to.
  func throwStatus() throws {
    if summary.failed > 0 { throw ExitStatus.expectation }
    if summary.errors > 0 { throw errorStatus ?? .internal }
  }
}
