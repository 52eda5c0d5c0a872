package import BluetoothLE
package import Terminal

/// The output of a service with its characteristics and descriptors, as a JSON record or as a tree.
package enum ServiceTree {
  package typealias Values = CharacteristicFacts.Values
  /// The names in a device file by UUID. The output uses them for UUIDs that the Bluetooth SIG did not name.
  package typealias Names = [UUID: String]

  package static func json(_ json: inout RecordWriter, _ service: Service, _ values: Values, _ names: Names) {
    json.string("event", "service")
    json.uuid("uuid", service.uuid)
    json.integer("handle", service.handle.number)
    json.integer("end_handle", service.endHandle.number)
    json.bool("primary", service.isPrimary)
    json.string("service_name", name(service.uuid, names))
    json.objects("includes", service.includes) {
      $0.integer("handle", $1.handle.number)
      $0.integer("start_handle", $1.startHandle.number)
      $0.integer("end_handle", $1.endHandle.number)
      $0.uuid("uuid", $1.uuid)
    }
    json.objects("characteristics", service.characteristics) { json, characteristic in
      json.uuid("uuid", characteristic.uuid)
      json.integer("handle", characteristic.handle.number)
      json.integer("value_handle", characteristic.valueHandle.number)
      json.strings("properties", characteristic.properties.names)
      json.string("name", name(characteristic.uuid, names))
      CharacteristicFacts(characteristic: characteristic, values: values).json(&json) { name($0, names) }
    }
  }

  package static func lines(_ service: Service, _ values: Values, _ names: Names, _ output: Output) -> [String] {
    var lines = [
      output.paint(title(service.uuid, names), .bold)
        + output.paint("  \(service.isPrimary ? "primary" : "secondary") \(service.handle)-\(service.endHandle)", .dim)
    ]
    for include in service.includes {
      lines.append(
        "├─ includes \(include.uuid.map { title($0, names) } ?? "?")" + output.paint("  \(include.startHandle)-\(include.endHandle)", .dim))
    }
    for (index, characteristic) in service.characteristics.enumerated() {
      let facts = CharacteristicFacts(characteristic: characteristic, values: values)
      let name = facts.userDescription.map { " " + DisplayText.quote($0) } ?? ""
      let isLast = index == service.characteristics.count - 1
      lines.append(
        "\(isLast ? "└─" : "├─") \(output.paint(title(characteristic.uuid, names) + name, .cyan))"
          + output.paint("  \(characteristic.handle), value \(characteristic.valueHandle)", .dim)
          + "  [\(characteristic.properties.names.joined(separator: ", "))]")
      let indent = isLast ? "   " : "│  "
      if let text = facts.valueText { lines.append("\(indent)= \(text)") }
      for (index, descriptor) in characteristic.descriptors.enumerated() {
        let corner = index == characteristic.descriptors.count - 1 ? "└─" : "├─"
        let text = facts.text(descriptor).map { "  \($0)" } ?? ""
        lines.append("\(indent)\(corner) \(title(descriptor.uuid, names))" + output.paint("  \(descriptor.handle)", .dim) + text)
      }
    }
    return lines
  }

  private static func name(_ uuid: UUID, _ names: Names) -> String? { AssignedNumbers.name(of: uuid) ?? names[uuid] }

  private static func title(_ uuid: UUID, _ names: Names) -> String { name(uuid, names).map { "\(uuid) \($0)" } ?? uuid.description }
}
