// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles

/// A reader of the behavior of one characteristic: `reactions`, `collect`, `periodic`, `sink`.
struct BehaviourReader {
  let actions: ActionReader
  /// The value handle of the characteristic.
  let own: AttributeHandle

  static let keys = ["reactions", "read_reactions", "on_subscribe", "on_unsubscribe", "collect", "periodic", "sink", "unasked"]
  private static let longest = ActionReader.longest

  func read(_ entry: FileEntry, _ fields: [String: FileEntry]) throws(FileEntryError) -> PeripheralDescription.Behaviour? {
    guard fields.keys.contains(where: Self.keys.contains) else { return nil }
    var behaviour = PeripheralDescription.Behaviour()
    let characteristics = actions.expressions.names.characteristics
    let row = characteristics.byHandle[own]
    let (properties, permissions) = (row?.properties ?? [], row?.permissions ?? [])
    for key in ["reactions", "collect", "sink"] {
      guard let value = fields[key], permissions.isDisjoint(with: [.write, .writeWithoutResponse]) else { continue }
      throw value.error(
        fields["permissions"] == nil
          ? "The characteristic cannot be written: it has no write or write_without_response property."
          : "The characteristic cannot be written: its permissions forbid it.")
    }
    if let value = fields["read_reactions"], !permissions.contains(.read) {
      throw value.error(
        fields["permissions"] == nil
          ? "The characteristic cannot be read: it has no read property."
          : "The characteristic cannot be read: its permissions forbid it.")
    }
    for key in ["on_subscribe", "on_unsubscribe"] {
      guard let value = fields[key], !properties.isDisjoint(with: [.notify, .indicate]), row?.isSubscribable == false else { continue }
      throw value.error("Clients cannot subscribe: with \"unasked\", there is no descriptor 2902. Add it to \"descriptors\".")
    }
    for key in ["on_subscribe", "on_unsubscribe", "periodic", "unasked"] {
      guard let value = fields[key], properties.isDisjoint(with: [.notify, .indicate]) else { continue }
      throw value.error("Clients cannot subscribe: the characteristic has no notify or indicate property.")
    }
    for item in try fields["reactions"]?.bounded() ?? [] {
      behaviour.reactions.append(try actions.reaction(item, .write(isCollected: fields["collect"] != nil)))
    }
    for item in try fields["read_reactions"]?.bounded() ?? [] { behaviour.readReactions.append(try actions.reaction(item, .read)) }
    if let value = fields["on_subscribe"] { behaviour.onSubscribe = try actions.list(value) }
    if let value = fields["on_unsubscribe"] { behaviour.onUnsubscribe = try actions.list(value) }
    if let value = fields["collect"] {
      let fields = try value.object(["octets", "pause_ms"])
      behaviour.collect = PeripheralDescription.Collect(
        bytes: try fields["octets"]?.integer(1...65_536) ?? 65_536,
        pause: try fields["pause_ms"]?.milliseconds(1...Self.longest) ?? .seconds(1))
    }
    if let value = fields["periodic"] {
      let fields = try value.object(["every_ms", "values"])
      guard let interval = fields["every_ms"], let values = fields["values"] else {
        throw value.error("\"periodic\" needs \"every_ms\" and \"values\".")
      }
      let templates = try values.bounded().map(actions.expressions.template)
      guard !templates.isEmpty else { throw values.error("Add at least one value.") }
      behaviour.periodic = PeripheralDescription.Periodic(
        interval: try actions.expressions.time(interval, 1...Self.longest), values: templates)
    }
    if let value = fields["sink"] {
      let fields = try value.object(["report", "pause_ms"])
      guard let report = fields["report"] else { throw value.error("Missing key \"report\": the characteristic that holds the count.") }
      let target = try characteristics.find(report)
      guard target.handle != own else { throw report.error("The report must be another characteristic.") }
      behaviour.sink = PeripheralDescription.Sink(
        report: target.handle, pause: try fields["pause_ms"]?.milliseconds(1...Self.longest) ?? .milliseconds(100))
    }
    if try fields["unasked"]?.bool() ?? false {
      behaviour.unasked = (properties.contains(.notify) ? 1 : 0) | (properties.contains(.indicate) ? 2 : 0)
    }
    return behaviour
  }
}
