import BluetoothLEDeviceFiles
import BluetoothLESimulator
import TestSupport

/// The client and the simulated device of a device file agree.
@Suite(.timeLimit(.minutes(15))) struct DeviceAgreementTests {
  private static func device(_ file: String) throws -> DeviceDescription {
    try DeviceFile.parse(try ExampleFiles.bytes(file), name: file)
  }

  /// The examples are the program's own files.
  @Test func theExamplesAreThoseThatComeWithTheProgram() throws {
    #expect(try ExampleFiles.bytes("gate-lock.json") == Array(ShippedDeviceFiles.lock.utf8))
    #expect(try ExampleFiles.bytes("band-7.json") == Array(ShippedDeviceFiles.band.utf8))
    #expect(try ShippedDeviceFiles.all().map(\.name) == ["GateLock", "Band-7"])
  }

  // MARK: Random commands

  /// Returns a random value that the field and the parameter's range allow.
  private static func random(_ parameter: DeviceCommand.Parameter, _ random: inout SplitMix64) -> DeviceValue? {
    for _ in 0..<200 {
      let value = self.value(parameter.field, parameter.least, parameter.greatest, &random)
      if (try? parameter.check(value)) != nil { return value }
    }
    return nil
  }

  private static func value(_ field: Frame.Field, _ least: Double?, _ greatest: Double?, _ random: inout SplitMix64) -> DeviceValue {
    switch field {
    case .number(let number):
      if least != nil || greatest != nil, let low = Int64(exactly: (least ?? 0).rounded()),
        let high = Int64(exactly: (greatest ?? 200).rounded())
      {
        return number.scale == nil
          ? .integer(Int128(Int64.random(in: low...high, using: &random))) : .number(Double(Int64.random(in: low...high, using: &random)))
      }
      return field.value(of: Int64(truncatingIfNeeded: random.next())) ?? .integer(0)
    case .bit: return field.value(of: Int64(truncatingIfNeeded: random.next())) ?? .integer(0)
    case .string(let string):
      let count = if case .fixed(let count) = string.extent { count } else { Int(random.next() % 40) }
      if string.isText { return .text(String(repeating: "x", count: count)) }
      var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      // Half of the codes are correct.
      if count > 0, random.next() % 2 == 0 { bytes[count - 1] = 0 &- bytes.dropLast().reduce(0, &+) }
      return .bytes(bytes)
    case .list(let list):
      return .list(
        (0..<random.next() % 20).map { _ in
          switch list.item {
          case .number(let number): value(.number(number), nil, nil, &random)
          case .group(let pieces):
            .object(Frame(name: "", pieces: pieces).fields.map { NamedValue($0.name, value($0, nil, nil, &random)) })
          }
        })
    }
  }

  /// The simulated device's decisions: written values, and its notifications with their times.
  private struct Device {
    let description: PeripheralDescription
    var database: AttributeDatabase
    var machine: PeripheralMachine
    var now: Int64 = 0

    init(_ file: String) throws {
      description = try ExampleFiles.read(file)
      database = description.database
      machine = PeripheralMachine(
        state: PeripheralState(variables: description.variables, now: 0, wallClock: 0, seed: 1, stream: 1), timers: description.timers,
        description.database)
    }

    mutating func write(_ bytes: [UInt8], to uuid: String) -> [[UInt8]] {
      guard let behaviour = description.behaviours[description.handle(uuid)],
        let reaction = machine.choose(behaviour.reactions, written: bytes, at: now, database)
      else { return [] }
      var effects = machine.begin(reaction.actions, written: bytes, at: now, &database)
      while machine.isWaiting, let due = machine.due {
        now = due
        effects += machine.advance(to: due, &database)
      }
      return effects.compactMap { if case .notify(_, let value) = $0 { value } else { nil } }
    }
  }

  @Test(arguments: ExampleFiles.devices) func theyAgree(_ file: String) throws {
    let device = try Self.device(file)
    var simulated = try Device(file)
    var random = SplitMix64(seed: 7)
    var outcomes: [String: Int] = [:]
    for number in 0..<10_000 {
      let command = device.commands[Int(random.next() % UInt64(device.commands.count))]
      var values: [NamedValue] = []
      for parameter in command.parameters {
        guard let value = Self.random(parameter, &random) else { continue }
        values.append(NamedValue(parameter.name, value))
      }
      let request = try command.encode(values, number: Int64(number))
      // The device decodes the values that were encoded.
      #expect(command.decode(request.bytes)?.sorted { $0.name < $1.name } == request.values.sorted { $0.name < $1.name })
      let packets = simulated.write(request.bytes, to: "\(command.to.uuid)")
      guard let answer = command.answer else {
        outcomes["\(command.name): none", default: 0] += 1
        continue
      }
      var reader = AnswerReader(answer, request: request.values, command: command.name, of: device)
      var outcome = "no answer"
      var own: [[UInt8]] = []
      for packet in packets {
        switch reader.take(packet) {
        case .part: own.append(packet)
        case .finished:
          own.append(packet)
          outcome = "answered"
        case .failure(let failure): outcome = failure.meaning ?? "an error without meaning"
        // Timers continue.
        case .event: break
        case .endless: Issue.record("\(command.name) \(values): no end")
        case .refused(let reason): Issue.record("\(command.name) \(values): \(Hex.encode(packet)): \(reason)")
        }
      }
      if outcome == "answered" {
        #expect(reader.packets == own)
        for field in answer.parts.flatMap(\.frame.fields) where request.values[field.name] != nil && !answer.echo.contains(field.name) {
          if let said = reader.values[field.name] { #expect(said == request.values[field.name]) }
        }
      }
      outcomes["\(command.name): \(outcome)", default: 0] += 1
    }
    let expected: Set<String> =
      switch file {
      case "gate-lock.json": ["open: answered", "open: this is not the code"]
      case "band-7.json": ["battery: answered", "history: answered"]
      default:
        [
          "battery: answered", "position: answered", "position: no satellites", "configure: answered", "history: answered",
          "history: there is no such day", "contacts: answered", "ring: none",
        ]
      }
    #expect(Set(outcomes.keys) == expected, "\(outcomes)")
    #expect(outcomes.values.allSatisfy { $0 > 100 } && outcomes.values.reduce(0, +) == 10_000)
  }

  // MARK: What the simulation is refused

  private static let refused: [(String, String)] = [
    (#""answers": {"nope": []}"#, "The device has no command \"nope\"."),
    (#""answers": {"go": {}}"#, "Missing value for level."),
    (#""answers": {"go": {"values": {"level": 256}}}"#, "256 is out of range (0 to 255)"),
    (#""answers": {"go": {"values": {"level": 1, "more": 1}}}"#, "Unknown key. Use level"),
    (#""answers": {"go": [{"send": "other"}]}"#, "Cannot send \"other\". Use answer, error"),
    (#""answers": {"go": [{"send": "answer", "values": {"level": {"parameter": "x"}}}]}"#, "go has no parameter \"x\". Use n."),
    (#""answers": {"go": [{"set": "ff02", "value": {"parameter": "n"}}]}"#, "n does not hold bytes."),
    (#""on_connect": [{"send": "go"}]"#, "Cannot send \"go\"."),
    (#""on_connect": [{"set": "ff02", "value": {"u8": {"parameter": "n"}}}]"#, "\"parameter\" works only in the answers of a device file."),
    (#""others": [{"colour": 1}]"#, "simulate.others[0].colour: Unknown key"),
    (#""answers": {"data": {"values": {"d": {"parameter": "b"}}}}"#, "d cannot hold the parameter b."),
    (#""answers": {"data": {"values": {}}}"#, "Missing value for d."),
    (#""answers": {"data": [{"send": "long"}]}"#, "Too long for a notification: 600 bytes (maximum 512)."),
    (#""others": [{}]"#, "An earlier peripheral has the same address"),
  ]

  @Test(arguments: refused.indices) func refusal(_ index: Int) {
    let (text, message) = Self.refused[index]
    let file = #"""
      {"device": "D", "to": "ff02", "from": "ff01",
       "commands": {"go": {"request": {"header": "01", "fields": [{"name": "n", "type": "u8"}]},
         "answer": {"frame": {"header": "02", "fields": [{"name": "level", "type": "u8"}]}}},
         "data": {"request": {"header": "03", "fields": [{"name": "b", "type": "bytes"}]}, "answer": {"frame": {"header": "04", "fields": [{"name": "d", "type": "u8"}]}}}}, "events": {"long": {"frame": {"fields": [{"skip": 600}]}}},
       "simulate": {"name": "N", "address": "D1:00:00:00:00:09/random", "services": [{"uuid": "fff0", "characteristics": [
         {"uuid": "ff01", "properties": ["notify"]}, {"uuid": "ff02", "properties": ["write"]}]}], \#(text)}}
      """#
    let error = #expect(throws: FileEntryError.self) { try PeripheralFile.parse(Array(file.utf8), name: "x.json") }
    #expect(error?.description.contains(message) == true && error?.line == 6, "\(error?.description ?? "")")
  }

  @Test func nothingToSimulate() {
    let error = #expect(throws: FileEntryError.self) {
      try PeripheralFile.parse(Array(#"{"device": "D", "commands": {}}"#.utf8), name: "x")
    }
    #expect(error?.reason.contains("Cannot simulate this device: its file has no key \"simulate\"") == true)
  }
}
