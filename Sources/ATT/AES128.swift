/// AES with a key of 128 bits (FIPS 197), encryption only: all that CMAC needs.
struct AES128: Sendable {
  /// 11 round keys of 16 octets.
  private let schedule: [[UInt8]]

  /// - Parameter key: 16 octets; nil for any other count.
  init?(key: [UInt8]) {
    guard key.count == 16 else { return nil }
    var keys = [key]
    var constant: UInt8 = 1
    for _ in 0..<10 {
      let old = keys[keys.count - 1]
      var word = [Self.box(old[13]) ^ constant, Self.box(old[14]), Self.box(old[15]), Self.box(old[12])]
      constant = Self.double(constant)
      var new: [UInt8] = []
      for index in 0..<16 {
        word[index % 4] ^= old[index]
        new.append(word[index % 4])
      }
      keys.append(new)
    }
    schedule = keys
  }

  /// - Parameter block: 16 octets; a shorter one counts as filled with zeros, of a longer one the rest is not used.
  func encrypt(_ block: [UInt8]) -> [UInt8] {
    var state = Array((block + [UInt8](repeating: 0, count: 16)).prefix(16))
    for (round, key) in schedule.enumerated() {
      if round > 0 {
        let rows = (0..<16).map { Self.box(state[($0 + 4 * ($0 % 4)) % 16]) }
        state = round < 10 ? Self.mixColumns(rows) : rows
      }
      for index in 0..<16 { state[index] ^= key[index] }
    }
    return state
  }

  private static func mixColumns(_ state: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for column in 0..<4 {
      let cells = state[4 * column..<4 * column + 4]
      let all = cells.reduce(0, ^)
      for row in 0..<4 {
        let cell = state[4 * column + row]
        let below = state[4 * column + (row + 1) % 4]
        result.append(cell ^ all ^ double(cell ^ below))
      }
    }
    return result
  }

  /// Times x in GF(2⁸) modulo x⁸ + x⁴ + x³ + x + 1.
  private static func double(_ octet: UInt8) -> UInt8 { octet << 1 ^ (octet & 0x80 == 0 ? 0 : 0x1B) }

  private static func box(_ octet: UInt8) -> UInt8 { boxes[Int(octet)] }

  /// The substitution box, computed: inverse in GF(2⁸), then the affine map.
  private static let boxes: [UInt8] = {
    var boxes = [UInt8](repeating: 0x63, count: 256)
    var value: UInt8 = 1
    var inverse: UInt8 = 1
    repeat {
      value ^= double(value)  // times 3, a generator
      inverse ^= inverse << 1  // divided by 3
      inverse ^= inverse << 2
      inverse ^= inverse << 4
      if inverse & 0x80 != 0 { inverse ^= 0x09 }
      var turned = inverse
      for bits in 1...4 { turned ^= inverse << bits | inverse >> (8 - bits) }
      boxes[Int(value)] = turned ^ 0x63
    } while value != 1
    return boxes
  }()
}
