import BluetoothLELinux
import CommandLine
import DequeModule

/// A session that runs the commands from standard input, one per line. With `--json`, commands of several devices run at the same time, and
/// a `done` record ends the answer to each command.
@LoopActor
final class InputSession {
  private let shell: Shell
  private let answers: LineAnswers
  private let reader = LineReader(limit: lineLimit)
  private var number = 0
  private var hasEnded = false
  /// The lines that the session has read but not parsed yet.
  private var waiting: Deque<CommandRequest> = []
  /// The line that the session has removed from `waiting` but not started yet. Nil between lines.
  private var beginning: (id: CommandIdentifier, isCancelled: Bool)?
  private var running: [(id: CommandIdentifier, job: ShellJob, task: Task<Void, Never>)] = []
  /// The approximate memory of all lines without an answer, in bytes.
  private var bytes = 0
  /// Whether the program has given its own ID to any line.
  private var hasOwnIDs = false
  /// The wait that ends when the session reads a line or when a command ends.
  private var change = Wait<Void>()
  private let broken = Wait<Void>()

  /// The maximum length of a line in bytes. A command with a value of 1 MiB in hex fits in a line.
  static let lineLimit = 4 << 20
  /// The maximum memory of unanswered lines in bytes. The session refuses further lines, except `cancel`.
  static let byteLimit = 64 << 20
  /// The maximum number of commands that run or wait for their device.
  static let runningLimit = 4096

  init(_ shell: Shell) {
    self.shell = shell
    answers = LineAnswers(shell)
    shell.isForPrograms = isJSON
  }

  private var isJSON: Bool { answers.areRecords }

  /// Runs the session until its input ends.
  /// - Parameters:
  ///   - peer: The device to connect first. Nil to connect none.
  ///   - link: The device whose loss ends the session, unless the session restores lost connections. Nil for no such device.
  /// - Throws: The ExitStatus of the first line that failed; OutputFailure; CancellationError.
  func run(connecting peer: PeerArgument?, endingWith link: SessionDevice?) async throws {
    do {
      try await race(
        { try await self.conversation(connecting: peer) },
        {
          // End if the output is closed, or if the only device is lost.
          guard let link else { return try await self.broken.value() }
          try await race({ try await self.broken.value() }, { try await self.shell.untilLost(link) })
        })
    } catch {
      for entry in running {
        entry.job.cancel()
        // Also cancel the tasks that wait for the reader of the output.
        entry.task.cancel()
      }
      for entry in running { await entry.task.value }
      throw error
    }
    try answers.finish()
  }

  private func conversation(connecting peer: PeerArgument?) async throws {
    if let peer { try await shell.run(["connect", peer.description]) }
    // Without JSON, do not read while a command runs: it may read standard input itself.
    let reading = isJSON ? EventLoop.shared.spawn { await self.read() } : nil
    defer {
      reading?.cancel()
      EventLoop.shared.virtualTime.standsStill = false
    }
    while true {
      if shell.isOver { endLines() }
      if !isHeld, running.count < Self.runningLimit, let line = waiting.popFirst() {
        try await begin(line)
        settle()
      } else if hasEnded, waiting.isEmpty, running.isEmpty {
        return
      } else if !isJSON {
        try await readLine()
      } else {
        try await change.value()
      }
    }
  }

  /// Whether the session must wait for the end of the last started command before it starts the next line.
  private var isHeld: Bool { running.last?.job.holdsLines ?? false }

  /// Resumes the loop that takes lines. Call it after a line arrived or a command ended. Stops virtual time if blectl only waits for input.
  private func settle() {
    change.resume(returning: ())
    change = Wait()
    if isIdle { EventLoop.shared.virtualTime.standsStill = reader.isWaiting }
  }

  /// Ends the input after `exit`. Discards the lines that the session has read but not started.
  private func endLines() {
    hasEnded = true
    for line in waiting { bytes -= line.bytes }
    waiting = []
  }

  private var isIdle: Bool { running.isEmpty && waiting.isEmpty && beginning == nil }

  // MARK: Lines

  private func read() async {
    do { while !hasEnded, !shell.isOver { try await readLine() } } catch { if !shell.isOver { broken.resume(throwing: error) } }
  }

  private func readLine() async throws {
    EventLoop.shared.virtualTime.standsStill = isIdle || shell.process.questions.areOpen
    let line = try await reader.next()
    EventLoop.shared.virtualTime.standsStill = false
    if shell.isOver { return }
    number += 1
    switch line {
    case nil:
      hasEnded = true
      shell.endInput()
    case .tooLong?:
      try await answers.write(
        .unknown(line: number), number, Failure(.usage, "The line is longer than \(Self.lineLimit) bytes and was skipped."))
    case .bytes(var bytes)?:
      // Skip a byte order mark.
      if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
      if let text = String(validating: bytes, as: UTF8.self) {
        do {
          let request = try CommandRequest(text, line: number)
          defer { hasOwnIDs = hasOwnIDs || request.id.isOwn }
          try await take(request)
        } catch let error as CommandRequest.Malformed {
          hasOwnIDs = hasOwnIDs || error.id.isOwn
          try await answers.write(error.id, number, error.failure)
        }
      } else {
        try await answers.write(.unknown(line: number), number, Failure(.usage, "The line is not UTF-8."))
      }
    }
    settle()
  }

  private func take(_ request: CommandRequest) async throws {
    var line = request
    line.isAmongIDs = hasOwnIDs
    // `cancel` does not wait for other commands.
    if line.bytes < 4096, let words = try? ShellWords.words(of: line.command), words.first == Self.cancel {
      return try await answers.write(line.id, number, try await cancel(words))
    }
    // A running command waits for it.
    if isJSON, line.bytes < 4096, let words = try? ShellWords.words(of: line.command), words.first == Self.answer {
      let failure =
        words.count == 3
        ? shell.process.questions.answer(words[1], words[2])
        : Failure(.usage, "answer takes the ID of a command and the answer to its question.")
      return try await answers.write(line.id, number, failure)
    }
    // A file does not wait for answers, so its remaining lines can wait there.
    while bytes + line.bytes > Self.byteLimit, StandardInput.isFile { try await change.value() }
    guard bytes + line.bytes <= Self.byteLimit else {
      return try await answers.write(
        line.id, number, Failure(.usage, "Too many commands are waiting (\(Self.byteLimit >> 20) MiB). Send this one again later."))
    }
    waiting.append(line)
    bytes += line.bytes
  }

  /// Starts a command. Without `--json`, also waits until the command ends.
  private func begin(_ line: CommandRequest) async throws {
    beginning = (line.id, false)
    var isFollowed = false
    defer {
      beginning = nil
      if !isFollowed { bytes -= line.bytes }
    }
    do {
      if !isJSON { return try await run(line) }
      let words = try ShellWords.words(of: line.command)
      if words.isEmpty {
        // Comments and blank lines have no answer, except for a program that gave an ID.
        if line.id.isOwn { try await answers.write(line.id, line.number, nil) }
        return
      }
      let job = try await shell.start(words, members: line.id.member)
      if beginning?.isCancelled ?? false { job.cancel() }
      follow(job, line)
      isFollowed = true
    } catch {
      if error is CancellationError || error is OutputFailure { throw error }
      let isMalformed = line.isAmongIDs && !line.id.isOwn && !isCommand(line.command)
      try await answers.write(isMalformed ? .unknown(line: line.number) : line.id, line.number, error)
    }
  }

  private func isCommand(_ line: String) -> Bool {
    (try? ShellWords.words(of: line)).flatMap { shell.process.commands.type(of: $0) } != nil
  }

  /// Runs a line of a session without JSON and reports its failure. Throws OutputFailure, or CancellationError when the session ends.
  private func run(_ line: CommandRequest) async throws {
    do { try await shell.run(line: line.command) } catch {
      if Task.isCancelled { throw CancellationError() }
      try await answers.write(line.id, line.number, error)
    }
  }

  private func follow(_ job: ShellJob, _ line: CommandRequest) {
    let task = EventLoop.shared.spawn { [self] in
      let failure = await job.failure()
      do { try await answers.write(line.id, line.number, failure, of: job.device) } catch { broken.resume(throwing: error) }
      running.removeAll { $0.job === job }
      bytes -= line.bytes
      settle()
    }
    running.append((line.id, job, task))
  }

  /// The name of the command `answer ID TEXT`, which answers the question of a command.
  static let answer = "answer"

  /// The name of the command `cancel ID`, which stops another command.
  static let cancel = "cancel"

  private func cancel(_ words: [String]) async throws -> Failure? {
    guard isJSON else { return Failure(.usage, "cancel needs repl --json: here, one command runs at a time. Press Ctrl-C to stop it.") }
    guard words.count == 2 else { return Failure(.usage, "cancel takes the ID of a command that is running or waiting.") }
    let isMeant = { (id: CommandIdentifier) in id.text == words[1] }
    var isKnown = false
    if let id = beginning?.id, isMeant(id) {
      beginning = (id, true)
      isKnown = true
    }
    for entry in running where isMeant(entry.id) {
      entry.job.cancel()
      isKnown = true
    }
    let lines = waiting.filter { isMeant($0.id) }
    waiting.removeAll { isMeant($0.id) }
    for line in lines {
      bytes -= line.bytes
      try await answers.write(line.id, line.number, CancellationError())
    }
    guard isKnown || !lines.isEmpty else {
      return Failure(.notFound, "No command with the ID \(DisplayText.quote(words[1])) is running or waiting.")
    }
    return nil
  }
}
