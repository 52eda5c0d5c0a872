// SPDX-License-Identifier: Apache-2.0
/// A source of random numbers for keys and nonces. Without a generator of its own, it reads the kernel's (getrandom).
package struct RandomSource: Sendable {
  private var generator: any RandomNumberGenerator & Sendable

  /// Creates a source.
  /// - Parameter generator: A cryptographically secure generator. Tests give known numbers.
  package init(_ generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) { self.generator = generator }

  /// Returns random bytes. Each number of the generator gives eight of them, least significant first.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let number = generator.next()
      for index in 0..<8 where bytes.count < count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    }
    return bytes
  }

  /// Returns a random number of an unsigned type.
  package mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_ type: Number.Type = Number.self) -> Number {
    bytes(Number.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }

  /// Returns a random number below a limit, each with the same probability.
  package mutating func number(below limit: UInt32) -> UInt32 { limit == 0 ? 0 : UInt32.random(in: 0..<limit, using: &generator) }
}
