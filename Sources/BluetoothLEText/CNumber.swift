// SPDX-License-Identifier: Apache-2.0
/// An integer as C's strtol(3) parses it: blanks, a sign, `0x` or `0`, then digits. The initializer ignores text after the digits.
package struct CNumber: Equatable, Sendable {
  /// The value of the integer. It is 0 if the text has no digits, and nil if the value does not fit 64 bits.
  package let value: Int?
  /// Whether the text has digits and ends after them.
  package let isWhole: Bool

  /// Parses the integer at the start of a text.
  /// - Parameter base: The base, 10 or 16. Nil detects base 16, 8 or 10 from `0x` or `0`.
  package init(_ text: some StringProtocol, base: Int?) {
    var rest = Array(text.utf8)[...]
    while let byte = rest.first, byte == 0x20 || (0x09...0x0D).contains(byte) { rest = rest.dropFirst() }
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    let hasPrefix = rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8)
    var base = base ?? (hasPrefix ? 16 : rest.first == UInt8(ascii: "0") ? 8 : 10)
    if hasPrefix, base == 16 {
      // Without a digit after it, the prefix is the number zero and the letter x.
      if let digit = rest.dropFirst(2).first, Hex.nibble(digit) != nil { rest = rest.dropFirst(2) } else { base = 10 }
    }
    var number: Int? = 0
    var count = 0
    while let byte = rest.first, let digit = Hex.nibble(byte), digit < base {
      let (product, overflows) = (number ?? 0).multipliedReportingOverflow(by: base)
      let (sum, isOver) = product.addingReportingOverflow(isNegative ? -Int(digit) : Int(digit))
      number = number == nil || overflows || isOver ? nil : sum
      count += 1
      rest = rest.dropFirst()
    }
    value = number
    isWhole = count > 0 && rest.isEmpty
  }
}
