import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

/// Commands from standard input, one a line, and their answers. With JSON for programs: commands of several devices run side by side, and each is
/// answered by its records and one that says that it is done. Without, one after the other.
@LoopActor
final class InputSession {
  private let shell: Shell
  private let output: Output
  private let reader = LineReader(limit: lineLimit)
  private var running: [(id: CommandIdentifier, job: ShellJob, task: Task<Void, Never>)] = []
  private var roomForMore: Wait<Void>?
  /// Of the first line that failed.
  private var firstFailure: (line: Int, status: ExitStatus)?
  private let broken = Wait<Void>()

  /// Octets of a line: a value of 1 MiB in hex, and a command around it.
  static let lineLimit = 4 << 20
  /// Commands that may wait: more are not read.
  static let pendingLimit = 4096

  init(_ shell: Shell) {
    self.shell = shell
    output = shell.process.output
  }

  private var isJSON: Bool { output.style.json }

  /// - Parameters:
  ///   - peer: connected first.
  ///   - link: the device whose loss ends it, unless it is to be made again.
  /// - Throws: ExitStatus, that of the first line that failed; OutputFailure; CancellationError.
  func run(connecting peer: PeerArgument?, endingWith link: Lane?) async throws {
    do {
      try await race(
        { try await self.conversation(connecting: peer) },
        {
          // Nobody takes the answers any more; or the one device is gone.
          guard let link else { return try await self.broken.value() }
          try await race({ try await self.broken.value() }, { try await self.shell.untilLost(link) })
        })
      await endAll(cancelling: { _ in false })
    } catch {
      for entry in running {
        entry.job.cancel()
        // Who waits for a reader waits no longer.
        entry.task.cancel()
      }
      await endAll(cancelling: { _ in false })
      throw error
    }
    if let firstFailure { throw firstFailure.status }
  }

  private func conversation(connecting peer: PeerArgument?) async throws {
    defer { EventLoop.shared.timeStandsStill = false }
    if let peer { try await shell.run(["connect", peer.description]) }
    var number = 0
    while true {
      if running.count >= Self.pendingLimit {
        let wait = Wait<Void>()
        roomForMore = wait
        try await wait.value()
      }
      EventLoop.shared.timeStandsStill = running.isEmpty
      let line = try await reader.next()
      EventLoop.shared.timeStandsStill = false
      guard let line else { break }
      number += 1
      try await take(line, number)
    }
    // What runs until it is stopped has been stopped.
    await endAll { $0.runsUntilStopped }
  }

  // MARK: Lines

  private func take(_ line: LineReader.Line, _ number: Int) async throws {
    switch line {
    case .tooLong:
      try await answer(.line(number), number, Failure(.usage, "the line has more than \(Self.lineLimit) octets; it was passed over"))
    case .octets(let octets):
      guard let text = String(validating: octets, as: UTF8.self) else {
        return try await answer(.line(number), number, Failure(.usage, "the line is not UTF-8"))
      }
      do {
        let request = try CommandRequest(text, line: number)
        try await take(request.id, request.command, number: number)
      } catch let error as CommandRequest.Malformed { try await answer(error.id, number, error.failure) }
    }
  }

  private func take(_ id: CommandIdentifier, _ text: String, number: Int) async throws {
    do {
      if !isJSON, text.hasPrefix("!") { return try await shell.run(line: text) }
      let words = try ShellWords.words(of: text)
      if words.isEmpty {
        // Comments and blank lines have no answer where people read it; a program that asks gets one.
        if isJSON, !id.isLine { try await answer(id, number, nil) }
        return
      }
      if words.first == Self.cancel { return try await answer(id, number, cancel(words)) }
      let job = try await shell.start(words, members: isJSON ? id.member : [])
      guard isJSON else { return try await answer(id, number, await job.failureCancellingWithTask()) }
      follow(job, id, number)
    } catch {
      if error is CancellationError || error is OutputFailure { throw error }
      try await answer(id, number, error)
    }
  }

  private func follow(_ job: ShellJob, _ id: CommandIdentifier, _ number: Int) {
    let task = EventLoop.shared.spawn { [self] in
      let failure = await job.failure()
      do { try await answer(id, number, job.wasEndedByInput && failure is CancellationError ? nil : failure, of: job.lane) } catch {
        broken.resume(throwing: error)
      }
      running.removeAll { $0.job === job }
      if running.isEmpty { EventLoop.shared.timeStandsStill = reader.isWaiting }
      roomForMore?.resume(returning: ())
    }
    running.append((id, job, task))
  }

  /// `cancel ID`.
  static let cancel = "cancel"

  private func cancel(_ words: [String]) -> Failure? {
    guard isJSON else { return Failure(.usage, "cancel is for programs: commands run one after the other here; Ctrl-C ends the session") }
    guard words.count == 2 else { return Failure(.usage, "cancel takes one ID: that of a command that has not been answered") }
    let meant = running.filter { $0.id.text == words[1] }
    if meant.isEmpty { return Failure(.notFound, "no command with the ID \(DisplayText.quote(words[1])) is running or waiting") }
    for entry in meant { entry.job.cancel() }
    return nil
  }

  // MARK: Answers

  private func answer(_ id: CommandIdentifier, _ number: Int, _ error: (any Error)?, of lane: Lane? = nil) async throws {
    if let error = error as? OutputFailure { throw error }
    let failure = error.flatMap { Self.failure($0) }
    let status = Self.status(error)
    if status != .done, number < firstFailure?.line ?? .max { firstFailure = (number, status) }
    guard isJSON else {
      guard var failure else { return }
      if number > 0 { failure.message = "line \(number): \(failure.message)" }
      return output.failure(failure.message)
    }
    let answer = Output(output.style, sharing: output)
    answer.members = { [shell] in shell.members(of: lane) }
    try await answer.record {
      $0.string("event", "done")
      id.write(&$0)
      $0.integer("status", status.rawValue)
      if let failure { $0.object("error") { failure.write(&$0) } }
    }
  }

  private static func status(_ error: (any Error)?) -> ExitStatus {
    switch error {
    case nil: .done
    case let status as ExitStatus: status
    case is CancellationError: .interrupted
    case let error?: Failure(error).exitStatus
    }
  }

  /// Nil for what was told already.
  private static func failure(_ error: any Error) -> Failure? {
    switch error {
    case is ExitStatus: nil
    case is CancellationError: Failure(.interrupted, "cancelled")
    default: Failure(error)
    }
  }

  private func endAll(cancelling isMeant: (ShellJob) -> Bool) async {
    for entry in running where isMeant(entry.job) { entry.job.endByInput() }
    while let entry = running.first {
      await withTaskCancellationHandler(operation: { await entry.task.value }, onCancel: { entry.job.cancel() })
      running.removeAll { $0.job === entry.job }
    }
  }
}
