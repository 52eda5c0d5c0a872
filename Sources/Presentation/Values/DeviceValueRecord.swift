package import DeviceFiles
package import Text

/// Writes values of a device file as JSON, from answers and from advertising data.
package enum DeviceValueRecord {
  package static func write(_ named: NamedValue, _ json: inout RecordWriter) {
    let name = named.name
    switch named.value {
    case .integer(let number): json.integer(.init(name), number)
    case .number(let number): json.number(.init(name), number)
    case .text(let text): json.string(.init(name), text)
    case .bytes(let octets): json.hex(.init(name), octets)
    case .object(let members): json.object(.init(name)) { for member in members { write(member, &$0) } }
    case .list(let items): write(items, name, &json)
    }
  }

  /// Writes a list of values. All items have the same kind, except that some numbers may have names.
  private static func write(_ items: [DeviceValue], _ name: String, _ json: inout RecordWriter) {
    if items.contains(where: { if case .object = $0 { true } else { false } }) {
      json.objects(.init(name), items) { json, item in
        if case .object(let members) = item { for member in members { write(member, &json) } }
      }
    } else if items.allSatisfy({ $0.double != nil }) {
      json.literals(.init(name), items.map(literal))
    } else {
      json.strings(.init(name), items.map(\.plainText))
    }
  }

  private static func literal(_ value: DeviceValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .number(let number): number.isFinite ? "\(number)" : "null"
    case .text, .bytes, .list, .object: "null"
    }
  }
}
