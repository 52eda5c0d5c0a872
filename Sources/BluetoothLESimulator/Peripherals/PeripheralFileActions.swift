// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// A reader of actions, and of the reactions and timers that run actions.
struct ActionReader {
  let expressions: ExpressionReader

  private var names: PeripheralNames { expressions.names }
  /// The longest delay that a file can set, in milliseconds: one hour.
  static let longest = 3_600_000
  /// The shortest interval of a timer, in milliseconds. It limits the load of timers that start each other in a loop.
  private static let shortestTimer = 10

  // MARK: Reactions

  enum Occasion {
    case write(isCollected: Bool)
    case read
  }

  private static let answerKeys = ["error", "answer", "answer_after_ms"]

  func reaction(_ entry: FileEntry, _ occasion: Occasion) throws(FileEntryError) -> Reaction {
    var keys = ["if"] + Self.answerKeys + ["then"]
    if case .write = occasion { keys = ["when", "length", "sum8"] + keys }
    let fields = try entry.object(keys)
    var reaction = Reaction()
    if let value = fields["when"] { reaction.condition.pattern = try expressions.pattern(value) }
    if let value = fields["length"] { reaction.condition.length = try value.integer(0...65_536) }
    if let value = fields["sum8"] { reaction.condition.sum8 = UInt8(clamping: try value.integer(0...255)) }
    if let value = fields["if"] { reaction.condition.state = try expressions.condition(value) }
    if case .write(isCollected: true) = occasion, let key = Self.answerKeys.first(where: { fields[$0] != nil }), let value = fields[key] {
      throw value.error("No effect with \"collect\", which answers each write before the reactions run.")
    }
    if let value = fields["error"] { reaction.answer.error = ErrorCode(rawValue: UInt8(clamping: try value.integer(1...255))) }
    if let value = fields["answer"] { reaction.answer.isSent = try value.bool() }
    if let value = fields["answer_after_ms"] { reaction.answer.delay = try value.milliseconds(0...Self.longest) }
    if let then = fields["then"] {
      reaction.actions = try list(then)
    } else if reaction.answer == Reaction.Answer() {
      throw entry.error("Missing key \"then\": the list of actions.")
    }
    return reaction
  }

  func timer(_ entry: FileEntry) throws(FileEntryError) -> PeripheralDescription.Timer {
    let fields = try entry.object(["after_ms", "every_ms", "then"])
    guard let then = fields["then"] else { throw entry.error("Missing key \"then\": the list of actions.") }
    guard let interval = fields["after_ms"] ?? fields["every_ms"], fields.count == 2 else {
      throw entry.error("Use either \"after_ms\" (fires once) or \"every_ms\" (repeats).")
    }
    return PeripheralDescription.Timer(
      interval: try expressions.time(interval, Self.shortestTimer...86_400_000), isPeriodic: fields["every_ms"] != nil,
      actions: try list(then))
  }

  // MARK: Actions

  func list(_ entry: FileEntry) throws(FileEntryError) -> [Reaction.Action] { try entry.bounded().map(action) }

  private static let kinds: FileEntry.Kinds = [
    ("notify", ["value"]), ("indicate", ["value"]), ("send", ["values"]), ("set", ["value"]), ("reset", []), ("let", ["value"]),
    ("count", ["by"]), ("set_clock", []), ("start", []), ("stop", []), ("advertise", []), ("disconnect", []), ("busy_ms", []),
    ("controller_error", []), ("do", ["times", "else"]),
  ]

  private func action(_ entry: FileEntry) throws(FileEntryError) -> Reaction.Action {
    let kind = try entry.kind(of: Self.kinds, "an action", with: ["after_ms", "if"])
    return Reaction.Action(
      try self.kind(kind), after: try kind.fields["after_ms"].map(delay),
      if: try kind.fields["if"].map(expressions.condition))
  }

  func delay(_ entry: FileEntry) throws(FileEntryError) -> DeviceTime { try expressions.time(entry, 0...Self.longest) }

  private func kind(_ kind: FileEntry.Kind) throws(FileEntryError) -> Reaction.Action.Kind {
    let target = kind.entry
    switch kind.name {
    case "let": return try assignment(kind)
    case "count":
      let variable = try names.variable(target)
      guard variable.isNumber else { throw target.error("The variable holds bytes. \"count\" needs a number.") }
      let step = try kind.fields["by"].map(expressions.number) ?? .literal(1)
      return .assignNumber(variable: variable.index, .arithmetic(.sum, [.variable(variable.index), step]))
    case "send": return try send(kind.entry, kind.fields["values"])
    case "set_clock": return .setClock(try expressions.number(target))
    case "start": return .start(timer: try names.timer(target))
    case "stop": return .stop(timer: try names.timer(target))
    case "advertise": return .advertise(try target.bool())
    case "disconnect": return .disconnect(try disconnection(target))
    case "busy_ms":
      guard names.hasFirmware else { throw target.error("No effect without \"firmware\": the device processes each packet immediately.") }
      return .busy(try target.milliseconds(1...Self.longest))
    case "controller_error": return .failController(UInt8(clamping: try target.integer(0...255)))
    case "do":
      if let value = kind.fields["else"], kind.fields["if"] == nil { throw value.error("\"else\" needs \"if\".") }
      return .block(
        try list(target), times: try kind.fields["times"].map(expressions.number) ?? .literal(1),
        otherwise: try kind.fields["else"].map(list) ?? [])
    default: return try value(kind)
    }
  }

  private func assignment(_ kind: FileEntry.Kind) throws(FileEntryError) -> Reaction.Action.Kind {
    let variable = try names.variable(kind.entry)
    guard let value = kind.fields["value"] else { throw kind.entry.error("\"let\" needs the key \"value\".") }
    return variable.isNumber
      ? .assignNumber(variable: variable.index, try expressions.number(value))
      : .assignBytes(variable: variable.index, try expressions.template(value))
  }

  /// Reads a `notify`, `indicate`, `reset` or `set` action on a characteristic.
  private func value(_ kind: FileEntry.Kind) throws(FileEntryError) -> Reaction.Action.Kind {
    let target = kind.entry
    let row = try names.characteristics.find(target)
    if kind.name == "set", kind.fields["value"] == nil { throw target.error("\"set\" needs the key \"value\".") }
    // Without a value, send the current one.
    let template = try kind.fields["value"].map(expressions.template) ?? Template(parts: [.valueOf(row.handle)])
    switch kind.name {
    case "notify":
      guard row.properties.contains(.notify) else { throw target.error("The characteristic has no notify property.") }
      return .notify(row.handle, template)
    case "indicate":
      guard row.properties.contains(.indicate) else { throw target.error("The characteristic has no indicate property.") }
      return .indicate(row.handle, template)
    case "reset":
      guard row.isSink else { throw target.error("The characteristic has no \"sink\".") }
      return .reset(sink: row.handle)
    default: return .set(row.handle, template)
    }
  }

  private func disconnection(_ entry: FileEntry) throws(FileEntryError) -> Reaction.Disconnection {
    switch entry.tree.kind {
    case .bool(true): return .terminate(.remoteUserTerminated)
    case .bool: throw entry.error("Use true, or omit the action.")
    case .string("out_of_range"): return .outOfRange
    case .number: return .terminate(ControllerErrorCode(rawValue: UInt8(clamping: try entry.integer(1...255))))
    default: throw entry.error("Use true, a reason (1–255) or \"out_of_range\".")
    }
  }
}
