package import BluetoothLEText

/// The part of a result that a predicate checks.
package enum ScriptValue: Sendable {
  /// Bytes without a format, which predicates compare with hex or quoted text.
  case bytes([UInt8])
  /// Bytes in the format that the script names after `as`.
  case formatted([UInt8], ValueFormat)
  /// A field of a record, such as `mtu`.
  case field(JSONTree)

  /// The value as one line of text, for reports and variables.
  package var text: String {
    switch self {
    case .bytes(let bytes): Hex.encode(bytes)
    case .formatted(let bytes, .utf8): String(decoding: DisplayText.withoutTrailingNULs(bytes), as: UTF8.self)
    case .formatted(let bytes, let format): format.render(bytes)
    case .field(let tree): Self.text(of: tree)
    }
  }

  private static func text(of tree: JSONTree) -> String {
    switch tree.kind {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let text), .string(let text): text
    case .array(let items): items.map { text(of: $0) }.joined(separator: " ")
    case .object(let members): members.map { "\($0.key)=\(text(of: $0.value))" }.joined(separator: " ")
    }
  }

  /// The numbers in the value. Nil if the value is not numeric.
  package var numbers: [ScriptNumber]? {
    switch self {
    case .bytes: return nil
    case .formatted(let bytes, let format): return bytes.isEmpty ? nil : format.numbers(bytes).map { $0.compactMap(ScriptNumber.init) }
    case .field(let tree):
      let items = if case .array(let items) = tree.kind { items } else { [tree] }
      var numbers: [ScriptNumber] = []
      for item in items {
        guard case .number(let text) = item.kind, let number = ScriptNumber(text) else { return nil }
        numbers.append(number)
      }
      return numbers.isEmpty ? nil : numbers
    }
  }
}

/// A number in a script. Whole numbers are exact up to 128 bits.
package enum ScriptNumber: Sendable, Equatable {
  case whole(Int128)
  case real(Double)

  /// Parses a number. Returns nil for other text.
  /// - Parameter text: A decimal or `0x…` integer, or a number with a fraction.
  package init?(_ text: String) {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard let first = digits.first, first.isASCII, first.isNumber || first == "." || digits == "inf" || digits == "nan" else { return nil }
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      guard let number = Hex.number(digits.dropFirst(2)) else { return nil }
      self = .whole(isNegative ? -Int128(number) : Int128(number))
    } else if let number = Int128(digits) {
      self = .whole(isNegative ? -number : number)
    } else if digits.utf8.count < 400, let number = Double(digits) {
      self = .real(isNegative ? -number : number)
    } else {
      return nil
    }
  }

  package var real: Double {
    switch self {
    case .whole(let number): Double(number)
    case .real(let number): number
    }
  }

  /// Compares two numbers. NaN is not equal to, less than or greater than any number.
  package static func compare(_ one: Self, _ other: Self, _ comparison: Predicate.Comparison) -> Bool {
    func holds<T: Comparable>(_ one: T, _ other: T) -> Bool {
      switch comparison {
      case .equal: one == other
      case .unequal: one != other
      case .less: one < other
      case .atMost: one <= other
      case .greater: one > other
      case .atLeast: one >= other
      }
    }
    if case .whole(let one) = one, case .whole(let other) = other { return holds(one, other) }
    return holds(one.real, other.real)
  }
}

/// A command's result or a received value as a JSON record, which `expect` and `let` check.
package struct ScriptResult: Sendable {
  package let record: JSONTree

  package init(_ record: JSONTree) { self.record = record }

  /// The bytes of the record's member `value`. Nil if the record has no such member.
  package var bytes: [UInt8]? { record["value"]?.string.flatMap { Hex.decode($0) } }

  /// Returns a field of the decoded value, of the answer to `call`, or of the record. Omits the unit of a quantity. Nil if none has the field.
  /// - Parameter path: Names separated by dots. `[2]` selects the third item of a list.
  package func field(_ path: String) -> JSONTree? {
    // A single value needs no name.
    if path == "decoded", case .object(let members)? = record["decoded"]?.kind, members.count == 1, let value = members[0].value["value"] {
      return value
    }
    for part in [record["decoded"], record["values"], record] {
      guard let part, let found = part.member(at: path) else { continue }
      if case .object = found.kind, let value = found["value"] { return value }
      return found
    }
    return nil
  }

  package var fields: [String] {
    var names: [String] = []
    for part in [record["decoded"], record["values"], record] {
      if case .object(let members)? = part?.kind { names += members.map(\.key).filter { !names.contains($0) } }
    }
    return names
  }
}
