import CommandLine
import EventLoop
import GATT
import Operations
import Presentation
import ScriptLanguage
import Shell
import Terminal
import TestReports
import Text

/// Runs the lines of a script.
extension ScriptRunner {
  /// Runs statements in order.
  /// - Throws: StepFailure, SkippedTest; errors that end the run.
  /// - Parameter following: The later statements, from inner to outer blocks. Their expected values may arrive early.
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
        throw StepFailure(Failure(.expectation, "The result \(Hex.encode(octets)) does not fit \(format.name)."), line)
      }
      variables.capture(name, value.text)
    case .expectResult(let extraction, let predicate): try expectResult(extraction, predicate, line)
    case .expectValue(let expected): try await expect(expected, line)
    case .expectSilence(let attribute, let within): try await expectSilence(attribute, within, line)
    case .expectDisconnection(let reason, let within): try await expectDisconnection(reason, within, line)
    case .sleep(let word):
      let text = try text(of: word, line)
      guard let pause = ScriptCheck.pause(text) else { throw mistake(ScriptTime.invalid(text), line) }
      try await EventLoop.shared.sleep(for: pause)
    case .device, .set, .repetition, .include, .skip, .note, .setup, .teardown, .test, .unreadable: break
    }
  }

  // MARK: Words

  func text(of word: ShellWord, _ line: ScriptLine) throws -> String {
    do { return try variables.text(of: word) } catch { throw mistake(error, line) }
  }

  func mistake(_ error: MissingVariable, _ line: ScriptLine) -> StepFailure {
    mistake("The variable \(error.name) has no value: the line that sets it did not run.", line)
  }

  /// Returns the failure for a mistake that only shows while the script runs.
  func mistake(_ sentence: String, _ line: ScriptLine) -> StepFailure { StepFailure(Failure(.usage, sentence), line) }

  /// Returns the text of a line, with the values of its variables.
  private func shown(_ line: ScriptLine) -> String {
    guard line.words.contains(where: { !$0.variables.isEmpty }) else { return line.source }
    return line.words.map { word in
      let text = word.replaced { variables.value($0) ?? "$\($0)" }
      return word.isQuoted ? "\"\(text)\"" : text
    }.joined(separator: " ")
  }

  /// Returns the time in a word of a line.
  /// - Parameter standard: The time if the line has no such word.
  func time(_ word: ShellWord?, _ line: ScriptLine, standard: Duration = ScriptTime.standard) throws -> Duration {
    guard let word else { return standard }
    let text = try text(of: word, line)
    guard let time = ScriptTime.parse(text) else { throw mistake(ScriptTime.invalid(text), line) }
    return time
  }

  func count(_ word: ShellWord, _ line: ScriptLine) throws -> Int {
    let text = try text(of: word, line)
    guard let count = ScriptCheck.count(text) else { throw mistake(ScriptCheck.invalidCount(text), line) }
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
        // A body without waits must not block the event loop.
        await Task.yield()
      }
      next = max(next, EventLoop.shared.now).advanced(by: pause)
      do {
        // The lines after the block, or its next round, may expect these values.
        try await run(body, then: (number < count ? [body[...]] : []) + following)
        if repetition.endsWithSuccess { return }
      } catch let error as StepFailure where repetition.endsWithSuccess && number < count && mayPass(error, body) { continue }
    }
  }

  /// Returns whether a retry can pass. A test does not reconnect unless it contains `connect`.
  private func mayPass(_ error: StepFailure, _ body: [ScriptStatement]) -> Bool {
    let connects = body.contains { statement in
      guard case .command(let command) = statement.kind, let name = command.words.first?.keyword else { return false }
      return shell.process.commands.type(named: name)?.traits.deviceChange == .connects
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
    let traits = parsed.command.traits
    let isConnect = traits.deviceChange == .connects
    if parsed.isAboutCurrent, !isConnect, traits.deviceChange != .disconnects {
      do { _ = try await link(line) } catch let error as StepFailure {
        // The connection was lost before: the command fails with this error.
        guard let expected = command.failure, error.outcome == .failed else { throw error }
        return try evaluate(error.failure, expected)
      }
    } else if isConnect {
      // An unexpected loss fails the test even if it connects again, unless `retry` runs it again.
      do { try checkLink() } catch {
        await dropLostLink()
        throw error
      }
      await dropLostLink()
      if parsed.isAboutCurrent, shell.current == nil, let device {
        words.insert(device, at: words.firstIndex(of: parsed.name).map { $0 + 1 } ?? 1)
      }
    }
    // Do not subscribe before commands that change the current device or its connection.
    if traits.deviceChange == .none { try await subscribe(for: following) }
    self.step = StepRecorder()
    var failure: Failure?
    let step = TestOutcome.Step(
      isConnection: isConnect, isFirst: presentLink == nil, isCall: parsed.command.deviceCall != nil, expectsFailure: command.failure != nil
    )
    do {
      let limit = parsed.command.limitInScript
      if !step.expectsFailure, step.isConnection || step.isFirst {
        try await twice(isConnect: isConnect) { try await self.shell.run(words, within: limit) }
      } else {
        try await shell.run(words, within: limit)
      }
    } catch {
      try Self.passOn(error)
      failure = Failure(error)
    }
    result = self.step.record.map(ScriptResult.init)
    if let expected = command.failure { return try evaluate(failure, expected, in: step) }
    if let failure { throw StepFailure(failure, line, in: step) }
    // Subscribe from the start of the connection.
    if isConnect { try await subscribe(for: following) }
    if traits.endsSubscriptions { try await subscriptions.end() }
  }

  private func evaluate(_ failure: Failure?, _ expected: ExpectedFailure, in step: TestOutcome.Step = .init()) throws {
    let kind = try expected.kind.map { try text(of: $0, expected.line) }
    guard let failure else {
      var error = StepFailure(Failure(.expectation, "The previous command succeeded instead of failing."), expected.line)
      error.expected = kind.map { "failure: \($0)" } ?? "failure"
      error.actual = result.flatMap { $0.octets == nil ? nil : shown($0) } ?? "success"
      throw error
    }
    // A mistake in the script or the setup is not a failure of the device.
    if kind == nil, [.adapter, .usage, .input, .output, .notFound, .ambiguous, .internal].contains(failure.kind) {
      throw StepFailure(failure, expected.line, in: step)
    }
    // A request without an answer ends the connection, too.
    if failure.kind == .linkLost || shell.current?.connection?.isOpen == false { expectsLoss = true }
    result = ScriptResult(Self.record(of: failure))
    guard let kind, kind != failure.kind.rawValue, kind != failure.name else { return }
    if let code = ScriptCheck.number(kind), failure.code == Int(code) { return }
    var error = StepFailure(
      Failure(.expectation, "The previous command failed with a different error: \(failure.message)"), expected.line)
    error.expected = kind
    error.actual = [failure.kind.rawValue, failure.name, failure.code.map { "0x" + Hex.encode([UInt8(truncatingIfNeeded: $0)]) }].compactMap
    { $0 }.joined(separator: " ")
    throw error
  }

  /// Returns the record of a failure.
  private static func record(of failure: Failure) -> JSONTree {
    RecordWriter.value {
      $0.string("event", "error")
      failure.write(&$0)
    }
  }

  // MARK: Looking ahead

  /// Subscribes for the `expect` lines before the next command, because values may arrive early. Ignores errors, which those lines report.
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

  /// Adds the attributes that the statements up to the first command expect. Returns whether there is a command.
  private func expected(by statements: ArraySlice<ScriptStatement>, _ attributes: inout [String]) -> Bool {
    for statement in statements {
      switch statement.kind {
      case .expectValue(let expected): if let text = try? variables.text(of: expected.attribute) { attributes.append(text) }
      case .expectSilence(let attribute, _): if let text = try? variables.text(of: attribute) { attributes.append(text) }
      case .repetition(_, let body): if expected(by: body[...], &attributes) { return true }
      case .command(let command):
        guard command.words.contains(where: { $0.keyword.map { shell.process.commands.takesEarlierValues([$0]) } ?? false }) else {
          return true
        }
        let words = command.words.compactMap { try? variables.text(of: $0) }
        guard words.count == command.words.count, let line = try? shell.parse(words), line.isAboutCurrent,
          let attribute = line.command.awaitedAttribute
        else { return true }
        attributes.append(attribute)
      case .capture: return true
      case .device, .set, .expectResult, .expectDisconnection, .sleep, .include, .skip, .note, .setup, .teardown, .test, .unreadable: break
      }
    }
    return false
  }
}

extension Shell {
  /// Runs a command with a time limit.
  /// - Throws: The errors of `run`; Failure(.timeout).
  fileprivate func run(_ words: [String], within limit: Duration?) async throws {
    guard let limit else { return try await run(words) }
    let end = EventLoop.shared.now.advanced(by: limit)
    guard try await withDeadline(end, { try await self.run(words) }) != nil else {
      throw Failure(.timeout, "Not all values arrived in \(limit.secondsText) s. To wait longer, use --duration.")
    }
  }
}
