import EventLoop
import GATT
import Operations
import Terminal
import Text

/// The lines of a script, one after the other.
extension ScriptRunner {
  /// - Throws: StepFailure, SkippedTest; what ends the run.
  /// - Parameter following: what is run after these, from the inside to the outside: values that it expects may come earlier.
  func run(_ statements: [ScriptStatement], then following: [ArraySlice<ScriptStatement>] = []) async throws {
    for (index, statement) in statements.enumerated() {
      let rest = [statements[(index + 1)...]] + following
      try Task.checkCancellation()
      switch statement.kind {
      case .repetition(let repetition, let body): try await run(repetition, body, statement.line, then: rest)
      case .skip(let word): throw SkippedTest(reason: try word.map { try text(of: $0, statement.line) } ?? "")
      case .note(let word): note(try text(of: word, statement.line))
      case .set(let name, let word): variables.set(name, try text(of: word, statement.line))
      case .device, .include, .setup, .teardown, .test, .unreadable: break
      case .command, .capture, .expectResult, .expectValue, .expectSilence, .expectDisconnection, .sleep:
        try await runStep(statement, before: rest)
      }
    }
  }

  private func runStep(_ statement: ScriptStatement, before following: [ArraySlice<ScriptStatement>]) async throws {
    let line = statement.line
    lastLine = line
    let begin = EventLoop.shared.now
    step = StepRecorder()
    var failure: (any Error)?
    do { try await runOne(statement, before: following) } catch var error as StepFailure {
      error.took = error.took ?? begin.duration(to: EventLoop.shared.now)
      if error.others.isEmpty { error.others = otherValues() }
      failure = error
    } catch { failure = error }
    if steps.count < Self.limit {
      steps.append(
        StepResult(
          file: line.place.file, line: line.place.line, text: shown(line), at: start.duration(to: begin),
          duration: begin.duration(to: EventLoop.shared.now), failed: failure != nil, values: step.values))
    } else {
      omittedSteps += 1
    }
    if let failure { throw failure }
  }

  private func runOne(_ statement: ScriptStatement, before following: [ArraySlice<ScriptStatement>]) async throws {
    let line = statement.line
    switch statement.kind {
    case .command(let command): try await run(command, line, before: following)
    case .capture(let name, let command, let extraction):
      try await run(command, line, before: following)
      let value = try value(extraction, line)
      if case .formatted(let octets, let format) = value, format.numberOctets != nil, value.numbers == nil {
        throw StepFailure(Failure(.expectation, "\(octets.count) octet(s) do not fit \(format.name): \(Hex.encode(octets))"), line)
      }
      variables.capture(name, value.text)
    case .expectResult(let extraction, let predicate): try expectResult(extraction, predicate, line)
    case .expectValue(let expected): try await expect(expected, line)
    case .expectSilence(let attribute, let within): try await expectSilence(attribute, within, line)
    case .expectDisconnection(let reason, let within): try await expectDisconnection(reason, within, line)
    case .sleep(let word):
      guard let pause = ScriptCheck.pause(try text(of: word, line)) else { throw mistake("sleep takes a time: 500ms, 2s, 1m", line) }
      try await EventLoop.shared.sleep(for: pause)
    case .device, .set, .repetition, .include, .skip, .note, .setup, .teardown, .test, .unreadable: break
    }
  }

  func take(_ bytes: [UInt8], _ isCommand: Bool) {
    step.take(bytes, at: start.duration(to: EventLoop.shared.now), isCommand: isCommand) { meaning(of: $0, in: $1) }
  }

  // MARK: Words

  func text(of word: ShellWord, _ line: ScriptLine) throws -> String {
    do { return try variables.text(of: word) } catch {
      throw mistake("the variable \(error.name) has no value: the line that gives it one did not run", line)
    }
  }

  /// What is wrong with the script, which could be seen only now.
  func mistake(_ sentence: String, _ line: ScriptLine) -> StepFailure { StepFailure(Failure(.usage, sentence), line) }

  /// With the values of its variables.
  private func shown(_ line: ScriptLine) -> String {
    guard line.words.contains(where: { !$0.variables.isEmpty }) else { return line.source }
    return line.words.map { word in
      let text = word.replaced { variables.value($0) ?? "$\($0)" }
      return word.isQuoted ? "\"\(text)\"" : text
    }.joined(separator: " ")
  }

  /// - Parameter standard: when nothing is said.
  func time(_ word: ShellWord?, _ line: ScriptLine, standard: Duration = ScriptTime.standard) throws -> Duration {
    guard let word else { return standard }
    let text = try text(of: word, line)
    guard let time = ScriptTime.parse(text) else { throw mistake("\(DisplayText.quote(text)) is no time: 500ms, 2s, 1m", line) }
    return time
  }

  func count(_ word: ShellWord, _ line: ScriptLine) throws -> Int {
    let text = try text(of: word, line)
    guard let count = ScriptCheck.count(text) else { throw mistake("\(DisplayText.quote(text)) is no number of times", line) }
    return count
  }

  // MARK: Repetition

  private func run(
    _ repetition: Repetition, _ body: [ScriptStatement], _ line: ScriptLine, then following: [ArraySlice<ScriptStatement>]
  ) async throws {
    let count = try count(repetition.count, line)
    let pause = try repetition.every.map { try time($0, line) } ?? .zero
    if repetition.endsWithSuccess { retryDepth += 1 }
    defer { if repetition.endsWithSuccess { retryDepth -= 1 } }
    var next = EventLoop.shared.now
    for number in 1...count {
      if number > 1 {
        try await EventLoop.shared.sleep(until: next)
        // A body without a wait must not keep the loop from everything else.
        await Task.yield()
      }
      next = max(next, EventLoop.shared.now).advanced(by: pause)
      do {
        // What follows may expect what the last one brings, or the first.
        try await run(body, then: (number < count ? [body[...]] : []) + following)
        if repetition.endsWithSuccess { return }
      } catch let error as StepFailure where repetition.endsWithSuccess && number < count && mayPass(error, body) { continue }
    }
  }

  /// Whether another try has a chance: a lost link is not made again within a test, unless it says so.
  private func mayPass(_ error: StepFailure, _ body: [ScriptStatement]) -> Bool {
    let connects = body.contains { statement in
      if case .command(let command) = statement.kind { command.words.first?.keyword == "connect" } else { false }
    }
    return error.failure.kind != .usage && (connects || presentLink?.connection.isOpen ?? true)
  }

  // MARK: Commands

  private func run(_ command: ScriptCommand, _ line: ScriptLine, before following: [ArraySlice<ScriptStatement>]) async throws {
    var words: [String] = []
    for word in command.words { words.append(try text(of: word, line)) }
    words = ScriptLoader.paths(of: words, in: line.place.file)
    let parsed: ShellLine
    do { parsed = try shell.parse(words) } catch { throw mistake(Failure(error).message, line) }
    let isConnect = parsed.command is Connect
    if parsed.isAboutCurrent, !isConnect, !(parsed.command is Disconnect) {
      do { _ = try await link(line) } catch let error as StepFailure {
        // The link that there was is gone: this is what the command fails with.
        guard let expected = command.failure, !error.isAround else { throw error }
        return try judge(error.failure, expected)
      }
    } else if isConnect {
      // A loss that nothing has expected is not made good by connecting again, but by a further try it may be.
      do { try checkLink() } catch {
        await dropLostLink()
        throw error
      }
      await dropLostLink()
      if parsed.isAboutCurrent, shell.current == nil, let device {
        words.insert(device, at: words.firstIndex(of: "connect").map { $0 + 1 } ?? 1)
      }
    }
    // Those that change which device is meant, or end its link, are followed by others.
    if !(isConnect || parsed.command is Disconnect || parsed.command is Use) { try await subscribe(for: following) }
    step = StepRecorder()
    var failure: Failure?
    let isSetup = command.failure == nil && (isConnect || presentLink == nil)
    do {
      let limit = Self.limit(of: parsed.command)
      if isSetup {
        try await twice(isConnect: isConnect) { try await self.shell.run(words, within: limit) }
      } else {
        try await shell.run(words, within: limit)
      }
    } catch {
      try Self.passOn(error)
      failure = Failure(error)
    }
    result = step.record.map(ScriptResult.init)
    // That the device's file does not have it is not the device's failure.
    let isAround = isConnect || parsed.command is Call && (failure?.isRefusal ?? false)
    if let expected = command.failure { return try judge(failure, expected, isAround: isAround) }
    if let failure, isSetup, isConnect || failure.kind == .adapter { throw StepFailure.setup(failure, line) }
    if let failure { throw StepFailure(failure, line, isAround: isAround) }
    // What comes of a link that a script makes is looked for from its beginning.
    if isConnect { try await subscribe(for: following) }
    if parsed.command is Unsubscribe { try await subscriptions.end() }
  }

  /// Of a command that waits for a number of values, and has none of its own: a device that sends none must not keep the others waiting.
  private static func limit(of command: any LoopCommand) -> Duration? {
    guard let notify = command as? Notify, notify.duration ?? 0 == 0, notify.step.timeout == nil else { return nil }
    return .seconds(60)
  }

  /// - Parameter isAround: not the device failed, but what is around it.
  private func judge(_ failure: Failure?, _ expected: ExpectedFailure, isAround: Bool = false) throws {
    let kind = try expected.kind.map { try text(of: $0, expected.line) }
    guard let failure else {
      var error = StepFailure(Failure(.expectation, "the command before this line was to fail, and did not"), expected.line)
      error.expected = kind.map { "a failure: \($0)" } ?? "a failure"
      error.actual = result.flatMap { $0.octets == nil ? nil : shown($0) } ?? "it succeeded"
      throw error
    }
    // What is wrong with the script or around the device is no answer of the device's.
    if kind == nil, [.adapter, .usage, .input, .output, .notFound, .ambiguous, .internal].contains(failure.kind) {
      throw StepFailure(failure, expected.line, isAround: isAround)
    }
    // Also after a request without an answer, which ends the link.
    if failure.kind == .linkLost || shell.current?.connection?.isOpen == false { expectsLoss = true }
    result = ScriptResult(Self.record(of: failure))
    guard let kind, kind != failure.kind.rawValue, kind != failure.name else { return }
    if let code = ScriptCheck.number(kind), failure.code == Int(code) { return }
    var error = StepFailure(
      Failure(.expectation, "the command before this line failed in another way: \(failure.message)"), expected.line)
    error.expected = kind
    error.actual = [failure.kind.rawValue, failure.name, failure.code.map { "0x" + Hex.encode([UInt8(truncatingIfNeeded: $0)]) }].compactMap
    { $0 }.joined(separator: " ")
    throw error
  }

  /// As JSON has it.
  private static func record(of failure: Failure) -> JSONTree {
    var json = JSONLine()
    json.string("event", "error")
    failure.write(&json)
    return (try? JSONTree.parse(json.finished())) ?? JSONTree(kind: .null, line: 1)
  }

  // MARK: Looking ahead

  /// What the lines up to the next command expect may come before they are looked at. What is wrong with them they say themselves.
  private func subscribe(for following: [ArraySlice<ScriptStatement>]) async throws {
    var attributes: [String] = []
    for statements in following { if expected(by: statements, &attributes) { break } }
    for attribute in attributes {
      guard let selector = try? Selector(attribute), let connection = shell.current?.connection, connection.isOpen else { continue }
      do {
        _ = try await subscriptions.add(try await connection.client.characteristic(selector), connection.client)
      } catch { if error is CancellationError { throw error } }
    }
  }

  /// Adds the attributes of those up to the first command. - Returns: whether there is one.
  private func expected(by statements: ArraySlice<ScriptStatement>, _ attributes: inout [String]) -> Bool {
    for statement in statements {
      switch statement.kind {
      case .expectValue(let expected): if let text = try? variables.text(of: expected.attribute) { attributes.append(text) }
      case .expectSilence(let attribute, _): if let text = try? variables.text(of: attribute) { attributes.append(text) }
      case .repetition(_, let body): if expected(by: body[...], &attributes) { return true }
      case .command(let command):
        guard command.words.contains(where: { $0.keyword == "wait" }) else { return true }
        let words = command.words.compactMap { try? variables.text(of: $0) }
        guard words.count == command.words.count, let line = try? ShellLine(words, shell.settings), line.isAboutCurrent,
          let wait = line.command as? WaitForValue
        else { return true }
        attributes.append(wait.pattern.attribute)
      case .capture: return true
      case .device, .set, .expectResult, .expectDisconnection, .sleep, .include, .skip, .note, .setup, .teardown, .test, .unreadable: break
      }
    }
    return false
  }
}

extension Shell {
  /// - Throws: as `run`; Failure(.timeout).
  fileprivate func run(_ words: [String], within limit: Duration?) async throws {
    guard let limit else { return try await run(words) }
    let end = EventLoop.shared.now.advanced(by: limit)
    guard try await withDeadline(end, { try await self.run(words) }) != nil else {
      throw Failure(.timeout, "not all of it came within \(limit.secondsText) s; --duration allows another time")
    }
  }
}
