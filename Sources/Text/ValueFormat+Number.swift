/// Converts an integer to and from bytes.
extension ValueFormat {
  /// Encodes a number: its lowest bytes, or the nearest float. Text formats return no bytes.
  package func octets(of number: Int64) -> [UInt8] {
    switch self {
    case .unsigned(let octets, let order), .signed(let octets, let order): return Self.bytes(UInt64(bitPattern: number), octets, order)
    case .float(let octets, let order):
      return Self.bytes(octets == 8 ? Double(number).bitPattern : UInt64(Float(number).bitPattern), octets, order)
    case .hex, .utf8, .base64, .auto: return []
    }
  }

  /// The number that the first octets are, those that are missing being zeros; 0 for a format that is not one of whole numbers. `u64` is read as
  /// two's complement.
  package func number(in octets: [UInt8]) -> Int64 {
    guard case .unsigned(let width, let order) = self else {
      guard case .signed(let width, let order) = self else { return 0 }
      let shift = Int64(64 - 8 * width)
      return (Self.unsigned(octets: width, order).number(in: octets) << shift) >> shift
    }
    let padded = octets.prefix(width) + Array(repeating: 0, count: max(0, width - octets.count))
    let bits = order == .big ? Array(padded) : padded.reversed()
    return Int64(bitPattern: bits.reduce(0) { $0 << 8 | UInt64($1) })
  }
}
