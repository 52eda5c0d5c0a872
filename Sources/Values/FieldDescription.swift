import Bluetooth
import Text

/// One field of a characteristic's value as the specification describes it: a line of the table with what follows it.
struct FieldDescription: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// Bits, least significant first; `octets × 8` of them but for fields that share an octet.
    case unsigned(bits: Int)
    case signed(bits: Int)
    case flags(bits: Int)
    /// IEEE 11073 SFLOAT and FLOAT.
    case shortFloat
    case longFloat
    /// IEEE 754 binary32 and binary64.
    case float
    case double
    /// 1.1 to the power of (n - 64); 0 is 0.
    case exponential
    /// UTF-8: so many octets, or all that are left.
    case text(octets: Int?)
    case zeroTerminatedText
    /// UTF-16, all octets that are left.
    case wideText
    /// Of 16 or 128 bits: all octets that are left.
    case uuid
    /// Of 16 bits.
    case shortUUID
    /// Seven octets: the Date Time characteristic.
    case dateTime
    /// Four octets: its first three fields.
    case date
    /// Days since 1970.
    case days
    case appearance
    case company
    case octets
    /// So many octets, shown most significant first.
    case identifier(octets: Int)
  }

  /// When a field is there; fields count from 0.
  enum Condition: Equatable, Sendable {
    case bit(Int, of: Int, is: Bool)
    case value(Int, of: Int, is: Bool)
    case octetsLeft
  }

  struct Bits: Equatable, Sendable {
    let positions: ClosedRange<Int>
    let name: String
    var meanings: [Int: String] = [:]
  }

  let name: String
  /// The name as JSON has it.
  let key: String
  let kind: Kind
  var conditions: [Condition] = []
  var scale: Scale?
  var unit: String?
  var isArray = false
  /// It takes whole octets, of which the bits above its own mean nothing (Vol 3 Part G §3.3.3.5.2).
  var fillsOctets = false
  /// Raw values with a meaning of their own.
  var meanings: [Int64: String] = [:]
  var bits: [Bits] = []

  /// A measured number, whose values with a meaning are no numbers; else they are choices.
  var isMeasured: Bool { unit != nil || scale != nil }

  /// - Parameter line: `NAME|TYPE|…`. Nil for what is none, which the tests show not to happen.
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

  /// - Parameter line: `=RAW:NAME`, `.BIT:NAME`, `.LOW-HIGH:NAME` or `.LOW-HIGH=RAW:NAME`.
  /// - Returns: whether it is one.
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
    case "oct": self = .octets
    case "str": self = .text(octets: nil)
    default:
      if let octets = String(text).after("str").flatMap({ Int($0) }) {
        self = .text(octets: octets)
      } else if let octets = String(text).after("hex").flatMap({ Int($0) }) {
        self = .identifier(octets: octets)
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
  /// `A.B`, `A.!B`, `A=N`, `A!N` or `+`.
  fileprivate init?(_ text: String) {
    if text == "+" {
      self = .octetsLeft
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
