package import DeviceFiles

/// The values that a parameter of a device's command accepts.
package struct CallParameter {
  /// The type: `integer`, `number`, `text`, `bytes` or `list`.
  let type: String
  /// The limits as JSON literals. Nil without a limit.
  let least: String?
  let greatest: String?
  /// The names of some of the values.
  package let choices: [String]
  /// The form in which the user types a list: `hour/minutes,hour/minutes`.
  let form: String?
  /// A summary for people.
  package let text: String

  package init(_ parameter: DeviceCommand.Parameter) {
    let field = parameter.field
    let own = Self.range(field)
    least = parameter.least.map(Self.literal) ?? own?.least
    greatest = parameter.greatest.map(Self.literal) ?? own?.greatest
    choices = Self.choices(field)
    type = Self.type(field)
    let range = parameter.rangeText ?? own.map { "\($0.least) to \($0.greatest)" }
    switch field {
    case .number, .bit:
      form = nil
      text = parameter.rangeText ?? (choices.isEmpty ? range ?? "number" : choices.joined(separator: ", "))
    case .string(let string):
      form = nil
      text = Self.text(string)
    case .list(let list):
      let form = Self.form(list)
      self.form = form
      text = form + (range.map { ", each \($0)" } ?? "")
    }
  }

  private static func type(_ field: DeviceFiles.Frame.Field) -> String {
    switch field {
    case .number(let number): number.scale == nil && number.layout.kind != .float ? "integer" : "number"
    case .bit: "integer"
    case .string(let string): string.isText ? "text" : "bytes"
    case .list: "list"
    }
  }

  private static func choices(_ field: DeviceFiles.Frame.Field) -> [String] {
    switch field {
    case .number(let number): number.names.map(\.name)
    case .bit(let bit): bit.names.map(\.name)
    case .string(let string): string.choices
    case .list(let list): if case .number(let number) = list.item { number.names.map(\.name) } else { [] }
    }
  }

  private static func literal(_ number: Double) -> String { DeviceValue.number(number).plainText }

  /// Returns the range of the field, or of each number in a list.
  private static func range(_ field: DeviceFiles.Frame.Field) -> (least: String, greatest: String)? {
    switch field {
    case .number(let number): return range(number)
    case .bit(let bit): return ("0", "\((1 as UInt64) << UInt64(bit.width) - 1)")
    case .list(let list): if case .number(let number) = list.item { return range(number) } else { return nil }
    case .string: return nil
    }
  }

  private static func range(_ field: NumberField) -> (least: String, greatest: String)? {
    guard let ends = field.limits?.split(separator: " to ").map(String.init), ends.count == 2,
      ends.allSatisfy({ Double($0)?.isFinite ?? false })
    else { return nil }
    return (ends[0], ends[1])
  }

  private static func text(_ field: DeviceFiles.Frame.StringField) -> String {
    if !field.choices.isEmpty { return field.choices.joined(separator: ", ") }
    return switch field.extent {
    case .fixed(let count): field.isText ? "text, up to \(Quantity.octets(count))" : "hex, \(Quantity.octets(count))"
    case .sized, .rest: field.isText ? "text" : "hex"
    }
  }

  /// Returns the form in which the user types a list: commas between items, slashes between their fields.
  private static func form(_ list: DeviceFiles.Frame.ListField) -> String {
    let item =
      switch list.item {
      case .number: "n"
      case .group(let pieces): DeviceFiles.Frame(name: "", pieces: pieces).fields.map(\.name).joined(separator: "/")
      }
    if case .fixed(let count) = list.extent {
      return count > 3 ? "\(item),\(item),… (\(count) items)" : Array(repeating: item, count: count).joined(separator: ",")
    }
    return "\(item),\(item),…"
  }
}
