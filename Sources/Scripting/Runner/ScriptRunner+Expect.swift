import ATT
import Bluetooth
import CommandLine
import EventLoop
import GAP
import GATT
import Operations
import Presentation
import ScriptLanguage
import Shell
import Terminal
import TestReports
import Text

/// The `expect` statements of a script.
extension ScriptRunner {
  // MARK: The last result

  func expectResult(_ extraction: Extraction, _ predicate: Predicate, _ line: ScriptLine) throws {
    let value = try value(extraction, line)
    record(value, named: try extraction.field.map { try text(of: $0, line) } ?? "result")
    try evaluate(try verdict(predicate, on: value, line), value, predicate, extraction, line)
  }

  /// Returns the part of the last result that an extraction selects.
  func value(_ extraction: Extraction, _ line: ScriptLine) throws -> ScriptValue {
    guard let result else {
      throw StepFailure(Failure(.expectation, "The previous command has no result."), line)
    }
    return try value(extraction, of: result, line)
  }

  private func value(_ extraction: Extraction, of result: ScriptResult, _ line: ScriptLine) throws -> ScriptValue {
    let format = try extraction.format.map { word in
      do { return try ValueFormat(try text(of: word, line)) } catch let error as ValueFormatError { throw mistake("\(error)", line) }
    }
    guard let word = extraction.field else {
      guard let octets = result.octets else {
        throw StepFailure(
          Failure(.expectation, "The result has no value. Use one of its fields: \(Self.list(result.fields))"), line)
      }
      return format.map { .formatted(octets, $0) } ?? .octets(octets)
    }
    let path = try text(of: word, line)
    guard let tree = result.field(path) else {
      throw StepFailure(
        Failure(.expectation, "The result has no field \(DisplayText.quote(path)). Its fields: \(Self.list(result.fields))"), line)
    }
    guard let format else { return .field(tree) }
    guard let octets = tree.string.flatMap({ Hex.decode($0) }) else {
      throw StepFailure(
        Failure(.expectation, "Cannot read field \(DisplayText.quote(path)) as \(format.name): it is \(tree.noun), not hex."), line)
    }
    return .formatted(octets, format)
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.map { DisplayText.escape($0) }.joined(separator: ", ")
  }

  private func verdict(_ predicate: Predicate, on value: ScriptValue, _ line: ScriptLine) throws -> Predicate.Verdict {
    do { return try predicate.verdict(on: value) { word throws(MissingVariable) in try variables.text(of: word) } } catch let error
      as PredicateMistake
    { throw mistake(error.reason, line) } catch let error as MissingVariable { throw mistake(error, line) }
  }

  private func evaluate(
    _ verdict: Predicate.Verdict, _ value: ScriptValue, _ predicate: Predicate, _ extraction: Extraction, _ line: ScriptLine
  ) throws {
    guard case .fails(let reason) = verdict else { return }
    var error = StepFailure(
      Failure(.expectation, "The result does not match" + (reason.map { ": \($0)." } ?? ".")), line)
    error.expected = try expected(predicate, extraction, line)
    error.actual = shown(value, of: result)
    throw error
  }

  // MARK: For people

  /// Returns the condition of the line, with the values of its variables.
  private func expected(_ predicate: Predicate, _ extraction: Extraction, _ line: ScriptLine) throws -> String {
    var parts: [String] = []
    if let format = extraction.format { parts += ["as", try text(of: format, line)] }
    if let field = extraction.field { parts += ["field", try text(of: field, line)] }
    return (parts + [try words(predicate, line)]).joined(separator: " ")
  }

  private func words(_ predicate: Predicate, _ line: ScriptLine) throws -> String {
    func value(_ words: [ShellWord]) throws -> String {
      try words.map { word in
        let text = try text(of: word, line)
        return word.isQuoted ? DisplayText.quote(text) : text
      }.joined(separator: " ")
    }
    return switch predicate {
    case .compares(let comparison, let words): "\(comparison.rawValue) \(try value(words))"
    case .range(let word): "in \(try value([word]))"
    case .starts(let words): "starts \(try value(words))"
    case .ends(let words): "ends \(try value(words))"
    case .contains(let words): "contains \(try value(words))"
    case .matches(let expression): "matches \(expression)"
    case .length(let predicate): "length \(try self.words(predicate, line))"
    case .isOf(let word): "is \(try value([word]))"
    }
  }

  /// Returns the value of a result, in hex and decoded.
  func shown(_ result: ScriptResult) -> String { shown(.octets(result.octets ?? []), of: result) }

  /// Returns a value in hex and decoded.
  private func shown(_ value: ScriptValue, of result: ScriptResult?) -> String {
    func text(_ octets: [UInt8]) -> String { ValueText.displayText(octets, meaning(of: octets, in: result?.record)) }
    return switch value {
    case .octets(let octets), .formatted(let octets, .hex), .formatted(let octets, .auto): text(octets)
    case .formatted(let octets, let format):
      text(octets) + (octets.isEmpty ? "" : "; as \(format.name) \(DisplayText.escape(value.text))")
    case .field(let tree): tree.string.map { DisplayText.quote($0) } ?? DisplayText.escape(value.text)
    }
  }

  /// Returns the meaning of a value.
  /// - Parameter record: The record that contains the value.
  func meaning(of octets: [UInt8], in record: JSONTree?) -> ValueMeaning {
    let uuid = record?["uuid"]?.string.flatMap { UUID($0) }
    guard let handle = record?["handle"]?.integer.flatMap({ UInt16(exactly: $0) }), let connection = shell.current?.connection else {
      return ValueMeaning(uuid: uuid)
    }
    return shell.process.memory.meaning(of: octets, at: AttributeHandle(rawValue: handle), uuid, on: connection)
  }

  private func text(_ event: ValueEvent, _ uuid: UUID?) -> String {
    guard let connection = shell.current?.connection else { return ValueText.displayText(event.value, of: uuid) }
    return ValueText.displayText(event.value, shell.process.memory.meaning(of: event.value, at: event.handle, uuid, on: connection))
  }

  /// Records a value for the report and its plots.
  private func record(_ value: ScriptValue, named name: String) {
    let numbers = value.numbers ?? []
    guard numbers.count == 1, let number = numbers.first else { return }
    step.add(StepValue(name: name, at: start.duration(to: EventLoop.shared.now), text: DisplayText.escape(value.text), number: number.real))
  }

  /// Returns the values that arrived since the last command.
  func otherValues() -> [String] {
    guard let lane = shell.current else { return [] }
    return lane.recent.map { event, uuid in "\(uuid?.description ?? event.handle.description) \(text(event, uuid))" }
  }

  // MARK: What the device sends

  private func characteristic(_ word: ShellWord, _ connection: Connection, _ line: ScriptLine) async throws -> (
    Characteristic, isLate: Bool
  ) {
    let text = try text(of: word, line)
    do {
      let characteristic = try await connection.client.characteristic(try Selector(text))
      // Values that arrived before the connection ended count.
      guard connection.isOpen else { return (characteristic, false) }
      return (characteristic, try await subscriptions.add(characteristic, connection.client))
    } catch {
      try Self.passOn(error)
      throw StepFailure(Failure(error), line)
    }
  }

  func expect(_ expected: ExpectedValue, _ line: ScriptLine) async throws {
    let (lane, connection) = if let presentLink { presentLink } else { try await link(line) }
    let (characteristic, isLate) = try await characteristic(expected.attribute, connection, line)
    let limit = try time(expected.within, line)
    let count = try expected.count.map { try self.count($0, line) } ?? 1
    let begin = EventLoop.shared.now
    var mistake: (any Error)?
    var arrived: [String] = []
    for number in 0..<count {
      let found: (event: ValueEvent, uuid: UUID?)?
      do {
        found = try await lane.value(until: begin.advanced(by: limit), isNeeded: true) { event in
          guard event.handle == characteristic.valueHandle else { return false }
          guard mistake == nil, let predicate = expected.predicate else { return true }
          do {
            let value = try self.value(expected.extraction, of: self.result(of: event, characteristic.uuid, connection), line)
            return try self.verdict(predicate, on: value, line) == .holds
          } catch let error as StepFailure where error.failure.kind == .expectation { return false } catch {
            mistake = error
            return true
          }
        }
      } catch {
        try Self.passOn(error)
        throw StepFailure(Failure(error), line).with(arrived, before: number - arrived.count)
      }
      if let mistake { throw mistake }
      guard let found else {
        throw try missing(number, count, characteristic, isLate, expected, limit, line).with(arrived, before: number - arrived.count)
      }
      let value = notification(found.event, found.uuid, connection)
      result = ScriptResult(value)
      step.take(value, at: start.duration(to: EventLoop.shared.now), isCommand: false, isExpected: true) { meaning(of: $0, in: $1) }
      let seen = self.result.flatMap { try? self.value(expected.extraction, of: $0, line) }
      if let seen { record(seen, named: try text(of: expected.attribute, line)) }
      arrived.append(shown(seen ?? .octets(found.event.value), of: self.result))
      if arrived.count > StepRecorder.limit { arrived.removeFirst() }
    }
  }

  private func result(of event: ValueEvent, _ uuid: UUID?, _ connection: Connection) -> ScriptResult {
    ScriptResult(notification(event, uuid, connection))
  }

  private func notification(_ event: ValueEvent, _ uuid: UUID?, _ connection: Connection) -> JSONTree {
    NotificationRecord.value(event, uuid, from: connection, shell.process.memory)
  }

  private func missing(
    _ number: Int, _ count: Int, _ characteristic: Characteristic, _ isLate: Bool, _ expected: ExpectedValue, _ limit: Duration,
    _ line: ScriptLine
  ) throws -> StepFailure {
    let name = try text(of: expected.attribute, line)
    let seen = shell.current?.recent.filter { $0.event.handle == characteristic.valueHandle } ?? []
    let what = count > 1 ? "Received \(number) of \(count) values" : expected.predicate == nil ? "No value" : "No matching value"
    // The value may have arrived before, or the user meant the result of the previous command.
    let wasRead =
      seen.isEmpty && result?.record["event"]?.string == "value" && result?.record["uuid"]?.string == characteristic.uuid.description
    let hint =
      wasRead
      ? " To check the value just read, omit the attribute: `expect == …`"
      : isLate && seen.isEmpty ? " The subscription started only here, because no command precedes this line." : ""
    let before = shell.current?.takeForgotten().map { " Dropped earlier values: \($0)." } ?? ""
    var error = StepFailure(
      Failure(.expectation, "\(what) on \(DisplayText.escape(name)) in \(limit.secondsText) s.\(hint)\(before)"), line)
    let wanted = try expected.predicate.map { try self.expected($0, expected.extraction, line) } ?? "a value"
    error.expected = count == 1 ? "\(name) \(wanted)" : "\(count) of \(name) \(wanted)"
    if let last = seen.last {
      let came = shell.current?.connection.map { self.result(of: last.event, last.uuid, $0) }
      let value = came.flatMap { try? self.value(expected.extraction, of: $0, line) } ?? ScriptValue.octets(last.event.value)
      error.actual = shown(value, of: came)
    } else {
      error.actual = "nothing"
    }
    // Report the count: the values that did not fit have their own row.
    if number > 0 { error.actual = "\(number) of \(count)" }
    return error
  }

  func expectSilence(_ attribute: ShellWord, _ within: ShellWord?, _ line: ScriptLine) async throws {
    let (lane, connection) = if let presentLink { presentLink } else { try await link(line) }
    let (characteristic, _) = try await characteristic(attribute, connection, line)
    let limit = try time(within, line)
    let found: (event: ValueEvent, uuid: UUID?)?
    do {
      found = try await lane.value(until: EventLoop.shared.now.advanced(by: limit), isNeeded: false) {
        $0.handle == characteristic.valueHandle
      }
    } catch {
      try Self.passOn(error)
      throw StepFailure(Failure(error), line)
    }
    let name = try text(of: attribute, line)
    guard let found else {
      // One of the dropped values may have been on this characteristic.
      guard let count = lane.takeForgotten() else { return }
      throw StepFailure(
        Failure(.expectation, "Dropped \(count) earlier values, possibly also on \(DisplayText.escape(name))."), line)
    }
    var error = StepFailure(Failure(.expectation, "Unexpected value on \(DisplayText.escape(name))."), line)
    error.expected = "nothing on \(name) within \(limit.secondsText) s"
    error.actual = text(found.event, found.uuid)
    throw error
  }

  func expectDisconnection(_ reason: ShellWord?, _ within: ShellWord?, _ line: ScriptLine) async throws {
    let wanted = try reason.map { try text(of: $0, line) }
    let limit = try time(within, line)
    guard let lane = shell.current, let connection = lane.connection else {
      throw StepFailure(Failure(.expectation, "Cannot wait for a disconnection: not connected."), line)
    }
    let end: (any Error)? =
      if let problem = lane.problem { problem } else {
        try await withDeadline(EventLoop.shared.now.advanced(by: limit)) { try await connection.client.untilClosed() }
      }
    guard let end else {
      var error = StepFailure(Failure(.expectation, "Still connected after \(limit.secondsText) s."), line)
      error.expected = "disconnect" + (wanted.map { " \($0)" } ?? "")
      error.actual = "connected"
      throw error
    }
    let failure = Failure(end)
    // A silent device or a removed adapter is not a disconnection by the device.
    guard failure.kind == .linkLost, !Self.isOurs(end) else { throw StepFailure(failure, line) }
    expectsLoss = true
    guard let wanted, wanted != failure.name, failure.code == nil || ScriptCheck.number(wanted).map({ Int($0) }) != failure.code else {
      return
    }
    var error = StepFailure(Failure(.expectation, "Disconnected for a different reason: \(failure.message)"), line)
    error.expected = "disconnect \(wanted)"
    error.actual = failure.name ?? failure.message
    throw error
  }

  private static func isOurs(_ end: any Error) -> Bool {
    switch (end as? Disconnection)?.cause {
    case .endedHere, .channelClosed: true
    case .lost, .handleReused, nil: false
    }
  }
}
