// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A reader of the commands, answers and events in a device file.
struct CommandReader {
  let frames: FrameReader
  let characteristics: CharacteristicNames
  /// The characteristic for commands that set no `to` of their own. Nil if the file sets no default.
  var to: DeviceCharacteristic?
  var from: DeviceCharacteristic?
  var errors: DeviceCommand.Errors?

  private static let longest = 3_600_000
  private static let keys = [
    "summary", "to", "mode", "chunk", "gap_ms", "request", "parameters", "counter", "answer",
  ]

  func command(_ name: String, _ entry: FileEntry) throws(FileEntryError) -> DeviceCommand {
    let fields = try entry.object(Self.keys)
    guard let request = fields["request"] else { throw entry.error("Missing key \"request\": the frame to write.") }
    guard let to = try fields["to"].map(characteristics.find) ?? to else {
      throw entry.error("Missing key \"to\": the characteristic to write. Set it here or for the whole file.")
    }
    var command = DeviceCommand(name: name, to: to, request: try frames.frame(request, called: name))
    command.summary = try fields["summary"]?.words()
    if let value = fields["mode"] {
      command.mode = try value.choice("Unknown mode. Use \(WriteMode.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    command.chunk = try fields["chunk"]?.integer(1...512)
    command.gap = try fields["gap_ms"]?.milliseconds(0...60_000) ?? .zero
    if let value = fields["counter"] {
      let name = try value.string()
      guard case .number(let field)? = command.request.field(name), field.layout.kind == .unsigned else {
        throw value.error("The request has no unsigned-number field \(DisplayText.quote(name)).")
      }
      command.counter = name
    }
    command.parameters = command.request.fields.filter { $0.name != command.counter }.map { .init(field: $0) }
    for (key, value) in try fields["parameters"]?.namedMembers(limit: 256) ?? [] {
      guard let index = command.parameters.firstIndex(where: { $0.name == key }) else {
        throw value.error("The request has no field \(DisplayText.quote(key)).")
      }
      command.parameters[index] = try parameter(command.parameters[index].field, value)
    }
    if let value = fields["answer"], !value.isFalse { command.answer = try answer(value, command) }
    return command
  }

  private func parameter(_ field: Frame.Field, _ entry: FileEntry) throws(FileEntryError) -> DeviceCommand.Parameter {
    let fields = try entry.object(["least", "greatest", "default", "summary"])
    var parameter = DeviceCommand.Parameter(field: field)
    if let value = fields["least"] ?? fields["greatest"] {
      if case .string = field { throw value.error("Only numbers have a range.") }
    }
    parameter.least = try fields["least"]?.decimal()
    parameter.greatest = try fields["greatest"]?.decimal()
    if let span = field.span {
      for key in ["least", "greatest"] {
        guard let value = fields[key], let number = try? value.decimal(), !span.contains(number) else { continue }
        func text(_ number: Double) -> String { DeviceValue.number(number).plainText }
        throw value.error("The field holds \(text(span.lowerBound)) to \(text(span.upperBound)).")
      }
    }
    if let low = parameter.least, let high = parameter.greatest, low > high { throw entry.error("\"least\" is above \"greatest\".") }
    parameter.summary = try fields["summary"]?.words()
    if let value = fields["default"] {
      let literal = try value.value(of: field)
      do { try parameter.check(literal) } catch { throw value.error(error.description) }
      parameter.defaultValue = literal
    }
    return parameter
  }

  func event(_ name: String, _ entry: FileEntry) throws(FileEntryError) -> DeviceEvent {
    let fields = try entry.object(["summary", "from", "frame"])
    guard let frame = fields["frame"] else { throw entry.error("Missing key \"frame\": the layout of the packet.") }
    guard let from = try fields["from"].map(characteristics.find) ?? from else { throw entry.error(Self.needsFrom) }
    return DeviceEvent(name: name, summary: try fields["summary"]?.words(), from: from, frame: try frames.frame(frame, called: name))
  }

  private static let needsFrom = "Missing key \"from\": the characteristic that sends the packets. Set it here or for the whole file."

  // MARK: Answers

  private static let partKeys = ["frame", "count", "until", "silence_ms", "index", "as"]

  private func answer(_ entry: FileEntry, _ command: DeviceCommand) throws(FileEntryError) -> DeviceCommand.Answer {
    let fields = try entry.object(["from", "within_ms", "errors", "echo", "packets"] + Self.partKeys)
    guard let from = try fields["from"].map(characteristics.find) ?? from else { throw entry.error(Self.needsFrom) }
    var parts: [DeviceCommand.Part] = []
    if let packets = fields["packets"] {
      for key in Self.partKeys { if let other = fields[key] { throw other.error("Set this in each item of \"packets\".") } }
      for item in try packets.bounded() { parts.append(try part(item, try item.object(Self.partKeys), command.name, after: parts)) }
      guard !parts.isEmpty else { throw packets.error("Add at least one packet.") }
      for (part, item) in zip(parts.dropLast(), try packets.list()) {
        if case .silence = part.end { throw item.error("Only the last packet can have \"silence_ms\".") }
      }
    } else {
      parts = [try part(entry, fields, command.name, after: [])]
    }
    var answer = DeviceCommand.Answer(from: from, parts: parts, limit: DeviceCommand.Answer.defaultLimit)
    if let value = fields["within_ms"] { answer.limit = try value.milliseconds(1...Self.longest) }
    answer.errors = errors
    if let value = fields["errors"] { answer.errors = value.isFalse ? nil : try errors(value, answers: parts.map(\.frame)) }
    for item in try fields["echo"]?.bounded() ?? [] {
      let name = try item.string()
      guard command.request.field(name) != nil else { throw item.error("The request has no field \(DisplayText.quote(name)).") }
      guard parts.contains(where: { $0.frame.field(name) != nil }) else {
        throw item.error("The answer has no field \(DisplayText.quote(name)).")
      }
      answer.echo.append(name)
    }
    try checkNames(answer, entry)
    return answer
  }

  /// Checks that no two parts have a field with the same name.
  private func checkNames(_ answer: DeviceCommand.Answer, _ entry: FileEntry) throws(FileEntryError) {
    var names: Set<String> = []
    for part in answer.parts {
      let plumbing = AnswerReader.plumbing(part, of: answer)
      let own = part.group.map { [$0] } ?? part.frame.fields.map(\.name).filter { !plumbing.contains($0) && $0 != answer.errors?.field }
      for name in own where !names.insert(name).inserted {
        throw entry.error("Two packets have a field \(DisplayText.quote(name)). Rename one, or group its packet with \"as\".")
      }
    }
  }

  private func part(
    _ entry: FileEntry, _ fields: [String: FileEntry], _ name: String, after parts: [DeviceCommand.Part]
  ) throws(FileEntryError) -> DeviceCommand.Part {
    guard let frame = fields["frame"] else { throw entry.error("Missing key \"frame\": the layout of the packet.") }
    var part = DeviceCommand.Part(frame: try frames.frame(frame, called: "the answer to \(name)"))
    let ends = ["count", "until", "silence_ms"].compactMap { fields[$0] }
    if let second = ends.dropFirst().first { throw second.error("Use only one of \"count\", \"until\" and \"silence_ms\".") }
    if let value = fields["count"] {
      part.end =
        try value.isObject ? .field(countField(value, part.frame, parts)) : .count(value.integer(1...DeviceCommand.Answer.maximumPackets))
    }
    if let value = fields["until"] {
      let (name, literal) = try value.onlyMember("the field and its value in the last packet")
      guard let field = part.frame.field(name) else { throw literal.error("The frame has no field \(DisplayText.quote(name)).") }
      part.end = .value(field: name, try literal.value(of: field))
    }
    if let value = fields["silence_ms"] { part.end = .silence(try value.milliseconds(1...60_000)) }
    if let value = fields["index"] { part.index = try index(value, part.frame) }
    if let value = fields["as"] { part.group = try value.name() }
    return part
  }

  /// Parses `{"field": NAME}` and returns NAME, the field that holds the number of packets.
  private func countField(_ entry: FileEntry, _ frame: Frame, _ parts: [DeviceCommand.Part]) throws(FileEntryError) -> String {
    let (key, value) = try entry.onlyMember("\"field\", the name of the field that holds the number of packets")
    guard key == "field" else { throw value.unknownKey(["field"]) }
    let name = try value.string()
    guard ([frame] + parts.map(\.frame)).contains(where: { Self.isWhole($0.field(name)) }) else {
      throw value.error("No whole-number field \(DisplayText.quote(name)) in this or an earlier packet.")
    }
    return name
  }

  private func index(_ entry: FileEntry, _ frame: Frame) throws(FileEntryError) -> DeviceCommand.Part.Index {
    let fields = entry.isObject ? try entry.object(["field", "first"]) : ["field": entry]
    guard let field = fields["field"] else { throw entry.error("Missing key \"field\": the field that numbers the packets.") }
    let name = try field.string()
    guard Self.isWhole(frame.field(name)) else { throw field.error("The frame has no whole-number field \(DisplayText.quote(name)).") }
    return .init(field: name, first: try fields["first"]?.integer(0...65_536) ?? 1)
  }

  private static func isWhole(_ field: Frame.Field?) -> Bool {
    switch field {
    case .number(let field)?: field.layout.kind == .unsigned && field.scale == nil && field.names.isEmpty
    case .bit(let bit)?: bit.names.isEmpty
    case .string?, .list?, nil: false
    }
  }

  // MARK: Errors

  /// Reads an `errors` object: the field with the error code, and the meanings of the codes.
  /// - Parameter answers: The frames of the answer, which contain the code if `errors` has no frame of its own.
  func errors(_ entry: FileEntry, answers: [Frame]) throws(FileEntryError) -> DeviceCommand.Errors {
    let fields = try entry.object(["frame", "field", "ok", "codes"])
    guard let name = fields["field"] else { throw entry.error("Missing key \"field\": the field that holds the error code.") }
    let frame = try fields["frame"].map { value throws(FileEntryError) in try frames.frame(value, called: "the error") }
    let wanted = try name.string()
    guard let field = (frame.map { [$0] } ?? answers).compactMap({ $0.field(wanted) }).first else {
      throw name.error(
        frame == nil && answers.isEmpty
          ? "Errors of the whole file need the key \"frame\"." : "The frame has no field \(DisplayText.quote(wanted)).")
    }
    var errors = DeviceCommand.Errors(frame: frame, field: field.name)
    if let value = fields["ok"] {
      for item in value.isList ? try value.bounded() : [value] { errors.fine.append(try item.value(of: field)) }
    } else if frame == nil {
      throw entry.error("Missing key \"ok\": the value that means no error.")
    }
    for (key, value) in try fields["codes"]?.namedMembers(limit: 256) ?? [] {
      let code: DeviceValue
      do { code = try field.canonical(try field.parse(key)) } catch { throw value.error(error.description) }
      errors.meanings[DeviceCommand.Errors.key(code)] = try value.words()
    }
    return errors
  }
}

extension FileEntry {
  fileprivate var isFalse: Bool { if case .bool(false) = tree.kind { true } else { false } }

  fileprivate func onlyMember(_ wanted: String) throws(FileEntryError) -> (key: String, entry: FileEntry) {
    guard isObject, let only = try members().first, try members().count == 1 else {
      throw error("Expected an object with one key: \(wanted).")
    }
    return only
  }
}
