package import DeviceFiles
package import EventLoop
package import Operations
package import Terminal
import Text

/// The output of `call`.
@LoopActor
package enum CallText {
  // MARK: Answers

  package static func show(_ answer: DeviceAnswer, to command: DeviceCommand, of connection: Connection, _ output: Output) async throws {
    if output.style.json {
      return try await output.record {
        $0.string("event", "answer")
        $0.string("command", command.name)
        $0.object("values") { json in for value in answer.values { DeviceValueRecord.write(value, &json) } }
        $0.strings("packets", answer.packets.map { Hex.encode($0) })
        connection.identify(in: &$0)
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

  /// Returns one line such as `level = 60 %`, or one line for each object of a list.
  private static func lines(_ value: NamedValue, unit: String?) -> [String] {
    if case .list(let items) = value.value, case .object? = items.first {
      return items.enumerated().map { "\(value.name)[\($0 + 1)] = \(DisplayText.escape($1.plainText))" }
    }
    return ["\(value.name) = \(DisplayText.escape(value.value.plainText))" + (unit.map { " \($0)" } ?? "")]
  }

  private static func unit(_ name: String, _ answer: DeviceCommand.Answer) -> String? {
    for part in answer.parts { if let field = part.frame.field(name) { return field.note.unit } }
    return nil
  }

  package static func event(_ name: String, _ values: [NamedValue]) -> String {
    "event \(name)" + (values.isEmpty ? "" : ": \(DisplayText.escape(DeviceValue.object(values).plainText))")
  }

  package static func refused(_ packet: RefusedPacket) -> String {
    "\(DisplayText.clipMiddle(Hex.encode(packet.packet), to: 48)) \(Failure.sentence(packet.reason))"
  }

  // MARK: Commands

  package static func list(_ device: DeviceDescription, of connection: Connection?, _ output: Output) async throws {
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
          connection?.identify(in: &$0)
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

  /// Formats a parameter: `days=  1 to 30 (default: 3)  how many days`.
  private static func text(_ parameter: DeviceCommand.Parameter) -> String {
    var facts = CallParameter(parameter).text
    if let unit = parameter.field.note.unit { facts += " \(unit)" }
    if let value = parameter.defaultValue { facts += " (default: \(value.plainText))" }
    let summary = parameter.summary ?? parameter.field.note.summary
    return "\(parameter.name)=  \(facts)" + (summary.map { "  \($0)" } ?? "")
  }
}
