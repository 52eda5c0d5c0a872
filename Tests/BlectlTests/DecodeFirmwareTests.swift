import Foundation
import TestSupport

/// `decode firmware` from a shell. image.bin is from imgtool 2.5.0, dfu.zip from nrfutil 6.1.7.
@Suite(.timeLimit(.minutes(15))) struct DecodeFirmwareTests {
  private func bytes(_ file: String) throws -> [UInt8] { Array(try Vectors.own(file)) }

  @Test func anImage() throws {
    let result = try Blectl.run("decode", "firmware", Vectors.path("image.bin"))
    #expect(result.status == 0, "\(result.errors)")
    for mention in [
      "MCUboot image 1.2.3+4\n", "header 32, code 100, metadata ", "Hash       SHA-256 ", " (correct)\n", "Signature  Ed25519\n",
      "Key        hash ",
      "Needs      image 1, version 1.0.0 or later\n", " bytes with a trailer (confirmed). Updates leave it out.\n",
      "0x0040  dependency (protected)  12     010000000100000000000000\n", "0xbeef  custom (protected)      3      656e64\n",
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
    let record = try #require(try Blectl.run("decode", "firmware", Vectors.path("image.bin"), "--json").records.first)
    #expect(record.string("event") == "firmware" && record.string("format") == "mcuboot" && record.string("encoding") == "binary")
    #expect(record.string("hash_check") == "matches" && record.string("hash_type") == "sha256" && record.string("hash")?.utf8.count == 64)
    #expect(record.string("running_hash") == record.string("hash") && record.string("signature") == "ed25519")
    #expect(record.isNull("public_key") && record.string("key_hash")?.utf8.count == 64 && record.bool("compressed") == false)
    #expect(record.records("dependencies").map { $0.string("version") } == ["1.0.0"])
    #expect(record.records("protected_tlvs").map { $0.int("type") } == [0x40, 0xBEEF])
    #expect(record["trailer"]?.int("image_ok") == 1 && record["trailer"]?.int("copy_done") == 255)
    #expect((record.int("size") ?? 0) + (record.int("padding") ?? 0) == 1024)
  }

  @Test func aPackage() throws {
    let result = try Blectl.run("decode", "firmware", Vectors.path("dfu.zip"))
    #expect(result.status == 0, "\(result.errors)")
    for mention in [
      "Nordic Secure DFU package\nsd_bl.bin: SoftDevice and bootloader, 120 bytes\n  Version    4\n  Hardware   52\n",
      "Needs      SoftDevice 0x100 or 0x123 or 0xcb\n", "app.bin: application, 64 bytes\n  Version    10203\n",
      " (correct)\n  Signature  ECDSA P-256\n",
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
    let record = try #require(try Blectl.run("decode", "firmware", Vectors.path("dfu.zip"), "--json").records.first)
    #expect(record.string("format") == "nordic_dfu")
    let parts = record.records("parts")
    #expect(parts.map { $0.string("part") } == ["softdevice_bootloader", "application"])
    #expect(parts.map { $0.int("size") } == [120, 64] && parts.map { $0.bool("valid") } == [true, true])
    #expect(parts[0].int("softdevice_size") == 80 && parts[0].int("bootloader_size") == 40 && parts[1].int("application_size") == 64)
    #expect(parts[1].string("signature") == "ecdsa_p256" && parts[1].int("firmware_version") == 10203)
  }

  /// Without a kind, the contents decide. A ZIP archive with a capture is none.
  @Test func theKindIsDetected() throws {
    for file in ["image.bin", "dfu.zip"] {
      let result = try Blectl.run("decode", Vectors.path(file))
      #expect(result.status == 0 && result.errors.contains("as firmware."), "\(result.errors)")
      let piped = try Blectl.run(["decode", "-"], input: try bytes(file))
      #expect(piped.status == 0 && piped.text == result.text, "\(piped.errors)")
    }
    let hex = ":0400000001020304F2\n:00000001FF\n"
    let text = try Blectl.run(["decode", "-"], input: Array(hex.utf8))
    #expect(text.status == 66 && text.errors.contains("The file does not begin with an MCUboot image."), "\(text.errors)")
    let named = try Blectl.run("decode", "mcuboot", Vectors.path("image.bin"))
    #expect(named.status == 64 && named.errors.contains("Did you mean firmware?"), "\(named.errors)")
  }

  /// What can be read is shown. What cannot is one sentence, and nothing else.
  @Test func damagedFiles() throws {
    var image = try bytes("image.bin")
    image[40] ^= 1
    let wrong = try Blectl.run(["decode", "firmware", "-"], input: image)
    #expect(
      wrong.status == 5 && wrong.text.contains(" (wrong)\n") && wrong.errors.contains("The image is damaged: its hash is "),
      "\(wrong.errors)")
    let record = try Blectl.run(["decode", "firmware", "-", "--json"], input: image)
    #expect(record.status == 5 && record.text.contains("\"hash_check\":\"differs\""))
    #expect(record.errors.hasPrefix("{\"error\":{\"kind\":\"protocol\""), "\(record.errors)")
    for (file, sentence) in [
      ([], "The file is empty."), (Array(image.prefix(100)), "The image is incomplete: it needs 136 bytes, but the file has 100."),
      (Array(try bytes("dfu.zip").dropLast(30)), "The ZIP archive is incomplete: its directory is missing."),
      (Array("hello".utf8), "The file is text, not firmware."),
    ] as [([UInt8], String)] {
      let result = try Blectl.run(["decode", "firmware", "-"], input: file)
      #expect(result.status == 66 && result.text.isEmpty && result.errors.contains(sentence), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }
    let missing = try Blectl.run("decode", "firmware", "/nonexistent.bin")
    #expect(missing.status == 66, "\(missing.errors)")
    let two = try Blectl.run("decode", "firmware", "a", "b")
    #expect(two.status == 64 && two.errors.contains("decode firmware takes one file"), "\(two.errors)")
  }
}
