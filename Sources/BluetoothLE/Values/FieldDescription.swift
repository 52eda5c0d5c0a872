// SPDX-License-Identifier: Apache-2.0
/// The description of one field of a characteristic value: its name, type, unit, condition, and the names of special values.
struct FieldDescription: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// An unsigned integer, least significant bit first. Only fields that share a byte have lengths other than whole bytes.
    case unsigned(bits: Int)
    case signed(bits: Int)
    case flags(bits: Int)
    /// A 16-bit SFLOAT of IEEE 11073. `longFloat` is a 32-bit FLOAT.
    case shortFloat
    case longFloat
    /// A 32-bit float of IEEE 754. `double` is a 64-bit float.
    case float
    case double
    /// A number n that stands for 1.1 to the power of (n - 64), or for 0 if n is 0.
    case exponential
    /// UTF-8 text of this number of bytes. Nil means all remaining bytes.
    case text(bytes: Int?)
    case zeroTerminatedText
    /// UTF-16 text of all remaining bytes.
    case wideText
    /// A UUID of 16 or 128 bits in all remaining bytes.
    case uuid
    /// A UUID of 16 bits.
    case shortUUID
    /// The seven bytes of the Date Time characteristic.
    case dateTime
    /// The year, month and day of the Date Time characteristic, four bytes.
    case date
    /// The number of days since 1970-01-01, three bytes.
    case days
    case appearance
    case company
    case bytes
    /// An identifier of this number of bytes. Its text form starts with the most significant byte.
    case identifier(bytes: Int)
  }

  /// A condition for the presence of a field. Conditions refer to earlier fields by an index from 0.
  enum Condition: Equatable, Sendable {
    case bit(Int, of: Int, is: Bool)
    case value(Int, of: Int, is: Bool)
    case bytesLeft
  }

  struct Bits: Equatable, Sendable {
    let positions: ClosedRange<Int>
    let name: String
    var meanings: [Int: String] = [:]
  }

  let name: String
  /// The name of the field in JSON, in snake case.
  let key: String
  let kind: Kind
  var conditions: [Condition] = []
  var scale: Scale?
  var unit: String?
  var isArray = false
  /// Whether the field takes whole bytes, so that unused upper bits have no meaning (Vol 3 Part G §3.3.3.5.2).
  var fillsBytes = false
  /// The names of special raw values, by raw value.
  var meanings: [Int64: String] = [:]
  var bits: [Bits] = []

  /// Parses the first line of a field's description: `NAME|TYPE|…`. Nil for an invalid line.
  init?(line: String) {
    let parts = line.split(separator: "|")
    guard parts.count >= 2, let kind = Kind(parts[1]) else { return nil }
    name = String(parts[0])
    key = AssignedNumbers.snake(name)
    self.kind = kind
    for part in parts.dropFirst(2) {
      let rest = String(part.dropFirst())
      switch part.utf8.first {
      case UInt8(ascii: "?"):
        guard let condition = Condition(rest) else { return nil }
        conditions.append(condition)
      case UInt8(ascii: "*"):
        let numbers = rest.split(separator: ",").map { Int($0) }
        guard numbers.count == 3, let m = numbers[0], m > 0, let d = numbers[1], let b = numbers[2] else { return nil }
        scale = Scale(multiplier: UInt64(m), decimalExponent: d, binaryExponent: b)
      case UInt8(ascii: "u"): unit = rest
      case UInt8(ascii: "["): isArray = true
      default: return nil
      }
    }
  }

  /// Adds the name of a raw value (`=RAW:NAME`), of bits (`.BIT:NAME`, `.LOW-HIGH:NAME`) or of a value of bits (`.LOW-HIGH=RAW:NAME`).
  /// Returns whether the line has one of these forms.
  mutating func add(line: String) -> Bool {
    let parts = line.dropFirst().split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let first = line.utf8.first else { return false }
    let text = String(parts[1])
    if first == UInt8(ascii: "=") {
      guard let raw = Int64(parts[0]) else { return false }
      meanings[raw] = text
      return true
    }
    let sides = parts[0].split(separator: "=")
    guard let place = sides.first else { return false }
    let ends = place.split(separator: "-").compactMap { Int($0) }
    guard let low = ends.first, let high = ends.last, low <= high else { return false }
    if sides.count == 1 {
      bits.append(Bits(positions: low...high, name: text))
      return true
    }
    guard let raw = Int(sides[1]), let index = bits.firstIndex(where: { $0.positions == low...high }) else { return false }
    bits[index].meanings[raw] = text
    return true
  }
}

extension FieldDescription.Kind {
  fileprivate init?(_ text: Substring) {
    switch text {
    case "m16": self = .shortFloat
    case "m32": self = .longFloat
    case "f32": self = .float
    case "f64": self = .double
    case "exp8": self = .exponential
    case "strz": self = .zeroTerminatedText
    case "wide": self = .wideText
    case "uuid": self = .uuid
    case "uuid16": self = .shortUUID
    case "date": self = .dateTime
    case "ymd": self = .date
    case "days": self = .days
    case "appearance": self = .appearance
    case "company": self = .company
    case "oct": self = .bytes
    case "str": self = .text(bytes: nil)
    default:
      if let bytes = String(text).after("str").flatMap({ Int($0) }) {
        self = .text(bytes: bytes)
      } else if let bytes = String(text).after("hex").flatMap({ Int($0) }) {
        self = .identifier(bytes: bytes)
      } else if let bits = Int(text.dropFirst()), (1...64).contains(bits) {
        switch text.utf8.first {
        case UInt8(ascii: "u"): self = .unsigned(bits: bits)
        case UInt8(ascii: "s"): self = .signed(bits: bits)
        case UInt8(ascii: "b"): self = .flags(bits: bits)
        default: return nil
        }
      } else {
        return nil
      }
    }
  }
}

extension FieldDescription.Condition {
  /// Parses a condition: `A.B` (bit B of field A is set), `A.!B` (clear), `A=N`, `A!N` (not equal) or `+` (bytes remain).
  fileprivate init?(_ text: String) {
    if text == "+" {
      self = .bytesLeft
      return
    }
    let digits = text.utf8.prefix { (0x30...0x39).contains($0) }.count
    guard let field = Int(text.prefix(digits)) else { return nil }
    var rest = text.dropFirst(digits)
    guard let sign = rest.popFirst() else { return nil }
    let isNegated = rest.first == "!"
    guard let number = Int(isNegated ? rest.dropFirst() : rest) else { return nil }
    switch sign {
    case ".": self = .bit(number, of: field, is: !isNegated)
    case "=": self = .value(number, of: field, is: true)
    case "!": self = .value(number, of: field, is: false)
    default: return nil
    }
  }
}
