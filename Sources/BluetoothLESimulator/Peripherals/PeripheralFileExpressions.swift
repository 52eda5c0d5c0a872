// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// A reader of expressions from which a device computes numbers and bytes.
struct ExpressionReader {
  let names: PeripheralNames

  // MARK: Bytes

  static let partKinds: FileEntry.Kinds =
    [
      ("value_of", []), ("written", []), ("variable", []), ("parameter", []), ("random_octets", []), ("checksum", ["of", "order"]),
      ("aes_cmac", ["key"]), ("hmac_sha256", ["key"]), ("xor", ["with"]),
    ] + ValueFormat.names.map { ($0, []) }
  static let partKeys = ["from", "octets"]

  /// Reads a value: a part, or a list of parts.
  func template(_ entry: FileEntry) throws(FileEntryError) -> Template {
    var parts: [Template.Part] = []
    for item in entry.isList ? try entry.bounded() : [entry] {
      guard item.isObject else {
        parts.append(.bytes(try item.hex()))
        continue
      }
      parts += try self.parts(item.kind(of: Self.partKinds, "a value", with: Self.partKeys))
    }
    let template = Template(parts: parts)
    let length = template.leastLength
    guard length <= AttributeDatabase.maximumValueLength else {
      throw entry.error("Too long: \(length) bytes (maximum \(AttributeDatabase.maximumValueLength)).")
    }
    return template
  }

  /// Reads the parts of one entry. A list of numbers in one format has several parts.
  func parts(_ kind: FileEntry.Kind) throws(FileEntryError) -> [Template.Part] {
    let parts = try uncut(kind)
    guard kind.fields["from"] != nil || kind.fields["octets"] != nil else { return parts }
    let range = -65_536...65_536
    return [
      .cut(Template(parts: parts), from: try kind.fields["from"]?.integer(range) ?? 0, bytes: try kind.fields["octets"]?.integer(range))
    ]
  }

  private func uncut(_ kind: FileEntry.Kind) throws(FileEntryError) -> [Template.Part] {
    let entry = kind.entry
    switch kind.name {
    case "value_of": return [.valueOf(try names.characteristics.find(entry).handle)]
    case "written":
      guard try entry.bool() else { throw entry.error("Use true.") }
      return [.written]
    case "variable":
      let variable = try names.variable(entry)
      guard !variable.isNumber else {
        throw entry.error("The variable holds a number. To convert it to bytes: {\"u8\": {\"variable\": …}}")
      }
      return [.variable(variable.index)]
    case "parameter":
      let (field, request) = try parameter(entry)
      guard case .string = field else {
        throw entry.error("\(field.name) does not hold bytes. To convert a number to bytes: {\"u8\": {\"parameter\": …}}")
      }
      return [.parameter(field.name, request)]
    case "random_octets": return [.random(bytes: try entry.integer(1...AttributeDatabase.maximumValueLength))]
    case "checksum": return [try checksum(kind)]
    case "aes_cmac": return [try authentication(.aesCMAC, kind)]
    case "hmac_sha256": return [try authentication(.hmacSHA256, kind)]
    case "xor":
      guard let with = kind.fields["with"] else { throw entry.error("\"xor\" needs the key \"with\": the bytes to combine with these.") }
      return [.exclusiveOr(try template(entry), with: try template(with))]
    default: return try formatted(kind)
    }
  }

  private func checksum(_ kind: FileEntry.Kind) throws(FileEntryError) -> Template.Part {
    let checksum = try kind.entry.checksum()
    return .checksum(checksum, try kind.fields["order"]?.choice("Use little or big.") ?? .little, of: try kind.fields["of"].map(template))
  }

  private func authentication(_ algorithm: MessageAuthentication, _ kind: FileEntry.Kind) throws(FileEntryError) -> Template.Part {
    guard let value = kind.fields["key"] else { throw kind.entry.error("\"\(kind.name)\" needs the key \"key\".") }
    let key = try template(value)
    if let count = key.literal?.count, !algorithm.keyLengths.contains(count) {
      let lengths = algorithm.keyLengths
      let wanted = lengths.count == 1 ? "\(lengths.lowerBound)" : "\(lengths.lowerBound)–\(lengths.upperBound)"
      throw value.error("\"\(kind.name)\" needs a key of \(wanted) bytes, not \(count).")
    }
    guard algorithm.isAvailable else {
      throw kind.entry.error("\"\(kind.name)\" needs \(MessageAuthentication.library) (OpenSSL 3), which is not installed.")
    }
    return .authentication(algorithm, of: try template(kind.entry), key: key)
  }

  /// Reads `{"u16le": 5}`, `{"utf8": "text"}`, `{"u8": {"variable": "tries"}}`, or a list of numbers in one format.
  private func formatted(_ kind: FileEntry.Kind) throws(FileEntryError) -> [Template.Part] {
    var parts: [Template.Part] = []
    for item in kind.entry.isList ? try kind.entry.bounded() : [kind.entry] {
      guard item.isObject else {
        parts.append(.bytes(try item.typed(kind.name)))
        continue
      }
      guard let format = try? ValueFormat(kind.name), format.numberBytes != nil else {
        throw item.error("\"\(kind.name)\" takes a string. Only number formats take computed numbers.")
      }
      parts.append(.number(try number(item), format))
    }
    return parts
  }

  /// Returns the request that the peripheral answers, and the field of that request that `entry` names.
  func parameter(_ entry: FileEntry) throws(FileEntryError) -> (Frame.Field, Frame) {
    let name = try entry.string()
    guard let command = names.command else { throw entry.error("\"parameter\" works only in the answers of a device file.") }
    guard let field = command.request.field(name) else {
      let names = command.request.fields.map(\.name)
      throw entry.error(
        "\(command.name) has no parameter \(DisplayText.quote(name))"
          + (names.isEmpty ? "." : ". Use \(names.joined(separator: ", "))."))
    }
    return (field, command.request)
  }

  // MARK: Numbers

  static let numberKinds: FileEntry.Kinds =
    [("variable", []), ("random", []), ("clock", []), ("length", []), ("number", ["as"]), ("subscribers", [])]
    + NumberExpression.Operation.allCases.map { ($0.rawValue, []) } + [("parameter", [])]

  /// Reads a time in milliseconds: a number in the range, or a computed number, which the device limits to the range.
  func time(_ entry: FileEntry, _ range: ClosedRange<Int>) throws(FileEntryError) -> DeviceTime {
    guard entry.isObject else { return .milliseconds(try entry.integer(range)) }
    return DeviceTime(number: try number(entry), range: Int64(range.lowerBound)...Int64(range.upperBound))
  }

  func number(_ entry: FileEntry) throws(FileEntryError) -> NumberExpression {
    guard entry.isObject else { return .literal(Int64(try entry.integer(Int.min...Int.max))) }
    return try number(entry.kind(of: Self.numberKinds, "a number", with: []))
  }

  func number(_ kind: FileEntry.Kind) throws(FileEntryError) -> NumberExpression {
    let entry = kind.entry
    switch kind.name {
    case "variable":
      let variable = try names.variable(entry)
      guard variable.isNumber else {
        throw entry.error("The variable holds bytes. To convert them to a number: {\"number\": {\"variable\": …}, \"as\": \"u16le\"}")
      }
      return .variable(variable.index)
    case "parameter":
      let (field, request) = try parameter(entry)
      guard field.isNumber else { throw entry.error("\(field.name) is not a number.") }
      return .parameter(field.name, request)
    case "random":
      let ends = try entry.list()
      guard ends.count == 2 else { throw entry.error("Use a list of the lowest and the highest number, such as [1, 6].") }
      let least = try ends[0].integer(Int.min...Int.max)
      return .random(Int64(least)...Int64(try ends[1].integer(least...Int.max)))
    case "clock":
      return .clock(
        try entry.choice("Unknown clock field. Use \(NumberExpression.ClockField.allCases.map(\.rawValue).joined(separator: ", "))."))
    case "length": return .length(try template(entry))
    case "number":
      let name = try kind.fields["as"]?.string() ?? "u8"
      switch try? ValueFormat(name) {
      case .unsigned(let bytes, let order): return .read(try template(entry), .unsigned(bytes: bytes, order))
      case .signed(let bytes, let order): return .read(try template(entry), .signed(bytes: bytes, order))
      default:
        throw (kind.fields["as"] ?? entry).error("\(DisplayText.quote(name)) is not an integer format. Use one such as u8, u16le or i32be.")
      }
    case "subscribers": return .subscribers(try names.characteristics.find(entry).handle)
    default:
      guard let operation = NumberExpression.Operation(rawValue: kind.name) else { return .literal(0) }
      let operands = try entry.bounded().map(number)
      guard !operands.isEmpty else { throw entry.error("Add at least one number.") }
      return .arithmetic(operation, operands)
    }
  }
}
