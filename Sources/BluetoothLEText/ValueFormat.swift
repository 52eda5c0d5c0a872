// SPDX-License-Identifier: Apache-2.0
/// A format in which users type and read the bytes of a value. The option `--as` selects it.
package enum ValueFormat: Hashable, Sendable {
  case hex
  case utf8
  case base64
  /// An automatic format. It parses hex. It shows two or more printable bytes as text, and other bytes as hex.
  case auto
  /// An unsigned integer of 1, 2, 3, 4 or 8 bytes.
  case unsigned(bytes: Int, ByteOrder)
  /// A signed integer (two's complement) of 1, 2, 3, 4 or 8 bytes.
  case signed(bytes: Int, ByteOrder)
  /// A floating-point number (IEEE 754) of 4 or 8 bytes.
  case float(bytes: Int, ByteOrder)

  /// The names of all formats, in the order of the manual.
  package static let choices = """
    hex utf8 base64 auto u8 i8 u16le u16be u24le u24be u32le u32be u64le u64be i16le i16be i24le i24be i32le i32be i64le i64be \
    f32le f32be f64le f64be
    """
  package static let names = choices.split(separator: " ").map(String.init)

  /// Returns a hint for a format name from other programs, such as `uint8`. Returns nil if no format of blectl corresponds.
  package static func suggestion(for name: String) -> String? {
    let words = ["string": "utf8", "text": "utf8", "str": "utf8", "ascii": "utf8", "float": "f32", "double": "f64"]
    let word = name.lowercased()
    let meant = words[word] ?? word.replacing("uint", with: "u").replacing("int", with: "i").replacing("float", with: "f")
    if names.contains(meant) { return "Did you mean \(meant)?" }
    if names.contains(meant + "le") { return "Did you mean \(meant)le or \(meant)be?" }
    return SpellingSuggestion.nearest(to: meant, among: names).map { "Did you mean \($0)?" }
  }

  /// Finds a format by name, in upper or lower case.
  /// - Throws: `ValueFormatError` for an unknown name, and for a width without a byte order.
  package init(_ name: String) throws(ValueFormatError) {
    guard let format = Self.named(name.lowercased()) else {
      if Self.named(name.lowercased() + "le") != nil { throw ValueFormatError.needsByteOrder(name) }
      throw ValueFormatError.unknown(name)
    }
    self = format
  }

  private static func named(_ name: String) -> Self? {
    switch name {
    case "hex": return .hex
    case "utf8": return .utf8
    case "base64": return .base64
    case "auto": return .auto
    case "u8": return .unsigned(bytes: 1, .little)
    case "i8": return .signed(bytes: 1, .little)
    default: break
    }
    guard name.utf8.count == 5, let order: ByteOrder = name.hasSuffix("le") ? .little : name.hasSuffix("be") ? .big : nil else {
      return nil
    }
    return switch name.dropLast(2) {
    case "u16": .unsigned(bytes: 2, order)
    case "u24": .unsigned(bytes: 3, order)
    case "u32": .unsigned(bytes: 4, order)
    case "u64": .unsigned(bytes: 8, order)
    case "i16": .signed(bytes: 2, order)
    case "i24": .signed(bytes: 3, order)
    case "i32": .signed(bytes: 4, order)
    case "i64": .signed(bytes: 8, order)
    case "f32": .float(bytes: 4, order)
    case "f64": .float(bytes: 8, order)
    default: nil
    }
  }

  /// The name of the format, as in `names`.
  package var name: String {
    switch self {
    case .hex: "hex"
    case .utf8: "utf8"
    case .base64: "base64"
    case .auto: "auto"
    case .unsigned(let bytes, let order): "u\(bytes * 8)" + Self.suffix(bytes, order)
    case .signed(let bytes, let order): "i\(bytes * 8)" + Self.suffix(bytes, order)
    case .float(let bytes, let order): "f\(bytes * 8)" + Self.suffix(bytes, order)
    }
  }

  private static func suffix(_ bytes: Int, _ order: ByteOrder) -> String { bytes == 1 ? "" : order == .little ? "le" : "be" }

  // MARK: Typing

  /// Parses a text to the bytes of a value. Numbers are decimal or `0x…`, separated by spaces or commas.
  /// - Throws: `ValueFormatError` with the invalid word and its column.
  package func parse(_ text: String) throws(ValueFormatError) -> [UInt8] {
    switch self {
    case .utf8: return Array(text.utf8)
    case .hex, .auto:
      // In an address, a minus sign separates bytes. In a value, it is a number whose format was forgotten.
      guard !text.contains("-") else { throw ValueFormatError.notHex(text) }
      do { return try Hex.parse(text) } catch {
        throw error == .notHex ? ValueFormatError.notHex(text) : ValueFormatError.oddDigits(error)
      }
    case .base64:
      guard let bytes = Base64.decode(text) else { throw ValueFormatError.notBase64(text) }
      return bytes
    case .unsigned, .signed, .float:
      var bytes: [UInt8] = []
      let separators: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0x2C]
      for word in text.utf8.split(whereSeparator: { separators.contains($0) }) {
        let column = text.utf8.distance(from: text.startIndex, to: word.startIndex) + 1
        bytes += try field(String(Substring(word)), column: column)
      }
      guard !bytes.isEmpty else { throw ValueFormatError.noNumber(self) }
      return bytes
    }
  }

  private func field(_ word: String, column: Int) throws(ValueFormatError) -> [UInt8] {
    switch self {
    case .float(let bytes, let order):
      let isPlain = word.utf8.allSatisfy { $0 < 0x80 }
      guard isPlain, let value = Double(word) else { throw ValueFormatError.notANumber(word, column: column, self) }
      // A finite text that is read as infinite is too large.
      guard value.isFinite || word.lowercased().contains("n") else { throw ValueFormatError.outOfRange(word, column: column, self) }
      if bytes == 8 { return Self.bytes(value.bitPattern, 8, order) }
      let narrow = Float(value)
      guard narrow.isInfinite == value.isInfinite else { throw ValueFormatError.outOfRange(word, column: column, self) }
      return Self.bytes(UInt64(narrow.bitPattern), 4, order)
    case .unsigned(let bytes, let order), .signed(let bytes, let order):
      let isNegative = word.utf8.first == 0x2D
      let digits = isNegative ? word.dropFirst() : word[...]
      let isHex = digits.hasPrefix("0x") || digits.hasPrefix("0X")
      let number = isHex ? digits.dropFirst(2) : digits
      let isNumber = number.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (isHex && ((0x41...0x46).contains($0) || (0x61...0x66).contains($0)))
      }
      guard !number.isEmpty, isNumber else { throw ValueFormatError.notANumber(word, column: column, self) }
      guard let magnitude = UInt64(number, radix: isHex ? 16 : 10) else { throw ValueFormatError.outOfRange(word, column: column, self) }
      let limit = isNegative ? lowest : highest
      guard magnitude <= limit else { throw ValueFormatError.outOfRange(word, column: column, self) }
      return Self.bytes(isNegative ? 0 &- magnitude : magnitude, bytes, order)
    case .hex, .utf8, .base64, .auto: return []
    }
  }

  /// The largest number of an integer format. It is 0 for other formats.
  private var highest: UInt64 {
    switch self {
    case .unsigned(let bytes, _): UInt64.max >> (64 - 8 * UInt64(bytes))
    case .signed(let bytes, _): UInt64.max >> (65 - 8 * UInt64(bytes))
    default: 0
    }
  }

  /// The magnitude of the most negative number of an integer format. It is 0 for other formats.
  private var lowest: UInt64 { if case .signed = self { highest + 1 } else { 0 } }

  /// The range of the numbers of a format as text, such as `0–255` or `-128 to 127`. Nil for formats that are not numbers.
  package var range: String? {
    switch self {
    case .float(let bytes, _):
      let greatest = bytes == 4 ? "\(Float.greatestFiniteMagnitude)" : "\(Double.greatestFiniteMagnitude)"
      return "-\(greatest) to \(greatest)"
    case .unsigned, .signed: return lowest == 0 ? "0–\(highest)" : "-\(lowest) to \(highest)"
    case .hex, .utf8, .base64, .auto: return nil
    }
  }

  static func bytes(_ value: UInt64, _ bytes: Int, _ order: ByteOrder) -> [UInt8] {
    let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    return order == .little ? little : little.reversed()
  }

  // MARK: Showing

  /// Renders a value as text that is safe on a terminal, with spaces between numbers. If the length does not fit the format, the result is
  /// `hex:…` with all bytes.
  ///
  /// `auto` shows only two or more bytes as text, because a single byte is usually a number. Texts omit NULs at their end.
  package func render(_ value: [UInt8]) -> String {
    switch self {
    case .hex: return Hex.encode(value)
    case .utf8: return DisplayText.escape(DisplayText.withoutTrailingNULs(value))
    case .base64: return Base64.encode(value)
    case .auto:
      let text = DisplayText.withoutTrailingNULs(value)
      return text.count > 1 && DisplayText.isPrintable(text) ? String(decoding: text, as: UTF8.self) : Hex.encode(value)
    case .unsigned, .signed, .float: return numbers(value)?.joined(separator: " ") ?? "hex:" + Hex.encode(value)
    }
  }

  /// The number of bytes in one number. Nil for formats that are not numbers.
  package var numberBytes: Int? {
    switch self {
    case .unsigned(let bytes, _), .signed(let bytes, _), .float(let bytes, _): bytes
    case .hex, .utf8, .base64, .auto: nil
    }
  }

  /// Decodes the numbers in a value as decimal text. Nil for other formats, and if the length is not a multiple of the format's width.
  package func numbers(_ value: [UInt8]) -> [String]? {
    switch self {
    case .unsigned(let bytes, let order):
      return fields(value, bytes, order) { String($0) }
    case .signed(let bytes, let order):
      return fields(value, bytes, order) { number in
        let shift = 64 - 8 * Int64(bytes)
        return String((Int64(bitPattern: number) << shift) >> shift)
      }
    case .float(let bytes, let order):
      return fields(value, bytes, order) { bits in
        bytes == 4 ? Self.text(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Self.text(Double(bitPattern: bits))
      }
    case .hex, .utf8, .base64, .auto: return nil
    }
  }

  /// Renders a float as text. Every NaN becomes `nan`, without the sign and payload that Swift prints (`-snan(0x1)`).
  private static func text(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> String {
    number.isNaN ? "nan" : number.description
  }

  private func fields(_ value: [UInt8], _ bytes: Int, _ order: ByteOrder, _ show: (UInt64) -> String) -> [String]? {
    guard bytes > 0, value.count.isMultiple(of: bytes) else { return nil }
    var words: [String] = []
    for start in stride(from: 0, to: value.count, by: bytes) {
      words.append(show(order.number(value[start..<start + bytes])))
    }
    return words
  }
}

/// The error for an unknown format, or for text that does not match its format. Columns count UTF-8 bytes from 1.
package enum ValueFormatError: Error, Equatable, Sendable, CustomStringConvertible {
  case unknown(String)
  /// The name of a format of several bytes lacks its byte order, as in `u16`.
  case needsByteOrder(String)
  case notHex(String)
  case oddDigits(HexError)
  case notBase64(String)
  case noNumber(ValueFormat)
  case notANumber(String, column: Int, ValueFormat)
  case outOfRange(String, column: Int, ValueFormat)

  package var description: String {
    switch self {
    case .unknown(let name):
      "Unknown format \(DisplayText.escape(name)). \(ValueFormat.suggestion(for: name) ?? "Use one of: \(ValueFormat.choices)")"
    case .needsByteOrder(let name):
      "\(DisplayText.escape(name)) needs a byte order: \(name.lowercased())le or \(name.lowercased())be."
    case .notHex(let text): "Invalid hex \"\(DisplayText.clip(DisplayText.visible(text), to: 60))\""
    case .oddDigits(let error): "\(error)"
    case .notBase64(let text): "Invalid base64 \(DisplayText.quote(text))"
    case .noNumber(let format): "There is no number for format \(format.name)."
    case .notANumber(let word, let column, .float):
      "\(DisplayText.quote(word)) (column \(column)) is not a number such as 21.5, -3e8, inf or nan."
    case .notANumber(let word, let column, _): "\(DisplayText.quote(word)) (column \(column)) is not an integer (decimal or 0x…)."
    case .outOfRange(let word, let column, let format):
      "\(DisplayText.quote(word)) (column \(column)) does not fit \(format.name) (\(format.range ?? ""))."
    }
  }
}

/// The conversion between integers and bytes.
extension ValueFormat {
  /// Encodes a number as its lowest bytes, or as the nearest float. Text formats yield no bytes.
  package func bytes(of number: Int64) -> [UInt8] {
    switch self {
    case .unsigned(let bytes, let order), .signed(let bytes, let order): return Self.bytes(UInt64(bitPattern: number), bytes, order)
    case .float(let bytes, let order):
      return Self.bytes(bytes == 8 ? Double(number).bitPattern : UInt64(Float(number).bitPattern), bytes, order)
    case .hex, .utf8, .base64, .auto: return []
    }
  }

  /// Decodes the first bytes as an integer. Missing bytes count as zeros. Formats that are not integers yield 0. Decodes `u64` as two's
  /// complement.
  package func number(in bytes: [UInt8]) -> Int64 {
    guard case .unsigned(let width, let order) = self else {
      guard case .signed(let width, let order) = self else { return 0 }
      let shift = Int64(64 - 8 * width)
      return (Self.unsigned(bytes: width, order).number(in: bytes) << shift) >> shift
    }
    let padded = bytes.prefix(width) + Array(repeating: 0, count: max(0, width - bytes.count))
    let bits = order == .big ? Array(padded) : padded.reversed()
    return Int64(bitPattern: bits.reduce(0) { $0 << 8 | UInt64($1) })
  }
}
