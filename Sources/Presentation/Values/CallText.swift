package import BluetoothLE
package import BluetoothLEDeviceFiles
package import Terminal

/// The output of the command `call`.
@LoopActor
package enum CallText {
  // MARK: Answers

  /// Writes an answer as a record, which ends with the members of the device, or as one line for each value.
  package static func show(_ answer: DeviceAnswer, to command: DeviceCommand, of device: RecordWriter.Members, _ output: Output)
    async throws
  {
    if output.style.json {
      return try await output.record {
        $0.string("event", "answer")
        $0.string("command", command.name)
        $0.object("values") { json in for value in answer.values { DeviceValueRecord.write(value, &json) } }
        $0.strings("packets", answer.packets.map { Hex.encode($0) })
        $0.members(device)
      }
    }
    for value in answer.values {
      for line in lines(value, unit: command.answer.flatMap { unit(value.name, $0) }) { try await output.line(output.displayText(line)) }
    }
    if command.answer == nil {
      output.status("Sent \(command.name). This command has no answer.")
    } else if answer.values.isEmpty {
      output.status("The device confirmed \(command.name).")
    }
  }

  /// Returns one line such as `level = 60 %`, or several lines for a list of objects.
  private static func lines(_ value: NamedValue, unit: String?) -> [String] {
    if case .list(let items) = value.value, case .object? = items.first {
      return items.enumerated().map { "\(value.name)[\($0 + 1)] = \($1.displayText)" }
    }
    return ["\(value.name) = \(value.value.displayText)" + (unit.map { " \($0)" } ?? "")]
  }

  private static func unit(_ name: String, _ answer: DeviceCommand.Answer) -> String? {
    for part in answer.parts { if let field = part.frame.field(name) { return field.note.unit } }
    return nil
  }

  package static func event(_ name: String, _ values: [NamedValue]) -> String {
    "event \(name)" + (values.isEmpty ? "" : ": \(DeviceValue.object(values).displayText)")
  }

  // MARK: Commands

  /// Writes the commands of a device file as records, which end with the members of the device, or as lines.
  package static func list(_ device: DeviceDescription, of members: RecordWriter.Members, _ output: Output) async throws {
    for command in device.commands {
      if output.style.json {
        try await output.record {
          $0.string("event", "command")
          $0.string("command", command.name)
          $0.string("summary", command.summary)
          $0.objects("parameters", command.parameters) { json, parameter in
            let facts = CallParameter(parameter)
            json.string("name", parameter.name)
            json.string("type", facts.type)
            literal("least", facts.least, &json)
            literal("greatest", facts.greatest, &json)
            if facts.choices.isEmpty { json.string("choices", nil) } else { json.strings("choices", facts.choices) }
            json.string("form", facts.form)
            if let value = parameter.defaultValue {
              DeviceValueRecord.write(NamedValue("default", value), &json)
            } else {
              json.string("default", nil)
            }
            json.string("unit", parameter.field.note.unit)
            json.string("summary", parameter.summary ?? parameter.field.note.summary)
          }
          $0.members(members)
        }
      } else {
        try await output.line(output.displayText(command.name + (command.summary.map { "  \($0)" } ?? "")))
        for parameter in command.parameters { try await output.line(output.displayText("  \(text(parameter))")) }
      }
    }
  }

  private static func literal(_ key: String, _ number: String?, _ json: inout RecordWriter) {
    if let number { json.literal(.init(key), number) } else { json.string(.init(key), nil) }
  }

  /// Formats a parameter of a command, such as `days=  1 to 30 (default: 3)  how many days`.
  private static func text(_ parameter: DeviceCommand.Parameter) -> String {
    var facts = CallParameter(parameter).text
    if let unit = parameter.field.note.unit { facts += " \(unit)" }
    if let value = parameter.defaultValue { facts += " (default: \(value.plainText))" }
    let summary = parameter.summary ?? parameter.field.note.summary
    return "\(parameter.name)=  \(facts)" + (summary.map { "  \($0)" } ?? "")
  }
}

extension DeviceValue {
  /// The value on one line, with escaped control characters.
  var displayText: String { DisplayText.escape(plainText) }
}

/// The type and limits of a parameter of a device file's command.
package struct CallParameter {
  /// The type of the parameter, which is `integer`, `number`, `text`, `bytes` or `list`.
  let type: String
  /// The smallest value as a JSON literal. Nil without a limit.
  let least: String?
  let greatest: String?
  /// The names that the user can type instead of values. Empty if the values have no names.
  package let choices: [String]
  /// The form in which the user types a list, such as `hour/minutes,hour/minutes`. Nil for other types.
  let form: String?
  /// The accepted values in words, such as `1 to 30`.
  package let text: String

  package init(_ parameter: DeviceCommand.Parameter) {
    var own: (least: String, greatest: String)?
    var form: String?
    switch parameter.field {
    case .number(let number):
      type = number.scale == nil && number.layout.kind != .float ? "integer" : "number"
      (choices, own) = (number.names.map(\.name), Self.range(number))
    case .bit(let bit):
      type = "integer"
      (choices, own) = (bit.names.map(\.name), ("0", "\((1 as UInt64) << UInt64(bit.width) - 1)"))
    case .string(let string): (type, choices) = (string.isText ? "text" : "bytes", string.choices)
    case .list(let list):
      type = "list"
      form = Self.form(list)
      if case .number(let number) = list.item { (choices, own) = (number.names.map(\.name), Self.range(number)) } else { choices = [] }
    }
    self.form = form
    least = parameter.least.map(Self.literal) ?? own?.least
    greatest = parameter.greatest.map(Self.literal) ?? own?.greatest
    let range = parameter.rangeText ?? own.map { "\($0.least) to \($0.greatest)" }
    if case .string(let string) = parameter.field {
      text = Self.text(string)
    } else if let form {
      text = form + (range.map { ", each \($0)" } ?? "")
    } else {
      text = parameter.rangeText ?? (choices.isEmpty ? range ?? "number" : choices.joined(separator: ", "))
    }
  }

  private static func literal(_ number: Double) -> String { DeviceValue.number(number).plainText }

  private static func range(_ field: NumberField) -> (least: String, greatest: String)? {
    guard let ends = field.limits?.split(separator: " to ").map(String.init), ends.count == 2,
      ends.allSatisfy({ Double($0)?.isFinite ?? false })
    else { return nil }
    return (ends[0], ends[1])
  }

  private static func text(_ field: BluetoothLEDeviceFiles.Frame.StringField) -> String {
    if !field.choices.isEmpty { return field.choices.joined(separator: ", ") }
    return switch field.extent {
    case .fixed(let count): field.isText ? "text, up to \(Quantity.bytes(count))" : "hex, \(Quantity.bytes(count))"
    case .sized, .rest: field.isText ? "text" : "hex"
    }
  }

  /// Returns the form in which the user types a list, with commas between items and slashes between the fields of an item.
  private static func form(_ list: BluetoothLEDeviceFiles.Frame.ListField) -> String {
    let item =
      switch list.item {
      case .number: "n"
      case .group(let pieces): BluetoothLEDeviceFiles.Frame(name: "", pieces: pieces).fields.map(\.name).joined(separator: "/")
      }
    if case .fixed(let count) = list.extent {
      return count > 3 ? "\(item),\(item),… (\(count) items)" : Array(repeating: item, count: count).joined(separator: ",")
    }
    return "\(item),\(item),…"
  }
}

/// The JSON form of values from answers or advertising data that a device file describes.
package enum DeviceValueRecord {
  package static func write(_ named: NamedValue, _ json: inout RecordWriter) {
    let name = named.name
    switch named.value {
    case .integer(let number): json.integer(.init(name), number)
    case .number(let number): json.number(.init(name), number)
    case .text(let text): json.string(.init(name), text)
    case .bytes(let bytes): json.hex(.init(name), bytes)
    case .object(let members): json.object(.init(name)) { for member in members { write(member, &$0) } }
    case .list(let items): write(items, name, &json)
    }
  }

  /// Writes a list of values as a JSON array. The items must have the same kind, except that numbers may have names.
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
