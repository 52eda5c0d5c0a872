import Bluetooth

extension AttributeDatabase {
  /// The Database Hash (Vol 3 Part G §7.3): AES-CMAC with a zero key over what defines the database. Most significant octet first;
  /// the characteristic 2B2A carries it the other way round.
  package var hash: [UInt8] {
    var message = ByteWriter(capacity: attributes.count * 8)
    for attribute in attributes {
      guard let type = attribute.type.short else { continue }
      switch type {
      case 0x2800...0x2803, 0x2900:
        message.uint16(attribute.handle)
        message.uint16(type)
        message.append(attribute.value)
      case 0x2901...0x2905:
        message.uint16(attribute.handle)
        message.uint16(type)
      default: continue
      }
    }
    return CMAC.tag(message.bytes, key: AES128(key: [UInt8](repeating: 0, count: 16)))
  }
}

/// AES-CMAC (RFC 4493).
enum CMAC {
  static func tag(_ message: [UInt8], key: AES128) -> [UInt8] {
    let first = doubled(key.encrypt([UInt8](repeating: 0, count: 16)))
    let isWhole = !message.isEmpty && message.count % 16 == 0
    let padded = isWhole ? message : message + [0x80] + [UInt8](repeating: 0, count: 15 - message.count % 16)
    var state = [UInt8](repeating: 0, count: 16)
    for start in stride(from: 0, to: padded.count, by: 16) {
      state = xor(state, padded[start..<start + 16])
      if start + 16 == padded.count { state = xor(state, (isWhole ? first : doubled(first))[...]) }
      state = key.encrypt(state)
    }
    return state
  }

  private static func xor(_ a: [UInt8], _ b: ArraySlice<UInt8>) -> [UInt8] { zip(a, b).map { $0 ^ $1 } }

  /// Multiplication by x in GF(2^128).
  private static func doubled(_ block: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for (index, value) in block.enumerated() { result.append(value << 1 | (index + 1 < block.count ? block[index + 1] >> 7 : 0)) }
    if let first = block.first, first & 0x80 != 0, let last = result.popLast() { result.append(last ^ 0x87) }
    return result
  }
}

/// One direction of AES-128 (FIPS 197), enough for CMAC. Not constant-time: what is hashed here is no secret.
struct AES128 {
  private var roundKeys: [[UInt8]] = []

  /// - Parameter key: 16 octets; shorter ones are filled up with zeros.
  init(key: [UInt8]) {
    var words: [[UInt8]] = []
    let key = Array((key + [UInt8](repeating: 0, count: 16)).prefix(16))
    for start in stride(from: 0, to: 16, by: 4) { words.append(Array(key[start..<start + 4])) }
    var constant: UInt8 = 1
    for index in 4..<44 {
      var word = words[index - 1]
      if index % 4 == 0 {
        word = [word[1], word[2], word[3], word[0]].map { Self.box[Int($0)] }
        word[0] ^= constant
        constant = Self.doubled(constant)
      }
      words.append(zip(words[index - 4], word).map { $0 ^ $1 })
    }
    for round in 0...10 { roundKeys.append(Array(words[4 * round..<4 * round + 4].joined())) }
  }

  /// - Parameter block: 16 octets.
  func encrypt(_ block: [UInt8]) -> [UInt8] {
    guard block.count == 16 else { return block }
    var state = zip(block, roundKeys[0]).map { $0 ^ $1 }
    for round in 1...10 {
      // SubBytes and ShiftRows at once; the state is column by column.
      var next = (0..<16).map { Self.box[Int(state[($0 + 4 * ($0 % 4)) % 16])] }
      if round < 10 {
        for column in stride(from: 0, to: 16, by: 4) {
          let a = Array(next[column..<column + 4])
          for row in 0..<4 {
            next[column + row] =
              Self.doubled(a[row]) ^ a[(row + 1) % 4] ^ Self.doubled(a[(row + 1) % 4]) ^ a[(row + 2) % 4] ^ a[(row + 3) % 4]
          }
        }
      }
      state = zip(next, roundKeys[round]).map { $0 ^ $1 }
    }
    return state
  }

  private static func doubled(_ value: UInt8) -> UInt8 { value << 1 ^ (value & 0x80 != 0 ? 0x1B : 0) }

  /// The substitution box: the inverse in GF(2^8), then an affine map. Walks through p = 3^n and q = 3^-n.
  private static let box: [UInt8] = {
    var box = [UInt8](repeating: 0x63, count: 256)
    var p: UInt8 = 1
    var q: UInt8 = 1
    repeat {
      p ^= doubled(p)
      q ^= q << 1
      q ^= q << 2
      q ^= q << 4
      if q & 0x80 != 0 { q ^= 0x09 }
      func rotated(_ count: UInt8) -> UInt8 { q << count | q >> (8 - count) }
      box[Int(p)] = 0x63 ^ q ^ rotated(1) ^ rotated(2) ^ rotated(3) ^ rotated(4)
    } while p != 1
    return box
  }()
}
