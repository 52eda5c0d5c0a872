import CommandLine
import Program
import Scripts

/// An interpreter that runs the lines of a script in a session. It collects results, values and packets for the reports.
@LoopActor
final class ScriptSteps: ResultObserver {
  let shell: Shell
  /// The device of the script, written as PEER. Nil if neither the script nor `--peer` names a device.
  let device: String?
  let log = PacketLog()
  /// The `file` and `test` members of JSON records. Nil unless blectl prints JSON.
  private(set) var members: RecordWriter.Members?
  var variables: ScriptVariables
  /// The result that `expect` without ATTR checks. Nil until a command of the test has a result.
  var result: ScriptResult?
  /// The subscriptions that the session made for `expect` lines.
  let subscriptions = ScriptSubscriptions()
  /// The recorder of the current line's values.
  var step = StepRecorder()
  /// The steps and notes of the current test.
  var record = TestRecord(start: EventLoop.shared.now)
  private(set) var lastLine: ScriptLine?
  /// Whether the script expected the device to disconnect. False again after the session drops the connection.
  var expectsLoss = false
  /// Whether a line that fails to connect tries once more.
  var retriesSetup: Bool
  /// The number of nested `retry` blocks around the current line.
  private(set) var retryDepth = 0
  /// The address of the device of the last connection. Nil before the first connection.
  var peer: String?

  /// The maximum number of values that the session keeps after a command.
  static let valueLimit = 1 << 16

  init(_ script: Script, _ options: ScriptRun.Options, retriesSetup: Bool, _ process: ProcessContext) {
    device = script.device
    self.retriesSetup = retriesSetup
    variables = ScriptVariables(options.variables)
    shell = Shell(process, timeout: options.timeout)
    shell.settings.level = script.level.flatMap { SecurityLevel(rawValue: $0) }
    shell.observer = self
  }

  /// Starts the record of a test. Removes the results, values and packets of the previous test.
  func begin(_ name: String, of file: String, notes: [String]) async {
    if showsRecords {
      members = RecordWriter.Members {
        $0.string("file", file)
        $0.string("test", name)
      }
    }
    await dropLostLink()
    // Values that arrived before the test do not belong to it.
    shell.current?.values.forget()
    shell.peripheral.running?.events.removeAll()
    record = TestRecord(start: EventLoop.shared.now, notes: notes)
    log.begin()
    (result, lastLine) = (nil, nil)
  }

  /// Runs statements in order.
  /// - Throws: StepFailure, SkippedTest; errors that end the run.
  /// - Parameter following: The statements after `statements`, from inner to outer blocks. Values that they expect may arrive early.
  func run(_ statements: [ScriptStatement], then following: [ArraySlice<ScriptStatement>] = []) async throws {
    for (index, statement) in statements.enumerated() {
      try Task.checkCancellation()
      do { try await run(statement, then: [statements[(index + 1)...]] + following) } catch {
        throw try failure(error).placed(at: statement.line)
      }
    }
  }

  /// Returns the failure of a line. Rethrows `SkippedTest` and errors that end the run.
  func failure(_ error: any Error) throws -> StepFailure {
    if let failure = error as? StepFailure { return failure }
    if error is SkippedTest { throw error }
    try StepFailure.passOn(error)
    return StepFailure(Failure(error))
  }

  private func run(_ statement: ScriptStatement, then following: [ArraySlice<ScriptStatement>]) async throws {
    switch statement.kind {
    case .repetition(let repetition, let body): try await run(repetition, body, then: following)
    case .skip(let word): throw SkippedTest(reason: try word.map { try text($0) } ?? "")
    case .note(let word): record.note(try text(word))
    case .set(let name, let word): variables.set(name, try text(word))
    case .device, .include, .setup, .teardown, .test, .unreadable: break
    case .command, .capture, .expectResult, .expectValue, .expectSilence, .expectAttribute, .expectSecurity, .expectFirmware,
      .expectDisconnection, .expectPeripheral, .sleep:
      try await runStep(statement, before: following)
    }
  }

  private func runStep(_ statement: ScriptStatement, before following: [ArraySlice<ScriptStatement>]) async throws {
    let line = statement.line
    lastLine = line
    let begin = EventLoop.shared.now
    step = StepRecorder()
    var stop: (any Error)?
    do { try await runOne(statement, before: following) } catch {
      stop = error
      if var failure = try? failure(error) {
        failure.problem.took = begin.duration(to: EventLoop.shared.now)
        if failure.problem.others.isEmpty { failure.problem.others = otherValues() }
        stop = failure
        if statement.onlyWarns, failure.isOfExpectation {
          stop = nil
          record.warn(failure.placed(at: line).problem)
        }
      }
    }
    record.add(
      StepResult(
        file: line.place.file, line: line.place.line, text: shown(line), at: record.start.duration(to: begin),
        duration: begin.duration(to: EventLoop.shared.now), failed: stop != nil, values: step.values))
    if let stop { throw stop }
  }

  private func runOne(_ statement: ScriptStatement, before following: [ArraySlice<ScriptStatement>]) async throws {
    switch statement.kind {
    case .command(let command): try await run(command, of: statement.line, before: following)
    case .capture(let name, let command, let extraction):
      try await run(command, of: statement.line, before: following)
      let value = try value(extraction)
      if case .formatted(let bytes, let format) = value, format.numberBytes != nil, value.numbers == nil {
        throw Failure(.expectation, "The result \(Hex.encode(bytes)) does not fit \(format.name).")
      }
      variables.capture(name, value.text)
    case .expectResult(let extraction, let predicate): try expectResult(extraction, predicate)
    case .expectValue(let expected): try await expect(expected)
    case .expectSilence(let attribute, let within): try await expectSilence(attribute, within)
    case .expectAttribute(let expected):
      let names = try expected.properties.map { try text($0.name) }
      let check = StructureCheck(expected: expected, selector: try Selector(typed: try text(expected.attribute)), names: names)
      try await check.check(try await link().connection.client)
    case .expectSecurity(let isAuthenticated, let isAbsent): try expectSecurity(isAuthenticated, isAbsent, try await link().connection)
    case .expectFirmware(let version): try await expectFirmware(try text(version), try await link().connection)
    case .expectDisconnection(let reason, let within): try await expectDisconnection(reason, within)
    case .expectPeripheral(let expected): try await CentralCheck(expected, self).check()
    case .sleep(let word):
      let text = try text(word)
      guard let pause = ScriptCheck.pause(text) else { throw Failure(.usage, ScriptTime.invalid(text)) }
      try await EventLoop.shared.sleep(for: pause)
    case .device, .set, .repetition, .include, .skip, .note, .setup, .teardown, .test, .unreadable: break
    }
  }

  // MARK: Words

  func text(_ word: ShellWord) throws -> String { try variables.text(of: word) }

  /// Returns the text of a line with the values of its variables, for the report.
  private func shown(_ line: ScriptLine) -> String {
    guard line.words.contains(where: { !$0.variables.isEmpty }) else { return SecretOptions.hidden(in: line.source) }
    let words = line.words.map { word in
      let text = (try? variables.text(of: word) { "$\($0)" }) ?? "…"
      return word.isQuoted ? "\"\(text)\"" : text
    }
    return SecretOptions.hidden(in: words.joined(separator: " "))
  }

  /// Returns the time in a word of a line.
  /// - Parameter word: The word. Nil selects `ScriptTime.standard`.
  func time(_ word: ShellWord?) throws -> Duration {
    guard let text = try word.map({ try text($0) }) else { return ScriptTime.standard }
    guard let time = ScriptTime.parse(text) else { throw Failure(.usage, ScriptTime.invalid(text)) }
    return time
  }

  func count(_ word: ShellWord) throws -> Int {
    let text = try text(word)
    guard let count = ScriptCheck.count(text) else { throw Failure(.usage, ScriptCheck.invalidCount(text)) }
    return count
  }

  // MARK: Repetition

  private func run(_ repetition: Repetition, _ body: [ScriptStatement], then following: [ArraySlice<ScriptStatement>]) async throws {
    let count = try count(repetition.count)
    let pause = try repetition.every.map { try time($0) } ?? .zero
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

  /// Returns whether another round of `retry` can pass. Without a connection, only a block with `connect` can pass.
  private func mayPass(_ error: StepFailure, _ body: [ScriptStatement]) -> Bool {
    let connects = body.contains { statement in
      guard case .command(let command) = statement.kind, let name = command.words.first?.keyword else { return false }
      return shell.process.commands.type(named: name)?.traits.deviceChange == .connects
    }
    return error.failure.kind != .usage && (connects || presentLink?.connection.isOpen ?? true)
  }

  // MARK: Commands

  private func run(_ command: ScriptCommand, of line: ScriptLine, before following: [ArraySlice<ScriptStatement>]) async throws {
    let words = try command.words.map { try text($0) }
    var parsed: ShellLine
    do {
      parsed = try shell.parse(words)
      parsed.command.placeFile { file, _ in ScriptLoader.path(file, in: line.place.file) }
      // A variable may have brought what the check could not see.
      try parsed.command.checkForScript(quoted: try command.words.filter(\.isQuoted).map { try text($0) })
    } catch { throw Failure(.usage, Failure(error).message) }
    let (traits, isConnect) = (parsed.command.traits, parsed.command.traits.deviceChange == .connects)
    if parsed.isAboutCurrent, parsed.command.peerOptions != nil, !isConnect, traits.deviceChange != .disconnects {
      let level = shell.settings.level
      if parsed.pairs { shell.settings.level = nil }
      defer { shell.settings.level = level }
      do { _ = try await link() } catch {
        // The connection was lost before: the command fails with this error.
        let error = try failure(error)
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
    }
    // The other commands have connected to the device by now.
    if isConnect || parsed.command.peerOptions == nil, parsed.isAboutCurrent, shell.current == nil,
      let device = device.flatMap({ PeerArgument(argument: $0) })
    {
      parsed.use(device)
    }
    // Do not subscribe before commands that change the current device or its connection.
    if traits.deviceChange == .none { try await subscribe(for: following) }
    self.step = StepRecorder()
    let step = TestOutcome.Step(of: parsed.command, isFirst: presentLink == nil, expectsFailure: command.failure != nil)
    let failure = try await run(parsed, within: parsed.command.limitInScript, in: step)
    result = self.step.record.map(ScriptResult.init)
    if let expected = command.failure { return try evaluate(failure, expected, in: step) }
    if let failure { throw StepFailure(failure, in: step) }
    // Subscribe from the start of the connection.
    if isConnect { try await subscribe(for: following) }
    if traits.script.endsSubscriptions { try await subscriptions.end() }
  }

  /// Runs a command of the session. Returns its failure, or nil if the command succeeds.
  private func run(_ line: ShellLine, within limit: Duration?, in step: TestOutcome.Step) async throws -> Failure? {
    do {
      if !step.expectsFailure, step.isConnection || step.isFirst {
        try await twice(isConnect: step.isConnection) { try await self.shell.run(line, within: limit) }
      } else {
        try await shell.run(line, within: limit)
      }
      return nil
    } catch {
      try StepFailure.passOn(error)
      return Failure(error)
    }
  }

  private func evaluate(_ failure: Failure?, _ expected: ExpectedFailure, in step: TestOutcome.Step = .init()) throws {
    do { try evaluate(failure, try expected.kind.map { try text($0) }, in: step) } catch {
      throw try self.failure(error).placed(at: expected.line)
    }
  }

  private func evaluate(_ failure: Failure?, _ kind: String?, in step: TestOutcome.Step) throws {
    guard let failure else {
      throw StepFailure(
        "The previous command succeeded instead of failing.", expected: kind.map { "failure: \($0)" } ?? "failure",
        actual: result.flatMap { $0.bytes == nil ? nil : shown($0) } ?? "success")
    }
    // A mistake in the script or the setup is not a failure of the device.
    if kind == nil, [.adapter, .usage, .input, .output, .notFound, .ambiguous, .internal].contains(failure.kind) {
      throw StepFailure(failure, in: step)
    }
    // A request without an answer ends the connection, too.
    if failure.kind == .linkLost || shell.current?.connection?.isOpen == false { expectsLoss = true }
    result = ScriptResult(Self.record(of: failure))
    guard let kind, kind != failure.kind.rawValue, kind != failure.name else { return }
    if let code = ScriptCheck.number(kind), failure.code == Int(code) { return }
    let code = failure.code.map { "0x" + Hex.encode([UInt8(truncatingIfNeeded: $0)]) }
    throw StepFailure(
      "The previous command failed with a different error: \(failure.message)", expected: kind,
      actual: [failure.kind.rawValue, failure.name, code].compactMap(\.self).joined(separator: " "))
  }

  /// Returns the failure as a JSON record, whose fields `expect` can check.
  private static func record(of failure: Failure) -> JSONTree {
    RecordWriter.value {
      $0.string("event", "error")
      failure.write(&$0)
    }
  }

  // MARK: Looking ahead

  /// Subscribes to the characteristics of the `expect` lines before the next command. Ignores errors, which the `expect` lines report.
  private func subscribe(for following: [ArraySlice<ScriptStatement>]) async throws {
    var attributes: [String] = []
    for statements in following { if expected(by: statements, &attributes) { break } }
    for attribute in attributes {
      guard let selector = try? Selector(typed: attribute), let connection = shell.current?.connection, connection.isOpen else { continue }
      do {
        _ = try await subscriptions.add(try await connection.client.characteristic(selector), connection.client)
      } catch { if error is CancellationError { throw error } }
    }
  }

  /// Collects the attributes that the statements before the first command expect. Returns whether a command ended the search.
  private func expected(by statements: ArraySlice<ScriptStatement>, _ attributes: inout [String]) -> Bool {
    for statement in statements {
      switch statement.kind {
      case .expectValue(let expected): if let text = try? text(expected.attribute) { attributes.append(text) }
      case .expectSilence(let attribute, _): if let text = try? text(attribute) { attributes.append(text) }
      case .repetition(_, let body): if expected(by: body[...], &attributes) { return true }
      case .command(let command):
        guard
          command.words.contains(where: {
            $0.keyword.map { shell.process.commands.type(named: $0)?.traits.takesEarlierValues ?? false } ?? false
          })
        else { return true }
        let words = command.words.compactMap { try? text($0) }
        guard words.count == command.words.count, let line = try? shell.parse(words), line.isAboutCurrent,
          let attribute = line.command.awaitedAttribute
        else { return true }
        attributes.append(attribute)
      case .capture: return true
      case .device, .set, .expectResult, .expectAttribute, .expectSecurity, .expectFirmware, .expectDisconnection, .expectPeripheral,
        .sleep, .include,
        .skip,
        .note, .setup, .teardown, .test, .unreadable:
        break
      }
    }
    return false
  }

  // MARK: ResultObserver

  /// A table or a template has a line for each test, not for each step.
  var showsRecords: Bool { shell.process.output.style.writesMessagesAsJSON }

  func didRecord(_ record: JSONTree, isCommand: Bool) { step.take(record, at: elapsed, isCommand: isCommand) { meaning(of: $0, in: $1) } }

  func didSay(_ text: String, isNote: Bool) { if isNote { record.note(text) } else { shell.process.output.verbose(1, text) } }

  func didExchange(_ direction: PDUDirection, _ pdu: [UInt8], _ client: Client) { log.add(direction, pdu, client) }

  /// The time since the start of the current test.
  var elapsed: Duration { record.start.duration(to: EventLoop.shared.now) }
}

extension Shell {
  /// Runs a command for at most `limit`. Nil allows any duration.
  /// - Throws: The errors of `Shell.run`; Failure(.timeout).
  fileprivate func run(_ line: ShellLine, within limit: Duration?) async throws {
    guard let limit else { return try await run(line) }
    let end = EventLoop.shared.now.advanced(by: limit)
    guard try await withDeadline(end, { try await self.run(line) }) != nil else {
      throw Failure(.timeout, "Not all values arrived in \(limit.secondsText) s. To wait longer, use --duration.")
    }
  }
}
