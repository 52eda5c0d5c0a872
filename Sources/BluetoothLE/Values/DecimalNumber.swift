// SPDX-License-Identifier: Apache-2.0
/// An exact decimal number for scaled integers and IEEE 11073 floats, without the extra digits of a binary float.
package struct DecimalNumber: Equatable, Sendable, CustomStringConvertible {
  package let isNegative: Bool
  private let magnitude: UInt128
  private let exponent: Int
  /// Whether a division by a power of two made the decimals. The number then has more decimals than the device's precision.
  private let isBinaryFraction: Bool

  /// Creates the number `magnitude` × 10^`exponent`, negative if `isNegative` is true.
  package init(isNegative: Bool = false, magnitude: UInt128, exponent: Int = 0, isBinaryFraction: Bool = false) {
    var magnitude = magnitude
    var exponent = exponent
    while magnitude > 0, magnitude.isMultiple(of: 10) {
      magnitude /= 10
      exponent += 1
    }
    self.isNegative = isNegative && magnitude > 0
    self.magnitude = magnitude
    self.exponent = magnitude == 0 ? 0 : exponent
    self.isBinaryFraction = isBinaryFraction
  }

  package init(_ value: some BinaryInteger) { self.init(isNegative: value < 0, magnitude: UInt128(value.magnitude)) }

  /// Creates the number `value` × multiplier × 10^`decimalExponent` × 2^`binaryExponent` (GATT Specification Supplement §2.4).
  /// Nil if the number exceeds 128 bits, which the SIG's characteristics never do.
  init?(_ value: Int128, scale: Scale) {
    var magnitude = value.magnitude
    var overflow = false
    func multiply(by factor: UInt128) {
      let (product, failed) = magnitude.multipliedReportingOverflow(by: factor)
      magnitude = product
      overflow = overflow || failed
    }
    multiply(by: UInt128(scale.multiplier))
    // 2^-n = 5^n × 10^-n.
    for _ in 0..<abs(scale.binaryExponent) { multiply(by: scale.binaryExponent < 0 ? 5 : 2) }
    guard !overflow else { return nil }
    self.init(
      isNegative: value < 0, magnitude: magnitude, exponent: scale.decimalExponent + min(0, scale.binaryExponent),
      isBinaryFraction: scale.binaryExponent < 0)
  }

  /// The number with all digits, in a form that JSON accepts. Very large and very small numbers have an exponent.
  package var description: String { text(magnitude, exponent) }

  /// The number as text, rounded for display. A binary fraction keeps four digits, or all digits before the point if there are more.
  package var rounded: String {
    guard isBinaryFraction, exponent < -3 else { return description }
    let dropped = min(String(magnitude).utf8.count - 4, -exponent)
    guard dropped > 0 else { return description }
    var magnitude = magnitude
    for _ in 1..<dropped { magnitude /= 10 }
    let shown = Self(isNegative: isNegative, magnitude: magnitude / 10 + (magnitude % 10 >= 5 ? 1 : 0), exponent: exponent + dropped)
    return shown.description
  }

  private func text(_ magnitude: UInt128, _ exponent: Int) -> String {
    let digits = String(magnitude)
    let sign = isNegative ? "-" : ""
    let point = digits.utf8.count + exponent
    if exponent >= 0, point <= 21 { return sign + digits + String(repeating: "0", count: exponent) }
    if exponent < 0, point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
    if exponent < 0, point > -10 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    let decimals = digits.dropFirst()
    return sign + digits.prefix(1) + (decimals.isEmpty ? "" : "." + decimals) + "e\(point - 1)"
  }
}

/// The scale of a raw number. The scaled number is raw × `multiplier` × 10^`decimalExponent` × 2^`binaryExponent`.
struct Scale: Equatable, Sendable {
  var multiplier: UInt64 = 1
  var decimalExponent = 0
  var binaryExponent = 0
}
