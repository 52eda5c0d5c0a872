// SPDX-License-Identifier: Apache-2.0
import CBluetoothLECrypto

/// An error of the elliptic curve P-256.
package enum P256Error: Error, Equatable, Sendable {
  /// OpenSSL's shared library (`MessageAuthentication.library`) is not installed, or is too old.
  case libraryMissing
  /// A private key is not in 1…n − 1, or a random number generator gives no such key.
  case invalidPrivateKey
  /// A public key is not a point of the curve. A secret with it could reveal the private key (CVE-2018-5383).
  case notOnCurve
}

/// A public key of the elliptic curve P-256 (FIPS 186-4 D.1.2.3). Only its users check that it is on the curve.
package struct P256PublicKey: Hashable, Sendable {
  /// The x coordinate in 32 bytes, most significant first.
  package let x: [UInt8]
  /// The y coordinate in 32 bytes, most significant first.
  package let y: [UInt8]

  /// Creates a key from its coordinates. Nil if one of them is not 32 bytes long.
  package init?(x: [UInt8], y: [UInt8]) {
    guard x.count == 32, y.count == 32 else { return nil }
    (self.x, self.y) = (x, y)
  }

  fileprivate init(_ point: shim_p256_point) {
    func bytes(_ first: AES128.Block, _ second: AES128.Block) -> [UInt8] { (0..<32).map { $0 < 16 ? first[$0] : second[$0 - 16] } }
    (x, y) = (bytes(point.x0, point.x1), bytes(point.y0, point.y1))
  }

  fileprivate var point: shim_p256_point {
    func block(_ bytes: [UInt8], _ start: Int) -> AES128.Block { AES128.Block(padding: bytes.dropFirst(start)) }
    return shim_p256_point(x0: block(x, 0), x1: block(x, 16), y0: block(y, 0), y1: block(y, 16), status: 0)
  }
}

/// A private key of the elliptic curve P-256 with its public key. OpenSSL's shared library computes with it.
package struct P256KeyPair: Sendable {
  package let publicKey: P256PublicKey
  private let scalar: [UInt8]

  /// Creates the pair of a private key of 32 bytes, most significant first.
  package init(privateKey: [UInt8]) throws(P256Error) {
    guard privateKey.count == 32 else { throw .invalidPrivateKey }
    var generator = shim_p256_point()
    generator.status = 1
    scalar = privateKey
    publicKey = P256PublicKey(try Self.multiply(privateKey, generator))
  }

  /// Creates a pair from random numbers.
  package init(using random: inout RandomSource) throws(P256Error) {
    // A random number is out of range about once in 4 billion.
    for _ in 0..<8 {
      do throws(P256Error) {
        self = try P256KeyPair(privateKey: random.bytes(32))
        return
      } catch {
        guard error == .invalidPrivateKey else { throw error }
      }
    }
    throw .invalidPrivateKey
  }

  /// Computes the x coordinate of the Diffie-Hellman secret, 32 bytes, most significant first (Vol 3 Part H §2.2.1: P256).
  /// - Throws: `P256Error.notOnCurve` for a public key that is not on the curve.
  package func sharedSecret(with peer: P256PublicKey) throws(P256Error) -> [UInt8] {
    P256PublicKey(try Self.multiply(scalar, peer.point)).x
  }

  private static func multiply(_ scalar: [UInt8], _ point: shim_p256_point) throws(P256Error) -> shim_p256_point {
    let product = shim_p256_multiply(AES128.Block(padding: scalar), AES128.Block(padding: scalar.dropFirst(16)), point)
    switch Int(product.status) {
    case shim_p256_done: return product
    case shim_p256_no_library: throw .libraryMissing
    case shim_p256_bad_scalar: throw .invalidPrivateKey
    default: throw .notOnCurve
    }
  }
}
