import Bluetooth
import EventLoop
import GATT
import Operations
import Terminal
import Text

/// The lines of a script, one after the other.
extension ScriptRunner {
  /// - Throws: StepFailure, SkippedTest; what ends the run.
  func run(_ statements: [ScriptStatement]) async throws {
    for (index, statement) in statements.enumerated() {
      try Task.checkCancellation()
      switch statement.kind {
      case .repetition(let repetition, let body): try await run(repetition, body, statement.line)
      case .skip(let word): throw SkippedTest(reason: try word.map { try text(of: $0, statement.line) } ?? "")
      case .note(let word): note(try text(of: word, statement.line))
      case .set(let name, let word): variables.set(name, try text(of: word, statement.line))
      case .device, .include, .setup, .teardown, .test: break
      case .command, .capture, .expectResult, .expectValue, .expectSilence, .expectDisconnection, .sleep:
        try await runStep(statement, before: statements[(index + 1)...])
      }
    }
  }

  private func runStep(_ statement: ScriptStatement, before following: ArraySlice<ScriptStatement>) async throws {
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

  private func runOne(_ statement: ScriptStatement, before following: ArraySlice<ScriptStatement>) async throws {
    let line = statement.line
    switch statement.kind {
    case .command(let command): try await run(command, line, before: following)
    case .capture(let name, let command, let extraction):
      try await run(command, line, before: following)
      variables.capture(name, try value(extraction, line).text)
    case .expectResult(let extraction, let predicate): try expectResult(extraction, predicate, line)
    case .expectValue(let expected): try await expect(expected, line)
    case .expectSilence(let attribute, let within): try await expectSilence(attribute, within, line)
    case .expectDisconnection(let reason, let within): try await expectDisconnection(reason, within, line)
    case .sleep(let word):
      guard let pause = ScriptCheck.pause(try text(of: word, line)) else { throw mistake("sleep takes a time: 500ms, 2s, 1m", line) }
      try await EventLoop.shared.sleep(for: pause)
    case .device, .set, .repetition, .include, .skip, .note, .setup, .teardown, .test: break
    }
  }

  func take(_ bytes: [UInt8], _ isCommand: Bool) {
    step.take(bytes, at: start.duration(to: EventLoop.shared.now), isCommand: isCommand)
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

  private func run(_ repetition: Repetition, _ body: [ScriptStatement], _ line: ScriptLine) async throws {
    let count = try count(repetition.count, line)
    let pause = try repetition.every.map { try time($0, line) } ?? .zero
    var next = EventLoop.shared.now
    for number in 1...count {
      if number > 1 {
        try await EventLoop.shared.sleep(until: next)
        // A body without a wait must not keep the loop from everything else.
        await Task.yield()
      }
      next = max(next, EventLoop.shared.now).advanced(by: pause)
      do {
        try await run(body)
        if repetition.endsWithSuccess { return }
      } catch let error as StepFailure where repetition.endsWithSuccess && number < count && error.failure.kind != .usage {
        continue
      }
    }
  }

  // MARK: Commands

  private func run(_ command: ScriptCommand, _ line: ScriptLine, before following: ArraySlice<ScriptStatement>) async throws {
    var words: [String] = []
    for word in command.words { words.append(try text(of: word, line)) }
    let parsed: ShellLine
    do { parsed = try ShellLine(words, shell.settings) } catch { throw mistake(Failure(error).message, line) }
    let isConnect = parsed.command is Connect
    if parsed.isAboutCurrent, !isConnect, !(parsed.command is Disconnect) {
      do { _ = try await link(line) } catch let error as StepFailure {
        // The link that there was is gone: this is what the command fails with.
        guard let expected = command.failure, !error.isAround else { throw error }
        return try judge(error.failure, expected)
      }
    } else if isConnect {
      await dropLostLink()
      if parsed.isAboutCurrent, shell.current == nil, let device {
        words.insert(device, at: words.firstIndex(of: "connect").map { $0 + 1 } ?? 1)
      }
    }
    if !isConnect { try await subscribe(for: following) }
    expectsLoss = false
    step = StepRecorder()
    var failure: Failure?
    do { try await shell.run(words) } catch {
      try Self.passOn(error)
      failure = Failure(error)
    }
    result = step.record.map(ScriptResult.init)
    if let expected = command.failure { return try judge(failure, expected) }
    if let failure { throw StepFailure(failure, line, isAround: isConnect) }
    // What comes of a link that a script makes is looked for from its beginning.
    if isConnect { try await subscribe(for: following) }
  }

  private func judge(_ failure: Failure?, _ expected: ExpectedFailure) throws {
    let kind = try expected.kind.map { try text(of: $0, expected.line) }
    guard let failure else {
      var error = StepFailure(Failure(.expectation, "the command before this line was to fail, and did not"), expected.line)
      error.expected = kind.map { "a failure: \($0)" } ?? "a failure"
      error.actual = result.flatMap { $0.octets == nil ? nil : shown($0) } ?? "it succeeded"
      throw error
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
  private func subscribe(for statements: ArraySlice<ScriptStatement>) async throws {
    for attribute in Self.attributes(in: statements).list {
      guard let text = try? variables.text(of: attribute), let selector = try? Selector(text), let connection = shell.current?.connection,
        connection.isOpen
      else { return }
      do {
        _ = try await subscriptions.add(try await connection.client.characteristic(selector), connection.client)
      } catch { if error is CancellationError { throw error } }
    }
  }

  /// - Returns: those up to the first command, and whether there is one.
  private static func attributes(in statements: ArraySlice<ScriptStatement>) -> (list: [ShellWord], ends: Bool) {
    var list: [ShellWord] = []
    for statement in statements {
      switch statement.kind {
      case .expectValue(let expected): list.append(expected.attribute)
      case .expectSilence(let attribute, _): list.append(attribute)
      case .command(let command) where command.words.first?.keyword == "wait" && command.words.count > 1:
        list.append(Self.attribute(ofPattern: command.words[1]))
      case .repetition(_, let body):
        let inside = attributes(in: body[...])
        list += inside.list
        if inside.ends { return (list, true) }
      case .command, .capture: return (list, true)
      case .device, .set, .expectResult, .expectDisconnection, .sleep, .include, .skip, .note, .setup, .teardown, .test: break
      }
    }
    return (list, false)
  }

  /// `wait ffe2=01`.
  private static func attribute(ofPattern word: ShellWord) -> ShellWord {
    guard let text = word.text else { return word }
    return ShellWord([.text(String(text.prefix { $0 != "=" }))])
  }
}
