// SPDX-License-Identifier: Apache-2.0
package import BluetoothLECompression

/// The reason why a file is refused as firmware. Offsets are in bytes, and lines count from 1.
package enum FirmwareFileError: Error, Hashable, Sendable {
  case empty
  /// The file, or what it expands to, has more bytes than the limit.
  case tooLarge(limit: Int)
  case unknownFormat(KnownFile?)

  // MARK: Intel HEX
  case hexRecord(line: Int, HexProblem)
  /// The file has no end-of-file record: it was cut.
  case hexEndsEarly
  case hexWithoutData
  /// Two records have a byte for the same address.
  case hexOverlap(address: UInt32)

  // MARK: MCUboot images
  /// The file does not begin with the magic number of an image.
  case notAnImage
  case bigEndianImage
  /// The header or the TLVs need more bytes than the file has.
  case imageEndsEarly(needs: Int, has: Int)
  /// The header gives itself fewer than 32 bytes.
  case imageHeaderSize(Int)
  /// The bytes after the image are no TLV area of the wanted kind.
  case tlvMagic(UInt16, at: Int)
  /// A TLV, or an area of TLVs, has an impossible length.
  case tlvLength(at: Int)
  /// The header and the area of protected TLVs disagree about its length.
  case protectedSize(header: Int, area: Int)
  /// An image needs exactly one hash, with the length of its type.
  case imageHashes(count: Int)
  case imageHashLength(type: UInt16, Int)
  /// The hash in the image is not the hash of its contents.
  case imageHash(stored: [UInt8], computed: [UInt8])

  // MARK: Nordic packages
  case archive(ZipArchive.Problem)
  case noManifest
  case manifestSyntax(line: Int, reason: String)
  /// The manifest lacks a member, or has one of the wrong kind: `manifest.application.bin_file`.
  case manifestMember(String)
  case manifestWithoutParts
  case legacyPackage
  /// A package of the nRF Connect SDK for MCUmgr, with the names of its images.
  case imagePackage(files: [String])
  case missingEntry(FirmwarePart, String)
  /// The manifest names one file for two purposes.
  case sharedEntry(String)
  case emptyPart(FirmwarePart)
  case initPacket(FirmwarePart, InitPacket.Failure)
  /// The init packet is for another type of firmware than the manifest says.
  case partType(FirmwarePart, InitPacket.FirmwareType)
  case partSize(FirmwarePart, initPacket: Int, file: Int)
  case partHash(FirmwarePart, initPacket: [UInt8], file: [UInt8])

  package enum HexProblem: Hashable, Sendable {
    /// The line is no record: it lacks the colon, has other characters than hex digits, or is too short.
    case syntax
    /// The record has more or fewer bytes than its first byte says.
    case length
    case checksum
    case unknownType(UInt8)
    /// A record follows the end-of-file record.
    case afterEnd
    /// The data cross the end of the address space or of a segment.
    case address
  }

  /// A format that is no firmware file, but that users have.
  package enum KnownFile: String, Hashable, Sendable {
    case elf = "ELF"
    case uf2 = "UF2"
    case gzip
    case text
  }
}
