import BluetoothLECompression
import BluetoothLEFirmware
import Presentation
import TestSupport

/// The message for each reason to refuse a firmware file.
@Suite(.timeLimit(.minutes(15))) struct FirmwareFailureTests {
  private static let errors: [(FirmwareFileError, String)] = [
    (.empty, "The file is empty."), (.tooLarge(limit: 48 << 20), "The limit is 48 MiB."), (.unknownFormat(nil), "sign it with imgtool"),
    (.unknownFormat(.elf), "in the format ELF"), (.unknownFormat(.uf2), "in the format UF2"), (.unknownFormat(.gzip), "gzip -d"),
    (.unknownFormat(.text), "The file is text"),
    (.hexRecord(line: 7, .syntax), "Line 7 of the Intel HEX file is damaged: it is no record."),
    (.hexRecord(line: 7, .length), "the wrong length"), (.hexRecord(line: 7, .checksum), "wrong checksum"),
    (.hexRecord(line: 7, .unknownType(6)), "unknown record type 6"), (.hexRecord(line: 7, .afterEnd), "follows the end-of-file record"),
    (.hexRecord(line: 7, .address), "the address range"), (.hexEndsEarly, "incomplete"), (.hexWithoutData, "no data"),
    (.hexOverlap(address: 0xC000), "address 0x0000c000"), (.notAnImage, "zephyr.signed.hex"), (.bigEndianImage, "big-endian"),
    (.imageEndsEarly(needs: 136, has: 100), "it needs 136 bytes, but the file has 100."), (.imageHeaderSize(1), "has 1 byte, and"),
    (.tlvMagic(0x6908, at: 132), "0x6908 at byte 132"), (.tlvLength(at: 9), "at byte 9"),
    (.protectedSize(header: 26, area: 27), "26 bytes, but they have 27."), (.imageHashes(count: 0), "but has none."),
    (.imageHashes(count: 2), "but has 2."), (.imageHashLength(type: 0x11, 32), "32 bytes for type 0x0011"),
    (.imageHash(stored: [1], computed: [2]), "its hash is 02, but should be 01."), (.archive(.endsEarly), "incomplete"),
    (.archive(.malformed(at: 5)), "at byte 5"), (.archive(.unsupported(entry: nil)), "4 GiB"),
    (.archive(.unsupported(entry: "a")), "\"a\" in the ZIP archive"),
    (.archive(.tooManyEntries(limit: 256)), "256"), (.archive(.repeatedEntry("a")), "two files named \"a\""),
    (.archive(.overlap("a")), "overlaps"),
    (.archive(.entryTooLarge("a", limit: 10)), "more than 10 bytes"), (.archive(.data("a")), "\"a\""),
    (.archive(.checksum("a")), "wrong checksum"),
    (.noManifest, "manifest.json"), (.manifestSyntax(line: 2, reason: "Expected a value"), "Line 2 of manifest.json is invalid: Expected"),
    (.manifestMember("manifest.application"), "\"manifest.application\""), (.manifestWithoutParts, "names no firmware"),
    (.legacyPackage, "legacy DFU"), (.imagePackage(files: ["a.bin", "b.bin"]), "\"a.bin\", \"b.bin\""),
    (.missingEntry(.softdeviceBootloader, "a"), "\"a\", which is the SoftDevice and bootloader"), (.sharedEntry("a"), "\"a\" twice"),
    (.emptyPart(.application), "The application in the package is empty."),
    (.initPacket(.bootloader, .malformed(at: 3)), "The init packet of the bootloader is malformed at byte 3."),
    (.initPacket(.bootloader, .noInitCommand), "no init command"), (.initPacket(.bootloader, .missingField("hash")), "has no hash"),
    (.initPacket(.bootloader, .hashType(4)), "of type 4"), (.partType(.application, .softdevice), "another type of firmware: softdevice"),
    (.partType(.application, .unknown(9)), "firmware: 9"), (.partSize(.softdevice, initPacket: 500, file: 501), "501 bytes"),
    (.partHash(.application, initPacket: [1], file: [2]), "is 02, but its init packet is for 01."),
  ]

  @Test func everyErrorHasItsSentences() {
    for (error, mention) in Self.errors {
      let failure = Failure(error)
      #expect(failure.kind == .input)
      #expect(failure.message.contains(mention), "\(failure.message)")
      #expect(failure.message.hasSuffix(".") && !failure.message.contains("\n"), "\(failure.message)")
      // No sentence has more than 25 words.
      for sentence in failure.message.split(separator: ". ") { #expect(sentence.split(separator: " ").count <= 25, "\(sentence)") }
    }
    #expect(Set(Self.errors.map { Failure($0.0).message }).count == Self.errors.count)
  }

  /// Names come from files.
  @Test func namesAreEscaped() {
    let message = Failure(FirmwareFileError.archive(.data("\u{1B}[2J\u{202E}" + String(repeating: "a", count: 1000)))).message
    #expect(!message.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E } && message.utf8.count < 200, "\(message)")
  }
}
