// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// A reader of the `simulate` entry in a device file, which describes peripherals that answer the device's commands.
enum SimulatedDevice {
  /// Returns the entry of each peripheral, and the device file whose commands the peripheral answers, nil in a peripheral file.
  static func entries(_ entry: FileEntry) throws(FileEntryError) -> [(FileEntry, DeviceDescription?)] {
    guard DeviceFile.isDevice(entry.tree) else { return [(entry, nil)] }
    let device = try DeviceFile.parse(entry)
    guard let simulation = device.simulation else { throw entry.error("Cannot simulate this device: its file has no key \"simulate\".") }
    let members = try simulation.members()
    let base = members.filter { $0.key != "others" }
    var entries = [(copy(of: base, besides: [], simulation), device as DeviceDescription?)]
    // Each of the others overrides members of the first.
    guard let others = members.first(where: { $0.key == "others" })?.entry else { return entries }
    for other in try others.bounded() { entries.append((copy(of: base, besides: try other.members(), other), device)) }
    return entries
  }

  private static func copy(
    of members: [(key: String, entry: FileEntry)], besides own: [(key: String, entry: FileEntry)], _ place: FileEntry
  ) -> FileEntry {
    let kept = members.filter { member in !own.contains { $0.key == member.key } }
    let tree = JSONTree(kind: .object((kept + own).map { ($0.key, $0.entry.tree) }), line: place.tree.line, column: place.tree.column)
    return FileEntry(file: place.file, path: place.path, tree: tree)
  }

  /// Adds the reactions to the device's commands before all other reactions to writes.
  static func add(
    _ entry: FileEntry, _ names: PeripheralNames, to behaviours: inout [AttributeHandle: PeripheralDescription.Behaviour]
  ) throws(FileEntryError) {
    var reactions: [AttributeHandle: [Reaction]] = [:]
    for (key, value) in try entry.namedMembers(limit: 256) {
      guard let command = names.device?.command(key) else { throw value.error("The device has no command \(DisplayText.quote(key)).") }
      let row = try names.characteristics.find(command.to.description, for: value)
      guard !row.properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
        throw value.error("\(command.to) cannot be written.")
      }
      var own = names
      own.command = command
      let actions = ActionReader(expressions: ExpressionReader(names: own))
      var reaction = Reaction()
      reaction.condition.command = command
      reaction.actions = value.isList ? try actions.list(value) : [try actions.answer(value)]
      reactions[row.handle, default: []].append(reaction)
    }
    for (handle, list) in reactions { behaviours[handle, default: .init()].reactions.insert(contentsOf: list, at: 0) }
  }
}

extension ActionReader {
  /// Reads an answer of one packet: `{"values": {…}, "after_ms": 20}`.
  func answer(_ entry: FileEntry) throws(FileEntryError) -> Reaction.Action {
    let fields = try entry.object(["values", "after_ms"])
    return Reaction.Action(
      try packet("answer", entry, fields["values"]),
      after: try fields["after_ms"].map(delay))
  }

  /// Reads `{"send": NAME, "values": {…}}`: an event, or a packet of the answer to the current command.
  func send(_ entry: FileEntry, _ values: FileEntry?) throws(FileEntryError) -> Reaction.Action.Kind {
    try packet(try entry.string(), entry, values)
  }

  private func packet(_ name: String, _ entry: FileEntry, _ values: FileEntry?) throws(FileEntryError) -> Reaction.Action.Kind {
    let (frame, from, fixed) = try sent(name, entry)
    guard frame.leastLength <= Frame.maximumLength else {
      throw entry.error("Too long for a notification: \(frame.leastLength) bytes (maximum \(Frame.maximumLength)).")
    }
    let row = try expressions.names.characteristics.find(from.description, for: entry)
    let members = try values?.object(frame.fields.map(\.name)) ?? [:]
    var fields: [FrameTemplate.Member] = []
    let request = expressions.names.command?.request
    for field in frame.fields {
      let value: FrameTemplate.Value
      if let member = members[field.name] {
        value = try self.value(member, of: field)
      } else if let constant = fixed[field.name] {
        value = .literal(constant)
      } else if let parameter = request?.field(field.name), Self.holds(field, parameter) {
        value = .parameter(field.name)
      } else {
        throw (values ?? entry).error("Missing value for \(field.name).")
      }
      fields.append(.init(name: field.name, value: value))
    }
    let template = Template(parts: [.frame(FrameTemplate(frame: frame, fields: fields, request: request))])
    if row.properties.contains(.notify) { return .notify(row.handle, template) }
    guard row.properties.contains(.indicate) else { throw entry.error("\(from) has no notify or indicate property.") }
    return .indicate(row.handle, template)
  }

  /// Returns the frame that `name` refers to, the characteristic that sends the frame, and default values of its fields.
  private func sent(_ name: String, _ entry: FileEntry) throws(FileEntryError) -> (Frame, DeviceCharacteristic, [String: DeviceValue]) {
    guard let device = expressions.names.device else { throw entry.error("\"send\" works only in a device file.") }
    let answer = expressions.names.command?.answer
    if let answer, let frame = frame(name, of: answer) {
      var fixed: [String: DeviceValue] = [:]
      if let errors = answer.errors, errors.frame == nil, let fine = errors.fine.first { fixed[errors.field] = fine }
      return (frame, answer.from, fixed)
    }
    if let event = device.events.first(where: { $0.name == name }) { return (event.frame, event.from, [:]) }
    let names = (answer.map { ["answer", "error"] + $0.parts.map(\.frame.name) } ?? []) + device.events.map(\.name)
    throw entry.error("Cannot send \(DisplayText.quote(name)). Use \(names.joined(separator: ", ")).")
  }

  private func frame(_ name: String, of answer: DeviceCommand.Answer) -> Frame? {
    switch name {
    case "answer": answer.parts.first?.frame
    case "error": answer.errors?.frame
    default: answer.parts.first { $0.frame.name == name }?.frame
    }
  }

  /// Returns whether a field can hold the value of another field.
  private static func holds(_ field: Frame.Field, _ other: Frame.Field) -> Bool {
    switch (field, other) {
    case (.number, .number), (.number, .bit), (.bit, .number), (.bit, .bit), (.list, .list): true
    case (.string(let string), .string(let other)): string.isText == other.isText
    case (.number, _), (.bit, _), (.string, _), (.list, _): false
    }
  }

  private func value(_ entry: FileEntry, of field: Frame.Field) throws(FileEntryError) -> FrameTemplate.Value {
    if entry.isObject, case .string(let name)? = entry.tree["parameter"]?.kind, try entry.members().count == 1 {
      guard let parameter = expressions.names.command?.request.field(name) else {
        _ = try expressions.parameter(try entry.members().first?.entry ?? entry)
        throw entry.error("The request has no field \(DisplayText.quote(name)).")
      }
      guard Self.holds(field, parameter) else { throw entry.error("\(field.name) cannot hold the parameter \(name).") }
      return .parameter(name)
    }
    switch field {
    case .number, .bit: return entry.isObject ? .number(try expressions.number(entry), field) : .literal(try entry.value(of: field))
    case .string(let string):
      return entry.isObject || entry.isList
        ? .bytes(try expressions.template(entry), isText: string.isText) : .literal(try entry.value(of: field))
    case .list(let list):
      var items: [FrameTemplate.Value] = []
      for item in try entry.bounded() {
        switch list.item {
        case .number(let number): items.append(try value(item, of: .number(number)))
        case .group(let pieces):
          let fields = Frame(name: field.name, pieces: pieces).fields
          let members = try item.object(fields.map(\.name))
          var values: [FrameTemplate.Member] = []
          for inner in fields {
            guard let member = members[inner.name] else { throw item.error("Missing value for \(inner.name).") }
            values.append(.init(name: inner.name, value: try value(member, of: inner)))
          }
          items.append(.object(values))
        }
      }
      return .list(items)
    }
  }
}
