import ATT
import Bluetooth
import EventLoop
import GATT
import Text

/// What a characteristic does beyond holding its value: `reactions`, `collect`, `periodic`, `sink`.
struct BehaviourReader {
  /// The characteristics of the peripheral, to find those that a behaviour names.
  struct Table {
    struct Row {
      let handle: AttributeHandle
      let service: UUID
      let properties: Properties
      let isSink: Bool
    }
    private var rows: [UUID: [Row]] = [:]
    private(set) var byHandle: [AttributeHandle: Row] = [:]

    mutating func add(_ handle: AttributeHandle, service: UUID, _ database: AttributeDatabase, isSink: Bool) {
      guard let attribute = database[handle], case .value(let properties, _) = attribute.role else { return }
      let row = Row(handle: handle, service: service, properties: properties, isSink: isSink)
      rows[attribute.type, default: []].append(row)
      byHandle[handle] = row
    }

    /// `ffe2`, or `ffe0/ffe2` where several characteristics have the UUID.
    func find(_ entry: FileEntry) throws(PeripheralFileError) -> Row {
      let text = try entry.string()
      let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { UUID($0) }
      guard (1...2).contains(parts.count), case let uuid?? = parts.last, case let service? = parts.first else {
        throw entry.error("\(DisplayText.quote(text)) is not a characteristic: ffe2, or service and characteristic, ffe0/ffe2")
      }
      let found = (rows[uuid] ?? []).filter { parts.count == 1 || $0.service == service }
      guard let row = found.first else {
        throw entry.error("no characteristic \(DisplayText.quote(text)) in the services of this peripheral")
      }
      guard found.count == 1 else {
        throw entry.error("\(found.count) characteristics are \(DisplayText.quote(text)); say which by its service, as ffe0/ffe2")
      }
      return row
    }
  }

  let table: Table
  /// Value handle of the characteristic that is read.
  let own: AttributeHandle

  private static let maximumItems = 256
  /// An hour: longer waits are typing errors.
  private static let longest = 3_600_000

  func read(_ entry: FileEntry, _ fields: [String: FileEntry]) throws(PeripheralFileError) -> PeripheralDescription.Behaviour? {
    guard fields.keys.contains(where: { ["reactions", "collect", "periodic", "sink"].contains($0) }) else { return nil }
    var behaviour = PeripheralDescription.Behaviour()
    let properties = table.byHandle[own]?.properties ?? []
    for key in ["reactions", "collect", "sink"] {
      guard let value = fields[key], properties.isDisjoint(with: [.write, .writeWithoutResponse]) else { continue }
      throw value.error("nothing can be written to a characteristic without the write or write_without_response property")
    }
    if let list = fields["reactions"] {
      for item in try bounded(list) { behaviour.reactions.append(try reaction(item)) }
    }
    if let value = fields["collect"] {
      let fields = try value.object(["octets", "pause_ms"])
      behaviour.collect = PeripheralDescription.Collect(
        octets: try fields["octets"]?.integer(1...65_536) ?? 65_536,
        pause: try fields["pause_ms"]?.milliseconds(1...Self.longest) ?? .seconds(1))
    }
    if let value = fields["periodic"] {
      let fields = try value.object(["every_ms", "values"])
      guard let interval = fields["every_ms"], let values = fields["values"] else { throw value.error("it has every_ms and values") }
      guard !properties.isDisjoint(with: [.notify, .indicate]) else {
        throw value.error("nobody can subscribe to a characteristic without the notify or indicate property")
      }
      var templates: [Reaction.Template] = []
      for item in try bounded(values) { templates.append(try template(item)) }
      guard !templates.isEmpty else { throw values.error("no values") }
      behaviour.periodic = PeripheralDescription.Periodic(interval: try interval.milliseconds(1...Self.longest), values: templates)
    }
    if let value = fields["sink"] {
      let fields = try value.object(["report", "pause_ms"])
      guard let report = fields["report"] else { throw value.error("it has no report: the characteristic that holds the count") }
      let target = try table.find(report)
      guard target.handle != own else { throw report.error("the report is a characteristic of its own") }
      behaviour.sink = PeripheralDescription.Sink(
        report: target.handle, pause: try fields["pause_ms"]?.milliseconds(1...Self.longest) ?? .milliseconds(100))
    }
    return behaviour
  }

  private func bounded(_ entry: FileEntry) throws(PeripheralFileError) -> [FileEntry] {
    let items = try entry.list()
    guard items.count <= Self.maximumItems else { throw entry.error("\(items.count) items: at most \(Self.maximumItems) are allowed") }
    return items
  }

  private func reaction(_ entry: FileEntry) throws(PeripheralFileError) -> Reaction {
    let fields = try entry.object(["when", "length", "sum8", "then"])
    var reaction = Reaction()
    if let value = fields["when"] {
      let text = try value.string()
      guard let pattern = Reaction.Pattern(text) else {
        throw value.error("\(DisplayText.quote(text)) is not a pattern: hex digits, ?? for any octet, a final * for any rest")
      }
      reaction.condition.pattern = pattern
    }
    if let value = fields["length"] { reaction.condition.length = try value.integer(0...65_536) }
    if let value = fields["sum8"] { reaction.condition.sum8 = UInt8(clamping: try value.integer(0...255)) }
    guard let then = fields["then"] else { throw entry.error("it has no then: the list of what happens") }
    for item in try bounded(then) { reaction.actions.append(try action(item)) }
    return reaction
  }

  private static let actions = ["notify", "indicate", "set", "reset", "disconnect"]

  private func action(_ entry: FileEntry) throws(PeripheralFileError) -> Reaction.Action {
    let fields = try entry.object(Self.actions + ["value", "after_ms"])
    let kinds = Self.actions.filter { fields[$0] != nil }
    guard kinds.count == 1, let kind = kinds.first, let target = fields[kind] else {
      throw entry.error("an action has exactly one of \(Self.actions.joined(separator: ", "))")
    }
    let delay = try fields["after_ms"]?.milliseconds(0...Self.longest) ?? .zero
    if kind == "disconnect" || kind == "reset", let value = fields["value"] { throw value.error("\(kind) takes no value") }
    if kind == "disconnect" {
      guard try target.bool() else { throw target.error("only true makes sense") }
      return .disconnect(after: delay)
    }
    let row = try table.find(target)
    if kind == "reset" {
      guard row.isSink else { throw target.error("the characteristic is no sink") }
      return .reset(sink: row.handle, after: delay)
    }
    // Without a value, the one that is there.
    let template = try fields["value"].map(template) ?? Reaction.Template(parts: [.valueOf(row.handle)])
    switch kind {
    case "notify":
      guard row.properties.contains(.notify) else { throw target.error("the characteristic has no notify property") }
      return .notify(row.handle, template, after: delay)
    case "indicate":
      guard row.properties.contains(.indicate) else { throw target.error("the characteristic has no indicate property") }
      return .indicate(row.handle, template, after: delay)
    default: return .set(row.handle, template, after: delay)
    }
  }

  /// A value whose parts may also be `{"value_of": …}`, `{"written": true}`, `{"checksum": "sum8"}`.
  private func template(_ entry: FileEntry) throws(PeripheralFileError) -> Reaction.Template {
    var parts: [Reaction.Template.Part] = []
    var length = 0
    for item in entry.isList ? try bounded(entry) : [entry] {
      let part = try part(item)
      if case .octets(let literal) = part { length += literal.count }
      parts.append(part)
    }
    guard length <= AttributeDatabase.maximumValueLength else {
      throw entry.error("\(length) octets: at most \(AttributeDatabase.maximumValueLength) are allowed")
    }
    return Reaction.Template(parts: parts)
  }

  private func part(_ entry: FileEntry) throws(PeripheralFileError) -> Reaction.Template.Part {
    guard entry.isObject else { return .octets(try entry.hex()) }
    let (key, value) = try entry.single(of: ["value_of", "written", "checksum"] + ValueFormat.names)
    switch key {
    case "value_of": return .valueOf(try table.find(value).handle)
    case "written":
      guard try value.bool() else { throw value.error("only true makes sense") }
      return .written
    case "checksum":
      guard try value.string() == "sum8" else { throw value.error("unknown checksum; there is sum8") }
      return .sum8
    default: return .octets(try value.typed(key))
    }
  }
}
