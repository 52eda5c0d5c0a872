import BluetoothLEFirmware
import CommandLine
import Program
import Scripts

/// The `expect` statements of a script, as methods of `ScriptSteps`.
extension ScriptSteps {
  // MARK: The last result

  func expectResult(_ extraction: Extraction, _ predicate: Predicate) throws {
    let value = try value(extraction)
    add(value, named: try extraction.field.map { try text($0) } ?? "result")
    guard case .fails(let reason) = try verdict(predicate, on: value) else { return }
    // The user may expect the record of an earlier service.
    let isService = result?.record["event"]?.string == "service"
    let hint =
      isService
      ? " The result is the last service. To check any of them: expect characteristic 180d/2a37 has notify"
      : try numberHint(predicate, value, of: result?.record)
    throw StepFailure(
      "The result does not match" + (reason.map { ": \($0)." } ?? ".") + hint, expected: try expected(predicate, extraction),
      actual: shown(value, of: result))
  }

  /// Returns the value, or the field of the value, that an extraction selects from the last result.
  func value(_ extraction: Extraction) throws -> ScriptValue {
    guard let result else { throw Failure(.expectation, "The previous command has no result.") }
    return try value(extraction, of: result)
  }

  func value(_ extraction: Extraction, of result: ScriptResult) throws -> ScriptValue {
    let format = try extraction.format.map { try ValueFormat(try text($0)) }
    guard let word = extraction.field else {
      guard let bytes = result.bytes else {
        throw Failure(.expectation, "The result has no value. Use one of its fields: \(StructureCheck.list(result.fields))")
      }
      return format.map { .formatted(bytes, $0) } ?? .bytes(bytes)
    }
    let path = try text(word)
    guard let tree = result.field(path) else {
      throw Failure(.expectation, "The result has no field \(DisplayText.quote(path)). Its fields: \(StructureCheck.list(result.fields))")
    }
    guard let format else { return .field(tree) }
    guard let bytes = tree.string.flatMap({ Hex.decode($0) }) else {
      throw Failure(.expectation, "Cannot read field \(DisplayText.quote(path)) as \(format.name): it is \(tree.noun), not hex.")
    }
    return .formatted(bytes, format)
  }

  func verdict(_ predicate: Predicate, on value: ScriptValue) throws -> Predicate.Verdict {
    try predicate.verdict(on: value) { try text($0) }
  }

  /// Returns advice to name a format, if the operand of `==` or `!=` may be a decimal number. Empty otherwise.
  /// - Parameter attribute: The attribute of the line, with a space. Empty for the last result.
  private func numberHint(_ predicate: Predicate, _ value: ScriptValue, of record: JSONTree?, _ attribute: String = "") throws -> String {
    guard case .bytes(let bytes) = value, case .compares(let comparison, let words) = predicate, words.count == 1, !words[0].isQuoted,
      case let typed = try text(words[0]), let number = Int(typed), "\(number)" == typed, number > 9 || bytes.count > 1
    else { return "" }
    let formats = ["u8", "i8", "u16le", "u16be", "i16le", "u24le", "u32le", "u32be"].compactMap { try? ValueFormat($0) }
    let isNumber = record?["decoded"] != nil || typed.utf8.count != 2 * bytes.count
    let fitting = formats.first { $0.render(bytes) == typed } ?? formats.first { isNumber && $0.numberBytes == bytes.count }
    return fitting.map {
      " Without a format, \(typed) is hex. To compare the number: expect \(attribute)as \($0.name) \(comparison.rawValue) \(typed)"
    } ?? ""
  }

  // MARK: For people

  /// Returns the text of an expected condition, in which values replace variables.
  func expected(_ predicate: Predicate, _ extraction: Extraction) throws -> String {
    var parts: [String] = []
    if let format = extraction.format { parts += ["as", try text(format)] }
    if let field = extraction.field { parts += ["field", try text(field)] }
    return (parts + [try words(predicate)]).joined(separator: " ")
  }

  private func words(_ predicate: Predicate) throws -> String {
    func value(_ words: [ShellWord]) throws -> String {
      try words.map { $0.isQuoted ? DisplayText.quote(try text($0)) : try text($0) }.joined(separator: " ")
    }
    return switch predicate {
    case .compares(let comparison, let words): "\(comparison.rawValue) \(try value(words))"
    case .range(let word): "in \(try value([word]))"
    case .has(let place, let words): "\(place.rawValue) \(try value(words))"
    case .matches(let expression): "matches \(expression)"
    case .length(let predicate): "length \(try self.words(predicate))"
    case .isOf(let word): "is \(try value([word]))"
    }
  }

  /// Returns the bytes of a result in hex, followed by the decoded value, for the report.
  func shown(_ result: ScriptResult) -> String { shown(.bytes(result.bytes ?? []), of: result) }

  /// Returns bytes in hex, followed by the decoded value, or the text of a field, for the report.
  func shown(_ value: ScriptValue, of result: ScriptResult?) -> String {
    func text(_ bytes: [UInt8]) -> String { ValueText.displayText(bytes, meaning(of: bytes, in: result?.record)) }
    return switch value {
    case .bytes(let bytes), .formatted(let bytes, .hex), .formatted(let bytes, .auto): text(bytes)
    case .formatted(let bytes, let format):
      text(bytes) + (bytes.isEmpty ? "" : "; as \(format.name) \(DisplayText.escape(value.text))")
    case .field(let tree): tree.string.map { DisplayText.quote($0) } ?? DisplayText.escape(value.text)
    }
  }

  /// Returns the meaning of an attribute's bytes, using the attribute's UUID and descriptors.
  /// - Parameter record: The record that contains the value. Nil if unknown.
  func meaning(of bytes: [UInt8], in record: JSONTree?) -> ValueMeaning {
    let uuid = record?["uuid"]?.string.flatMap { UUID($0) }
    // The handle of such an event is that of our own device.
    if record?["event"]?.string.flatMap({ ExpectedCentral.Event(rawValue: $0) }) != nil { return ValueMeaning(uuid: uuid) }
    guard let handle = record?["handle"]?.integer.flatMap({ UInt16(exactly: $0) }), let connection = shell.current?.connection else {
      return ValueMeaning(uuid: uuid)
    }
    return shell.process.memory.meaning(of: bytes, at: AttributeHandle(rawValue: handle), uuid, on: connection)
  }

  private func text(_ event: ValueEvent, _ uuid: UUID?) -> String {
    guard let connection = shell.current?.connection else { return ValueText.displayText(event.value, of: uuid) }
    return ValueText.displayText(event.value, shell.process.memory.meaning(of: event.value, at: event.handle, uuid, on: connection))
  }

  /// Records a value for the plots of the report if the value is a single number.
  func add(_ value: ScriptValue, named name: String) {
    guard let numbers = value.numbers, numbers.count == 1 else { return }
    step.add(StepValue(name: name, at: elapsed, text: DisplayText.escape(value.text), number: numbers[0].real))
  }

  /// Returns the texts of the values that arrived since the last command and that no line has expected.
  func otherValues() -> [String] {
    guard let device = shell.current else { return [] }
    return device.values.recent.filter { !UpdateProtocol.answers.contains($0.uuid) }
      .map { event, uuid in "\(uuid?.description ?? event.handle.description) \(text(event, uuid))" }
  }

  // MARK: What the device sends

  func expectSecurity(_ isAuthenticated: Bool, _ isAbsent: Bool, _ connection: Connection) throws {
    let level = connection.security?.level
    guard level.map({ $0.isAuthenticated || !isAuthenticated }) ?? false == isAbsent else { return }
    let name = isAuthenticated ? "authenticated" : "encrypted"
    throw StepFailure(
      "The connection is \(isAbsent ? "" : "not ")\(name).", expected: (isAbsent ? "not " : "") + name,
      actual: level?.text ?? "not encrypted")
  }

  func expectFirmware(_ version: String, _ connection: Connection) async throws {
    let found = try await RunningFirmware.version(connection.client)
    if let found, RunningFirmware.isSame(found, version) { return }
    throw StepFailure("The firmware has another version.", expected: version, actual: found.map { DisplayText.escape($0) } ?? "no version")
  }

  private func characteristic(_ word: ShellWord, _ connection: Connection) async throws -> (Characteristic, isLate: Bool) {
    let characteristic = try await connection.client.characteristic(try Selector(typed: try text(word)))
    // Values that arrived before the connection ended count.
    guard connection.isOpen else { return (characteristic, false) }
    return (characteristic, try await subscriptions.add(characteristic, connection.client))
  }

  func expect(_ expected: ExpectedValue) async throws {
    let (device, connection) = if let presentLink { presentLink } else { try await link() }
    let (characteristic, isLate) = try await characteristic(expected.attribute, connection)
    let limit = try time(expected.within)
    let count = try expected.count.map { try self.count($0) } ?? 1
    let end = EventLoop.shared.now.advanced(by: limit)
    var mistake: (any Error)?
    var arrived: [String] = []
    for number in 0..<count {
      let found: (event: ValueEvent, uuid: UUID?)?
      do {
        found = try await device.value(until: end, isNeeded: true) { event in
          guard event.handle == characteristic.valueHandle else { return false }
          guard mistake == nil, let predicate = expected.predicate else { return true }
          do {
            let value = try self.value(expected.extraction, of: self.result(of: event, characteristic.uuid, connection))
            return try self.verdict(predicate, on: value) == .holds
          } catch let error as Failure where error.kind == .expectation { return false } catch {
            mistake = error
            return true
          }
        }
        if let mistake { throw mistake }
        guard found != nil else { throw try missing(number, count, characteristic, isLate, expected, limit) }
      } catch { throw try failure(error).with(arrived, before: number - arrived.count) }
      guard let found else { return }
      let value = result(of: found.event, found.uuid, connection)
      result = value
      step.take(value.record, at: elapsed, isCommand: false, isExpected: true) { meaning(of: $0, in: $1) }
      let seen = try? self.value(expected.extraction, of: value)
      if let seen { add(seen, named: try text(expected.attribute)) }
      arrived.append(shown(seen ?? .bytes(found.event.value), of: value))
      if arrived.count > StepRecorder.limit { arrived.removeFirst() }
    }
  }

  private func result(of event: ValueEvent, _ uuid: UUID?, _ connection: Connection) -> ScriptResult {
    ScriptResult(NotificationRecord(event, uuid, from: connection, shell.process.memory).value)
  }

  private func missing(
    _ number: Int, _ count: Int, _ characteristic: Characteristic, _ isLate: Bool, _ expected: ExpectedValue, _ limit: Duration
  ) throws -> StepFailure {
    let name = try text(expected.attribute)
    let seen = shell.current?.values.recent.filter { $0.event.handle == characteristic.valueHandle } ?? []
    let what = count > 1 ? "Received \(number) of \(count) values" : expected.predicate == nil ? "No value" : "No matching value"
    // The value may have arrived before, or the user meant the result of the previous command.
    let wasRead =
      seen.isEmpty && result?.record["event"]?.string == "value" && result?.record["uuid"]?.string == characteristic.uuid.description
    let hint =
      wasRead
      ? " To check the value just read, omit the attribute: expect == …"
      : isLate && seen.isEmpty ? " The subscription started only here, because no command precedes this line." : ""
    let before = shell.current?.values.takeDropped().map { " Dropped earlier values: \($0)." } ?? ""
    let wanted = try expected.predicate.map { try self.expected($0, expected.extraction) } ?? "a value"
    // Report the count: the values that did not fit have their own row.
    var actual = number > 0 ? "\(number) of \(count)" : "nothing"
    var numbers = ""
    if number == 0, let last = seen.last {
      let came = shell.current?.connection.map { self.result(of: last.event, last.uuid, $0) }
      let value = came.flatMap { try? self.value(expected.extraction, of: $0) } ?? ScriptValue.bytes(last.event.value)
      actual = shown(value, of: came)
      numbers = try expected.predicate.map { try numberHint($0, value, of: came?.record, "\(name) ") } ?? ""
    }
    return StepFailure(
      "\(what) on \(DisplayText.escape(name)) in \(limit.secondsText) s.\(hint)\(numbers)\(before)",
      expected: count == 1 ? "\(name) \(wanted)" : "\(count) of \(name) \(wanted)", actual: actual)
  }

  func expectSilence(_ attribute: ShellWord, _ within: ShellWord?) async throws {
    let (device, connection) = if let presentLink { presentLink } else { try await link() }
    let (characteristic, _) = try await characteristic(attribute, connection)
    let limit = try time(within)
    let found = try await device.value(until: EventLoop.shared.now.advanced(by: limit), isNeeded: false) {
      $0.handle == characteristic.valueHandle
    }
    let name = try text(attribute)
    guard let found else {
      // One of the dropped values may have been on this characteristic.
      guard let count = device.values.takeDropped() else { return }
      throw Failure(.expectation, "Dropped \(count) earlier values, possibly also on \(DisplayText.escape(name)).")
    }
    throw StepFailure(
      "Unexpected value on \(DisplayText.escape(name)).", expected: "nothing on \(name) within \(limit.secondsText) s",
      actual: text(found.event, found.uuid))
  }

  func expectDisconnection(_ reason: ShellWord?, _ within: ShellWord?) async throws {
    let wanted = try reason.map { try text($0) }
    let limit = try time(within)
    guard let device = shell.current, let connection = device.connection else {
      throw Failure(.expectation, "Cannot wait for a disconnection: not connected.")
    }
    let end: (any Error)? =
      if let problem = device.problem { problem } else {
        try await withDeadline(EventLoop.shared.now.advanced(by: limit)) { try await connection.client.untilClosed() }
      }
    guard let end else {
      throw StepFailure(
        "Still connected after \(limit.secondsText) s.", expected: "disconnect" + (wanted.map { " \($0)" } ?? ""), actual: "connected")
    }
    let failure = Failure(end)
    // A silent device or a removed adapter is not a disconnection by the device.
    guard failure.kind == .linkLost, !Self.isOurs(end) else { throw failure }
    expectsLoss = true
    guard let wanted, wanted != failure.name, failure.code == nil || ScriptCheck.number(wanted).map({ Int($0) }) != failure.code else {
      return
    }
    throw StepFailure(
      "Disconnected for a different reason: \(failure.message)", expected: "disconnect \(wanted)", actual: failure.name ?? failure.message)
  }

  private static func isOurs(_ end: any Error) -> Bool {
    switch (end as? Disconnection)?.cause {
    case .endedHere, .channelClosed: true
    case .lost, .handleReused, nil: false
    }
  }
}
