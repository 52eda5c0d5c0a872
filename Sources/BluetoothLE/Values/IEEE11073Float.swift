// SPDX-License-Identifier: Apache-2.0
/// A float of IEEE 11073-20601, which has a mantissa and an exponent of ten in two's complement.
enum IEEE11073Float: Equatable {
  case number(DecimalNumber)
  /// A special value, such as `NaN` or `+INFINITY`.
  case special(String)

  /// Creates a number from an SFLOAT, which has a mantissa of 12 bits below an exponent of 4 bits.
  init(short bits: UInt16) {
    self.init(mantissa: Int64(Int16(bitPattern: bits << 4) >> 4), bits: 12, exponent: Int(Int16(bitPattern: bits) >> 12))
  }

  /// Creates a number from a FLOAT, which has a mantissa of 24 bits below an exponent of 8 bits.
  init(long bits: UInt32) {
    self.init(mantissa: Int64(Int32(bitPattern: bits << 8) >> 8), bits: 24, exponent: Int(Int32(bitPattern: bits) >> 24))
  }

  private init(mantissa: Int64, bits: Int64, exponent: Int) {
    let highest = Int64(1) << (bits - 1)
    // Special values have exponent 0.
    if exponent == 0 {
      switch mantissa {
      case highest - 1: self = .special("NaN")
      case highest - 2: self = .special("+INFINITY")
      case -highest: self = .special("NRes")
      case -highest + 1: self = .special("reserved")
      case -highest + 2: self = .special("-INFINITY")
      default: self = .number(DecimalNumber(mantissa))
      }
      return
    }
    self = .number(DecimalNumber(isNegative: mantissa < 0, magnitude: UInt128(mantissa.magnitude), exponent: exponent))
  }
}
