import BluetoothLECompression
package import BluetoothLEFirmware
import BluetoothLEText

// Files that are no firmware, or damaged firmware. Nothing was sent to a device.
extension FirmwareFileError: FailureConvertible {
  package var failure: Failure { .input(sentences) }

  private var sentences: String {
    switch self {
    case .empty: "The file is empty."
    case .tooLarge(let limit): "The file is too large for firmware. The limit is \(limit >> 20) MiB."
    case .unknownFormat(let known): Self.text(known)
    case .hexRecord(let line, let problem): "Line \(line) of the Intel HEX file is damaged: \(Self.text(problem)). \(Self.again)"
    case .hexEndsEarly: "The Intel HEX file is incomplete: it has no end-of-file record. \(Self.again)"
    case .hexWithoutData: "The Intel HEX file has no data."
    case .hexOverlap(let address): "The Intel HEX file has two values for address \(Self.hex(address)). Do not merge files that overlap."
    case .notAnImage:
      "The file does not begin with an MCUboot image. Use the signed image of the build, which is often named app_update.bin or zephyr.signed.hex."
    case .bigEndianImage: "The image is for big-endian processors. blectl updates only little-endian devices."
    case .imageEndsEarly(let needs, let has):
      "The image is incomplete: it needs \(Quantity.bytes(needs)), but the file has \(has). \(Self.again)"
    case .imageHeaderSize(let size): "The image is damaged: its header has \(Quantity.bytes(size)), and needs at least 32. \(Self.again)"
    case .tlvMagic(let magic, let offset):
      "The image has no valid metadata after its code: 0x\(Hex.encode(magic)) at byte \(offset). Sign it with imgtool, or copy it again."
    case .tlvLength(let offset): "The image is damaged: its metadata have an impossible length at byte \(offset). \(Self.again)"
    case .protectedSize(let header, let area):
      "The image is damaged: its header gives the protected metadata \(Quantity.bytes(header)), but they have \(area). \(Self.again)"
    case .imageHashes(let count):
      "The image needs exactly one hash, but has \(count == 0 ? "none" : "\(count)"). Sign it again with imgtool."
    case .imageHashLength(let type, let length):
      "The hash of the image has an invalid length: \(Quantity.bytes(length)) for type 0x\(Hex.encode(type)). Sign it again with imgtool."
    case .imageHash(let stored, let computed):
      "The image is damaged: its hash is \(Hex.encode(computed)), but should be \(Hex.encode(stored)). \(Self.again)"
    case .archive(.endsEarly): "The ZIP archive is incomplete: its directory is missing. \(Self.again)"
    case .archive(.malformed(let offset)): "The ZIP archive is damaged at byte \(offset). \(Self.again)"
    case .archive(.unsupported(nil)): "The ZIP archive is split, or larger than 4 GiB."
    case .archive(.unsupported(let entry?)):
      "\(DisplayText.quote(entry)) in the ZIP archive is encrypted, or compressed by an unsupported method. Pack it with zip."
    case .archive(.tooManyEntries(let limit)): "The ZIP archive has too many files for a firmware package. The limit is \(limit)."
    case .archive(.repeatedEntry(let name)):
      "The ZIP archive has two files named \(DisplayText.quote(name)), so it is not clear which one is meant."
    case .archive(.overlap(let name)): "The ZIP archive is invalid: \(DisplayText.quote(name)) overlaps with another file."
    case .archive(.entryTooLarge(let name, let limit)):
      "\(DisplayText.quote(name)) in the ZIP archive expands to more than \(Quantity.bytes(limit)), so blectl stopped reading it."
    case .archive(.data(let name)): "\(DisplayText.quote(name)) in the ZIP archive is damaged. \(Self.again)"
    case .archive(.checksum(let name)): "\(DisplayText.quote(name)) in the ZIP archive is damaged: wrong checksum. \(Self.again)"
    case .noManifest:
      "The ZIP archive is no firmware package: it has no manifest.json. If it contains one in a folder, pack the contents of that folder."
    case .manifestSyntax(let line, let reason): "Line \(line) of manifest.json is invalid: \(reason)."
    case .manifestMember(let member): "The package is invalid: manifest.json has no valid \"\(member)\"."
    case .manifestWithoutParts: "The package is empty: manifest.json names no firmware."
    case .legacyPackage: "The package is for Nordic's legacy DFU, which blectl does not support. Only packages for Secure DFU work."
    case .imagePackage(let files):
      "The package has MCUboot images of the nRF Connect SDK: \(files.prefix(8).map(DisplayText.quote).joined(separator: ", ")). "
        + "Unpack it, and use the images one by one."
    case .missingEntry(let part, let name):
      "The package is incomplete: \(DisplayText.quote(name)), which is the \(part.noun), is missing. \(Self.anew)"
    case .sharedEntry(let name):
      "The package is invalid: manifest.json uses \(DisplayText.quote(name)) twice. Give all files different names, and make the package again."
    case .emptyPart(let part): "The \(part.noun) in the package is empty. \(Self.anew)"
    case .initPacket(let part, let problem): "The init packet of the \(part.noun) \(Self.text(problem)). \(Self.anew)"
    case .partType(let part, let type): "The init packet of the \(part.noun) is for another type of firmware: \(type.text). \(Self.anew)"
    case .partSize(let part, let packet, let file):
      "The \(part.noun) in the package has \(Quantity.bytes(file)), but its init packet is for \(packet). \(Self.anew)"
    case .partHash(let part, let packet, let file):
      "The hash of the \(part.noun) in the package is \(Hex.encode(file)), but its init packet is for \(Hex.encode(packet)). \(Self.anew)"
    }
  }

  private static let again = "Copy or build it again."
  private static let anew = "Make the package again with nrfutil."

  private static func hex(_ address: UInt32) -> String { "0x" + Hex.encode(UInt64(address), bytes: 4) }

  private static func text(_ known: KnownFile?) -> String {
    let kinds = "an MCUboot image (.bin, .hex) or a package for Nordic Secure DFU (.zip)"
    return switch known {
    case .elf?, .uf2?:
      "The file is in the format \(known?.rawValue ?? ""), which no device takes over Bluetooth. Use the signed image of the same build."
    case .gzip?: "The file is compressed. Decompress it with gzip -d."
    case .text?: "The file is text, not firmware. Give \(kinds)."
    case nil: "The file is no firmware that blectl knows. Give \(kinds). An unsigned binary needs a header: sign it with imgtool."
    }
  }

  private static func text(_ problem: HexProblem) -> String {
    switch problem {
    case .syntax: "it is no record"
    case .length: "the record has the wrong length"
    case .checksum: "wrong checksum"
    case .unknownType(let type): "unknown record type \(type)"
    case .afterEnd: "it follows the end-of-file record"
    case .address: "the data cross the end of the address range"
    }
  }

  private static func text(_ problem: InitPacket.Failure) -> String {
    switch problem {
    case .malformed(let offset): "is malformed at byte \(offset)"
    case .noInitCommand: "has no init command"
    case .missingField(let field): "has no \(field)"
    case .hashType(let type): "has a hash of type \(type) instead of SHA-256"
    }
  }
}

extension FirmwarePart {
  /// The name in a sentence, such as `SoftDevice and bootloader`.
  package var noun: String {
    switch self {
    case .softdeviceBootloader: "SoftDevice and bootloader"
    case .softdevice: "SoftDevice"
    case .bootloader: "bootloader"
    case .application: "application"
    }
  }
}

extension InitPacket.FirmwareType {
  /// The name in snake case, or the number of an unknown type.
  var text: String {
    switch self {
    case .application: "application"
    case .softdevice: "softdevice"
    case .bootloader: "bootloader"
    case .softdeviceBootloader: "softdevice_bootloader"
    case .externalApplication: "external_application"
    case .unknown(let type): "\(type)"
    }
  }
}
