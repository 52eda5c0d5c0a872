// SPDX-License-Identifier: Apache-2.0
/// A value in the Concise Binary Object Representation (RFC 8949), as MCUmgr uses it. Maps keep the order of their members.
///
/// Tags, `undefined` and other simple values are refused.
package indirect enum CBOR: Hashable, Sendable {
  case unsigned(UInt64)
  /// The negative number -1 - `n`, which may be less than `Int.min`.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBOR])
  case map([Member])
  case bool(Bool)
  case null
  case float(Double)

  package struct Member: Hashable, Sendable {
    package let key: CBOR
    package let value: CBOR

    package init(key: CBOR, value: CBOR) { (self.key, self.value) = (key, value) }
  }

  /// The reason why bytes are refused. Offsets count from the first byte.
  package enum Failure: Error, Equatable {
    /// The bytes end in the middle of a value, or a length is greater than the number of bytes that follow.
    case endsEarly(at: Int)
    /// Bytes follow the value.
    case trailingBytes(at: Int)
    /// An initial byte that the RFC reserves, a break without an open value, or a chunk of the wrong type.
    case malformed(at: Int)
    /// A tag or a simple value other than true, false and null.
    case unsupported(at: Int)
    /// A text that is not UTF-8.
    case invalidText(at: Int)
    /// A map has a key twice. The offset is that of the second one.
    case repeatedKey(at: Int)
    /// Arrays and maps are nested more than `maximumDepth` levels deep.
    case tooDeep(at: Int)
  }

  /// The maximum depth of nested arrays and maps, which bounds the recursion of the reader.
  package static let maximumDepth = 16

  /// A map with text keys, in the given order.
  package static func map(_ members: KeyValuePairs<String, CBOR>) -> CBOR {
    .map(members.map { Member(key: .text($0.key), value: $0.value) })
  }

  package static func integer(_ value: Int) -> CBOR { value < 0 ? .negative(UInt64(~value)) : .unsigned(UInt64(value)) }

  /// The value of a text key. Nil if this is no map with that key.
  package subscript(key: String) -> CBOR? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.key == .text(key) }?.value
  }

  /// The integer. Nil for other kinds of values, and for integers that do not fit `Int`.
  package var integer: Int? {
    switch self {
    case .unsigned(let value): Int(exactly: value)
    case .negative(let value): Int(exactly: value).map { ~$0 }
    default: nil
    }
  }

  package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  package var text: String? { if case .text(let text) = self { text } else { nil } }

  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  package var array: [CBOR]? { if case .array(let items) = self { items } else { nil } }
}

extension CBOR {
  /// Reads bytes that consist of one value. Reads definite and indefinite lengths, and numbers that are longer than they need to be.
  package init(decoding bytes: ArraySlice<UInt8>) throws(Failure) {
    var reader = Reader(bytes)
    guard let value = try reader.value(depth: 0) else { throw .malformed(at: 0) }
    guard reader.position == bytes.endIndex else { throw .trailingBytes(at: reader.offset) }
    self = value
  }

  package init(decoding bytes: [UInt8]) throws(Failure) { try self.init(decoding: bytes[...]) }

  /// The value with definite lengths, the shortest form of each integer and 64-bit floating-point numbers.
  package var encoded: [UInt8] {
    var output: [UInt8] = []
    append(to: &output)
    return output
  }

  private func append(to output: inout [UInt8]) {
    switch self {
    case .unsigned(let value): Self.append(0, value, to: &output)
    case .negative(let value): Self.append(1, value, to: &output)
    case .bytes(let bytes):
      Self.append(2, UInt64(bytes.count), to: &output)
      output += bytes
    case .text(let text):
      Self.append(3, UInt64(text.utf8.count), to: &output)
      output += text.utf8
    case .array(let items):
      Self.append(4, UInt64(items.count), to: &output)
      for item in items { item.append(to: &output) }
    case .map(let members):
      Self.append(5, UInt64(members.count), to: &output)
      for member in members {
        member.key.append(to: &output)
        member.value.append(to: &output)
      }
    case .bool(let value): output.append(value ? 0xF5 : 0xF4)
    case .null: output.append(0xF6)
    case .float(let value):
      output.append(0xFB)
      Self.append(value.bitPattern, bytes: 8, to: &output)
    }
  }

  /// Appends a major type (0–5) and its argument.
  private static func append(_ major: UInt8, _ argument: UInt64, to output: inout [UInt8]) {
    let (information, bytes): (UInt8, Int) =
      switch argument {
      case 0..<24: (UInt8(truncatingIfNeeded: argument), 0)
      case 0...0xFF: (24, 1)
      case 0...0xFFFF: (25, 2)
      case 0...0xFFFF_FFFF: (26, 4)
      default: (27, 8)
      }
    output.append(major << 5 | information)
    append(argument, bytes: bytes, to: &output)
  }

  private static func append(_ number: UInt64, bytes: Int, to output: inout [UInt8]) {
    for shift in (0..<bytes).reversed() { output.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * shift))) }
  }
}

/// Reads values one after the other. Each value takes at least one byte, so a count greater than the remaining bytes is wrong.
private struct Reader {
  private let bytes: ArraySlice<UInt8>
  private(set) var position: Int

  init(_ bytes: ArraySlice<UInt8>) { (self.bytes, position) = (bytes, bytes.startIndex) }

  var offset: Int { position - bytes.startIndex }

  private mutating func take(_ count: UInt64) throws(CBOR.Failure) -> ArraySlice<UInt8> {
    guard let count = Int(exactly: count), count <= bytes.endIndex - position else { throw .endsEarly(at: offset) }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// Reads a value. Returns nil for a break.
  mutating func value(depth: Int) throws(CBOR.Failure) -> CBOR? {
    let start = offset
    guard let initial = try take(1).first else { throw .endsEarly(at: start) }
    let (major, information) = (initial >> 5, initial & 31)
    if major == 7 { return try simple(information, at: start) }
    let argument = try argument(information, at: start)
    if major >= 4, major != 6, depth >= CBOR.maximumDepth { throw .tooDeep(at: start) }
    switch major {
    case 0: if let argument { return .unsigned(argument) }
    case 1: if let argument { return .negative(argument) }
    case 2: return .bytes(Array(try string(major, argument)))
    case 3:
      guard let text = String(validating: try string(major, argument), as: UTF8.self) else { throw .invalidText(at: start) }
      return .text(text)
    case 4: return .array(try items(argument, depth: depth + 1))
    case 5: return .map(try members(argument, depth: depth + 1))
    default: if argument != nil { throw .unsupported(at: start) }
    }
    throw .malformed(at: start)
  }

  /// Reads the number that follows an initial byte. Returns nil for an indefinite length.
  private mutating func argument(_ information: UInt8, at start: Int) throws(CBOR.Failure) -> UInt64? {
    switch information {
    case 0..<24: return UInt64(information)
    case 24...27: return ByteOrder.big.number(try take(1 << UInt64(information - 24)))
    case 31: return nil
    default: throw .malformed(at: start)
    }
  }

  private mutating func simple(_ information: UInt8, at start: Int) throws(CBOR.Failure) -> CBOR? {
    switch information {
    case 20, 21: return .bool(information == 21)
    case 22: return .null
    case 25: return .float(Double(Float16(bitPattern: UInt16(truncatingIfNeeded: ByteOrder.big.number(try take(2))))))
    case 26: return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: ByteOrder.big.number(try take(4))))))
    case 27: return .float(Double(bitPattern: ByteOrder.big.number(try take(8))))
    case 31: return nil
    case 28...30: throw .malformed(at: start)
    default: throw .unsupported(at: start)
    }
  }

  /// Reads the contents of a string: one part, or chunks of definite length up to a break.
  private mutating func string(_ major: UInt8, _ count: UInt64?) throws(CBOR.Failure) -> ArraySlice<UInt8> {
    if let count { return try take(count) }
    var whole: ArraySlice<UInt8> = []
    while true {
      let start = offset
      guard let initial = try take(1).first else { throw .endsEarly(at: start) }
      if initial == 0xFF { return whole }
      guard initial >> 5 == major, let count = try argument(initial & 31, at: start) else { throw .malformed(at: start) }
      whole += try take(count)
    }
  }

  private mutating func items(_ count: UInt64?, depth: Int) throws(CBOR.Failure) -> [CBOR] {
    if let count, count > UInt64(bytes.endIndex - position) { throw .endsEarly(at: offset) }
    var items: [CBOR] = []
    while count.map({ UInt64(items.count) < $0 }) ?? true {
      let start = offset
      guard let item = try value(depth: depth) else {
        if count == nil { return items }
        throw .malformed(at: start)
      }
      items.append(item)
    }
    return items
  }

  private mutating func members(_ count: UInt64?, depth: Int) throws(CBOR.Failure) -> [CBOR.Member] {
    if let count, count > UInt64(bytes.endIndex - position) / 2 { throw .endsEarly(at: offset) }
    var (members, keys): ([CBOR.Member], Set<CBOR>) = ([], [])
    while count.map({ UInt64(members.count) < $0 }) ?? true {
      let start = offset
      guard let key = try value(depth: depth) else {
        if count == nil { return members }
        throw .malformed(at: start)
      }
      guard keys.insert(key).inserted else { throw .repeatedKey(at: start) }
      let middle = offset
      guard let value = try value(depth: depth) else { throw .malformed(at: middle) }
      members.append(CBOR.Member(key: key, value: value))
    }
    return members
  }
}
