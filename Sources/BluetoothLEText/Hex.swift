// SPDX-License-Identifier: Apache-2.0
/// The conversion between bytes and hex text.
package enum Hex {
  package enum LetterCase: Sendable { case lower, upper }

  /// Encodes bytes in hex, two digits each.
  /// - Parameter separator: An ASCII character between bytes. Nil writes no separator.
  package static func encode(_ bytes: some Collection<UInt8>, separator: UInt8? = nil, _ letterCase: LetterCase = .lower) -> String {
    encode(Array(bytes), separator: separator, letterCase)
  }

  // The common types, because other modules do not specialize the generic function: busy scans have thousands of reports per second.

  package static func encode(_ bytes: [UInt8], separator: UInt8? = nil, _ letterCase: LetterCase = .lower) -> String {
    text(bytes.count, separator, letterCase) { bytes[$0] }
  }

  package static func encode(_ bytes: ArraySlice<UInt8>, separator: UInt8? = nil, _ letterCase: LetterCase = .lower) -> String {
    text(bytes.count, separator, letterCase) { bytes[bytes.startIndex + $0] }
  }

  /// Encodes the lowest bytes of a number in hex, most significant byte first, two digits each.
  /// - Parameter bytes: The number of bytes, 1–8.
  package static func encode(_ number: UInt64, bytes: Int, separator: UInt8? = nil, _ letterCase: LetterCase = .lower) -> String {
    text(bytes, separator, letterCase) { UInt8(truncatingIfNeeded: number >> UInt64(8 * (bytes - 1 - $0))) }
  }

  /// Encodes a 16-bit number as four hex digits.
  package static func encode(_ number: UInt16) -> String { encode(UInt64(number), bytes: 2) }

  /// Encodes a byte as two hex digits.
  package static func encode(_ byte: UInt8) -> String { encode(UInt64(byte), bytes: 1) }

  @inline(__always)
  private static func text(_ count: Int, _ separator: UInt8?, _ letterCase: LetterCase, _ byte: (Int) -> UInt8) -> String {
    let text = [UInt8](capacity: capacity(count, separator)) { write(count, separator, letterCase, byte, to: &$0) }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Appending

  package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    text.append(addingCapacity: capacity(bytes.count, nil)) { write(bytes.count, nil, .lower, { bytes[$0] }, to: &$0) }
  }

  package static func append(
    _ number: UInt64, bytes: Int, separator: UInt8? = nil, _ letterCase: LetterCase = .lower, to text: inout [UInt8]
  ) {
    text.append(addingCapacity: capacity(bytes, separator)) {
      write(bytes, separator, letterCase, { UInt8(truncatingIfNeeded: number >> UInt64(8 * (bytes - 1 - $0))) }, to: &$0)
    }
  }

  private static func capacity(_ count: Int, _ separator: UInt8?) -> Int { count * (separator == nil ? 2 : 3) }

  @inline(__always)
  private static func write(
    _ count: Int, _ separator: UInt8?, _ letterCase: LetterCase, _ byte: (Int) -> UInt8, to text: inout ByteOutput
  ) {
    let letters: UInt8 = letterCase == .lower ? 0x57 : 0x37
    for index in 0..<count {
      if let separator, index > 0 { text.append(separator) }
      let byte = byte(index)
      let (high, low) = (byte >> 4, byte & 15)
      text.append((high < 10 ? 0x30 : letters) &+ high)
      text.append((low < 10 ? 0x30 : letters) &+ low)
    }
  }

  /// Parses hex text: `0100`, `01 00`, `01:00`, `01-00`, `0x01 0x00`. A word of one digit is one byte: `5`, `0x5`, `1:2:3`.
  /// Empty and blank text yields no bytes.
  /// - Parameter loneDigits: Whether a word of one digit is valid. False for logs, where such a word has lost a digit.
  /// - Throws: `HexError` for other characters, and for a word with an odd number of digits.
  package static func parse(_ text: String, loneDigits: Bool = true) throws(HexError) -> [UInt8] {
    var bytes: [UInt8] = []
    var odd: HexError?
    let words = text.utf8.split(whereSeparator: { " \t\n\r".utf8.contains($0) })
    for word in words {
      for part in word.split(whereSeparator: { ":-,".utf8.contains($0) }) {
        var digits = part
        if digits.count >= 2, digits.first == 0x30, digits.dropFirst().first.map({ $0 | 0x20 }) == 0x78 { digits = digits.dropFirst(2) }
        guard !digits.isEmpty else { throw .notHex }
        let isLone = digits.count == 1 && (loneDigits || part.count < word.count)
        if digits.count % 2 != 0, !isLone, odd == nil {
          odd = .oddDigits(String(Substring(part)), column: text.utf8.distance(from: text.startIndex, to: part.startIndex) + 1)
        }
        var nibbles: [UInt8] = digits.count % 2 == 0 ? [] : [0]
        for digit in digits {
          guard let value = nibble(digit) else { throw .notHex }
          nibbles.append(value)
        }
        for index in stride(from: 0, to: nibbles.count, by: 2) { bytes.append(nibbles[index] << 4 | nibbles[index + 1]) }
      }
    }
    if let odd { throw odd }
    if bytes.isEmpty, !words.isEmpty { throw .notHex }
    return bytes
  }

  /// Parses hex text. Returns nil if the text is invalid or a word has an odd number of digits.
  package static func decode(_ text: String) -> [UInt8]? { try? parse(text) }

  /// Parses 1 to 16 hex digits without a prefix. Returns nil for other text.
  package static func number(_ digits: String) -> UInt64? { number(digits[...]) }

  package static func number(_ digits: Substring) -> UInt64? {
    guard (1...16).contains(digits.utf8.count) else { return nil }
    var value: UInt64 = 0
    for digit in digits.utf8 {
      guard let nibble = nibble(digit) else { return nil }
      value = value << 4 | UInt64(nibble)
    }
    return value
  }

  /// Returns the value of an ASCII hex digit. Returns nil for another character.
  package static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}

/// The reason why a text is invalid hex.
package enum HexError: Error, Equatable, Sendable, CustomStringConvertible {
  case notHex
  /// A word has an odd number of digits. The column of the word counts UTF-8 bytes from 1.
  case oddDigits(String, column: Int)

  package var description: String {
    switch self {
    case .notHex: "Invalid hex"
    case .oddDigits(let word, let column): "Invalid hex \(DisplayText.quote(word)) (column \(column)): odd number of digits"
    }
  }
}
