// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEText

/// A file with an image for MCUboot: a header, the code, protected and other TLVs, and perhaps padding with a trailer.
/// Sources: `image.h` and `bootutil_public.h` of MCUboot, and imgtool.
package struct ImageFile: Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let (encryptedAES128, encryptedAES256) = (Self(rawValue: 0x4), Self(rawValue: 0x8))
    package static let (nonBootable, ramLoad, romFixed) = (Self(rawValue: 0x10), Self(rawValue: 0x20), Self(rawValue: 0x100))
    package static let (lzma1, lzma2, armThumb) = (Self(rawValue: 0x200), Self(rawValue: 0x400), Self(rawValue: 0x800))

    /// The bits that are set, lowest first. The name is nil for an unknown bit.
    package var names: [(bit: UInt32, name: String?)] {
      (0..<32).map { UInt32(1) << $0 }.filter { rawValue & $0 != 0 }.map { bit in (bit, Self.names.first { $0.key == bit }?.value) }
    }

    private static let names: KeyValuePairs<UInt32, String> = [
      0x1: "position_independent", 0x4: "encrypted_aes128", 0x8: "encrypted_aes256", 0x10: "non_bootable", 0x20: "ram_load",
      0x100: "rom_fixed", 0x200: "compressed_lzma1", 0x400: "compressed_lzma2", 0x800: "compressed_arm_thumb",
    ]
  }

  /// A field of the image's metadata. Types have 16 bits: 0x0110 is not 0x10.
  package struct TLV: Hashable, Sendable {
    package let type: UInt16
    package let value: [UInt8]

    /// The name of the type in snake case. Nil for custom and unknown types.
    package var name: String? { Self.names.first { $0.key == type }?.value }

    private static let names: KeyValuePairs<UInt16, String> = [
      0x01: "key_hash", 0x02: "public_key", 0x10: "sha256", 0x11: "sha384", 0x12: "sha512", 0x20: "rsa2048", 0x21: "ecdsa224",
      0x22: "ecdsa", 0x23: "rsa3072", 0x24: "ed25519", 0x25: "pure_signature", 0x30: "encrypted_key_rsa2048", 0x31: "encrypted_key_kw",
      0x32: "encrypted_key_p256", 0x33: "encrypted_key_x25519", 0x34: "encrypted_key_x25519_sha512", 0x40: "dependency",
      0x50: "security_counter", 0x60: "boot_record", 0x70: "decompressed_size", 0x71: "decompressed_sha",
      0x72: "decompressed_signature", 0x73: "compressed_decrypted_size", 0x74: "vendor_id", 0x75: "class_id",
    ]
  }

  package enum HashCheck: Hashable, Sendable {
    case matches
    case differs(computed: [UInt8])
    /// The image is encrypted, and its hash is that of the plain image.
    case encrypted
    /// The image does not have exactly one hash with the length of its type.
    case noHash
  }

  package enum Signature: String, Sendable {
    case rsa2048 = "rsa_2048"
    case rsa3072 = "rsa_3072"
    case ecdsaP224 = "ecdsa_p224"
    case ecdsaP256 = "ecdsa_p256"
    case ecdsaP384 = "ecdsa_p384"
    case ed25519
  }

  /// The whole file, with padding.
  package let bytes: [UInt8]
  package let version: ImageVersion
  package let flags: Flags
  /// The address in RAM to load the image to, or in flash to run it from. 0 without one.
  package let loadAddress: UInt32
  /// The lengths of the header, of the code, and of the protected TLVs, in bytes.
  package let headerSize, imageSize, protectedSize: Int
  package let protectedTLVs: [TLV]
  package let tlvs: [TLV]
  /// The offset after the last TLV. What follows is padding, which must not be sent.
  package let end: Int
  package let hashCheck: HashCheck

  private static let (little, big): ([UInt8], [UInt8]) = ([0x3D, 0xB8, 0xF3, 0x96], [0x96, 0xF3, 0xB8, 0x3D])

  package static func isImage(_ file: [UInt8]) -> Bool { file.starts(with: little) || file.starts(with: big) }

  /// Reads an image. `validate` checks its hash.
  package init(_ bytes: [UInt8]) throws(FirmwareFileError) {
    guard bytes.starts(with: Self.little) else { throw bytes.starts(with: Self.big) ? .bigEndianImage : .notAnImage }
    guard bytes.count >= 32 else { throw .imageEndsEarly(needs: 32, has: bytes.count) }
    func number(_ range: Range<Int>) -> UInt32 { UInt32(truncatingIfNeeded: ByteOrder.little.number(bytes[range])) }
    loadAddress = number(4..<8)
    (headerSize, protectedSize, imageSize) = (Int(number(8..<10)), Int(number(10..<12)), Int(number(12..<16)))
    flags = Flags(rawValue: number(16..<20))
    version = ImageVersion(bytes[20..<28])
    guard headerSize >= 32 else { throw .imageHeaderSize(headerSize) }
    var position = headerSize + imageSize
    protectedTLVs = protectedSize == 0 ? [] : try Self.area(0x6908, in: bytes, at: &position)
    guard position == headerSize + imageSize + protectedSize else {
      throw .protectedSize(header: protectedSize, area: position - headerSize - imageSize)
    }
    tlvs = try Self.area(0x6907, in: bytes, at: &position)
    end = position
    self.bytes = bytes
    let hashes = tlvs.filter { Self.function($0) != nil }
    if hashes.count == 1, let function = Self.function(hashes[0]), hashes[0].value.count == function.length {
      let computed = function.hash(bytes[..<(headerSize + imageSize + protectedSize)])
      let isEncrypted = !flags.isDisjoint(with: [.encryptedAES128, .encryptedAES256])
      hashCheck = computed == hashes[0].value ? .matches : isEncrypted ? .encrypted : .differs(computed: computed)
    } else {
      hashCheck = .noHash
    }
  }

  /// Reads the TLVs at `position`, and moves `position` behind them.
  private static func area(_ magic: UInt16, in bytes: [UInt8], at position: inout Int) throws(FirmwareFileError) -> [TLV] {
    guard position + 4 <= bytes.count else { throw .imageEndsEarly(needs: position + 4, has: bytes.count) }
    guard bytes.uint16(at: position) == magic else { throw .tlvMagic(bytes.uint16(at: position), at: position) }
    let end = position + Int(bytes.uint16(at: position + 2))
    guard end >= position + 4 else { throw .tlvLength(at: position) }
    guard end <= bytes.count else { throw .imageEndsEarly(needs: end, has: bytes.count) }
    var tlvs: [TLV] = []
    position += 4
    while position < end {
      guard position + 4 <= end, position + 4 + Int(bytes.uint16(at: position + 2)) <= end else { throw .tlvLength(at: position) }
      let (type, start) = (bytes.uint16(at: position), position + 4)
      position = start + Int(bytes.uint16(at: position + 2))
      tlvs.append(TLV(type: type, value: Array(bytes[start..<position])))
    }
    return tlvs
  }

  private static func function(_ tlv: TLV) -> SHA2? {
    tlv.type == 0x10 ? .sha256 : tlv.type == 0x11 ? .sha384 : tlv.type == 0x12 ? .sha512 : nil
  }

  /// Checks that the image has one hash, and that it is right unless the image is encrypted.
  package func validate() throws(FirmwareFileError) {
    switch hashCheck {
    case .matches, .encrypted: return
    case .differs(let computed): throw .imageHash(stored: hash ?? [], computed: computed)
    case .noHash:
      let hashes = tlvs.filter { Self.function($0) != nil }
      throw hashes.count == 1 ? .imageHashLength(type: hashes[0].type, hashes[0].value.count) : .imageHashes(count: hashes.count)
    }
  }

  /// Returns the value of the first TLV of a type.
  package func value(of type: UInt16) -> [UInt8]? { (tlvs + protectedTLVs).first { $0.type == type }?.value }

  /// The hash that names the image in MCUmgr requests: 32, 48 or 64 bytes.
  package var hash: [UInt8]? { tlvs.first { Self.function($0) != nil }?.value }
  package var hashFunction: SHA2? { tlvs.lazy.compactMap { Self.function($0) }.first }

  /// The hash that the device reports when the image runs. A compressed image has another one then.
  package var runningHash: [UInt8]? { isCompressed ? protectedTLVs.first { $0.type == 0x71 }?.value ?? hash : hash }
  package var isCompressed: Bool { !flags.isDisjoint(with: [.lzma1, .lzma2]) }

  /// The part that a device gets: the file up to the end of the TLVs.
  package var upload: ArraySlice<UInt8> { bytes[..<end] }
  package var padding: Int { bytes.count - end }

  package var signature: Signature? {
    let kinds: [UInt16: Signature] = [
      0x20: .rsa2048, 0x21: .ecdsaP224, 0x22: hashFunction == .sha384 ? .ecdsaP384 : .ecdsaP256, 0x23: .rsa3072, 0x24: .ed25519,
    ]
    return tlvs.lazy.compactMap { kinds[$0.type] }.first
  }

  /// Whether the signature is over the image itself, not over its hash.
  package var isPureSignature: Bool { value(of: 0x25) == [1] }

  /// The lowest versions of other images that this one needs.
  package var dependencies: [(image: UInt8, version: ImageVersion)] {
    protectedTLVs.filter { $0.type == 0x40 && $0.value.count == 12 }.map { ($0.value[0], ImageVersion($0.value[4...])) }
  }

  /// The trailer in the padding. Nil without one.
  package var trailer: ImageTrailer? { ImageTrailer(inPadding: bytes[end...]) }
}

extension ImageVersion {
  /// Reads the eight bytes of a version in an image.
  fileprivate init(_ bytes: ArraySlice<UInt8>) {
    let number = ByteOrder.little.number(bytes.prefix(8))
    self.init(
      major: UInt8(truncatingIfNeeded: number), minor: UInt8(truncatingIfNeeded: number >> 8),
      revision: UInt16(truncatingIfNeeded: number >> 16), build: UInt32(truncatingIfNeeded: number >> 32))
  }
}
