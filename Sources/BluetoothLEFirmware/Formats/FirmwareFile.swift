// SPDX-License-Identifier: Apache-2.0
import BluetoothLECompression

/// A file with firmware for an update: an MCUboot image, also as Intel HEX, or a package for Nordic Secure DFU.
package struct FirmwareFile: Sendable {
  package enum Contents: Sendable {
    case image(ImageFile)
    case package(DFUPackage)
  }

  package let contents: Contents
  /// Whether the file is Intel HEX. The image is its binary form.
  package let isHex: Bool

  /// The maximum length of an image or a part of a package, in bytes.
  package static let limit = 16 << 20
  /// The maximum length of a file, in bytes. HEX has 45 characters for 16 bytes.
  package static let fileLimit = 48 << 20

  /// Reads a file whose contents tell its format. It may be wrong for devices, as `validate` finds out.
  package init(reading file: [UInt8]) throws(FirmwareFileError) {
    guard !file.isEmpty else { throw .empty }
    guard file.count <= Self.fileLimit else { throw .tooLarge(limit: Self.fileLimit) }
    isHex = IntelHex.isHex(file)
    if isHex {
      contents = .image(try ImageFile(try IntelHex(file).binary(limit: Self.limit)))
    } else if ZipArchive.isArchive(file) {
      contents = .package(try DFUPackage(try ZipArchive(file)))
    } else if ImageFile.isImage(file) {
      guard file.count <= Self.limit else { throw .tooLarge(limit: Self.limit) }
      contents = .image(try ImageFile(file))
    } else {
      throw .unknownFormat(Self.known(file))
    }
  }

  /// Returns whether a file begins like firmware. A ZIP archive must have a manifest.
  package static func isFirmware(_ file: [UInt8]) -> Bool {
    if ZipArchive.isArchive(file) { return (try? ZipArchive(file))?.entry(named: DFUManifest.name) != nil }
    return ImageFile.isImage(file) || IntelHex.isHex(file)
  }

  /// Reads and checks a file. What it returns can be sent to a device.
  package static func recognize(_ file: [UInt8]) throws(FirmwareFileError) -> FirmwareFile {
    let read = try FirmwareFile(reading: file)
    try read.validate()
    return read
  }

  /// Checks the hash of an image, or type, size and hash of each part of a package.
  package func validate() throws(FirmwareFileError) {
    switch contents {
    case .image(let image): try image.validate()
    case .package(let package): try package.validate()
    }
  }

  private static func known(_ file: [UInt8]) -> FirmwareFileError.KnownFile? {
    if file.starts(with: [0x7F, 0x45, 0x4C, 0x46]) { return .elf }
    if file.starts(with: "UF2\n".utf8) { return .uf2 }
    if file.starts(with: [0x1F, 0x8B]) { return .gzip }
    return file.prefix(256).allSatisfy { (0x20...0x7E).contains($0) || [0x09, 0x0A, 0x0D].contains($0) } ? .text : nil
  }
}
