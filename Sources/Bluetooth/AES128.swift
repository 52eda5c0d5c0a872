/// The security function e (Vol 3 Part H §2.2.1): AES-128 of FIPS 197, one block forward, which is all that Bluetooth's functions and CCM need.
///
/// Written out here because a cryptographic library would be more than all the rest of the program, and be loaded at every start. It is for
/// what is heard over the air with a key that the user typed; how long it takes depends on the octets.
package struct AES128: Sendable {
  /// Sixteen octets, in FIPS 197's order: the most significant of the specification's 128-bit numbers first.
  package typealias Block = SIMD16<UInt8>

  private let roundKeys: [Block]

  /// - Parameter key: sixteen octets; nil for any other count.
  package init?(key: some Collection<UInt8>) {
    guard key.count == 16 else { return nil }
    var words = Block(padding: key)
    var keys = [words]
    var constant: UInt8 = 1
    for _ in 1...10 {
      // FIPS 197 §5.2: the last word turned, substituted and with the round's constant, then every word on the one before.
      for column in 0..<4 {
        for row in 0..<4 {
          let last =
            column > 0
            ? words[4 * column - 4 + row] : Self.substitute(words[12 + (row + 1) % 4]) ^ (row == 0 ? constant : 0)
          words[4 * column + row] ^= last
        }
      }
      keys.append(words)
      constant = Self.doubled(constant)
    }
    roundKeys = keys
  }

  package func encrypt(_ block: Block) -> Block {
    var state = block
    for (round, key) in roundKeys.enumerated() {
      if round > 0 {
        state = Self.shifted(state)
        if round < 10 { state = Self.mixed(state) }
      }
      state ^= key
    }
    return state
  }

  /// SubBytes and ShiftRows (FIPS 197 §5.1.1, §5.1.2): row r of the columns is turned by r.
  private static func shifted(_ state: Block) -> Block {
    var result = Block()
    for index in 0..<16 { result[index] = substitute(state[(index + 4 * (index % 4)) % 16]) }
    return result
  }

  /// MixColumns (FIPS 197 §5.1.3).
  private static func mixed(_ state: Block) -> Block {
    var result = Block()
    for column in stride(from: 0, to: 16, by: 4) {
      for row in 0..<4 {
        let (one, two, three, four) = (
          state[column + row], state[column + (row + 1) % 4], state[column + (row + 2) % 4], state[column + (row + 3) % 4]
        )
        result[column + row] = doubled(one) ^ doubled(two) ^ two ^ three ^ four
      }
    }
    return result
  }

  /// Times x in GF(2⁸) modulo x⁸ + x⁴ + x³ + x + 1.
  private static func doubled(_ value: UInt8) -> UInt8 { value << 1 ^ (value & 0x80 == 0 ? 0 : 0x1B) }

  private static func substitute(_ value: UInt8) -> UInt8 { box[Int(value)] }

  /// The S-box (FIPS 197 §5.1.1), made when it is first needed: the inverse of every number, by way of the powers of 3 and of its inverse,
  /// and the affine map of that.
  private static let box: [UInt8] = {
    var box = [UInt8](repeating: 0x63, count: 256)
    var (power, inverse): (UInt8, UInt8) = (1, 1)
    repeat {
      power ^= doubled(power)
      inverse ^= inverse << 1
      inverse ^= inverse << 2
      inverse ^= inverse << 4
      if inverse & 0x80 != 0 { inverse ^= 0x09 }
      let turned = (1...4).reduce(inverse) { $0 ^ (inverse << $1 | inverse >> (8 - $1)) }
      box[Int(power)] = turned ^ 0x63
    } while power != 1
    return box
  }()
}

extension SIMD16<UInt8> {
  /// The first sixteen octets, and zeros where there are fewer.
  package init(padding octets: some Sequence<UInt8>) {
    self.init()
    for (index, octet) in zip(0..<16, octets) { self[index] = octet }
  }
}
