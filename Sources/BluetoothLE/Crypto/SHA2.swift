// SPDX-License-Identifier: Apache-2.0
import CBluetoothLECrypto

/// A hash function of the SHA-2 family (FIPS 180-4).
package enum SHA2: Int, Hashable, Sendable, CaseIterable {
  case sha256 = 256
  case sha384 = 384
  case sha512 = 512

  /// The length of a hash, in bytes.
  package var length: Int { rawValue / 8 }

  /// Computes the hash of bytes, in the usual order of its bytes.
  package func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var hash = shim_hash_begin(Int32(rawValue))
    var rest = bytes
    while !rest.isEmpty {
      // Without optimization, a sequence for each block would take ten times as long.
      func block(_ start: Int) -> AES128.Block {
        var block = AES128.Block()
        for index in 0..<max(0, min(16, rest.count - start)) { block[index] = rest[rest.startIndex + start + index] }
        return block
      }
      hash = shim_hash_add(hash, block(0), block(16), block(32), block(48), Int32(min(64, rest.count)))
      rest = rest.dropFirst(64)
    }
    let digest = shim_hash_end(hash)
    let blocks = [digest.block0, digest.block1, digest.block2, digest.block3]
    return (0..<length).map { blocks[$0 / 16][$0 % 16] }
  }

  package func hash(_ bytes: [UInt8]) -> [UInt8] { hash(bytes[...]) }
}
