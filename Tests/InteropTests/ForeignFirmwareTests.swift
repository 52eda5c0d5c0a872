import Foundation
import TestSupport

/// Compares what `decode firmware` shows of images of all kinds with what imgtool, which made them, says of them.
@Suite(.timeLimit(.minutes(15))) struct ForeignFirmwareTests {
  @Test func everyImageSaysWhatItSaysToImgtool() throws {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("firmware_images.py").path
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let made = try RunningProcess.run([python, script, folder.path])
    try #require(made.status == 0, "\(made.errors)")
    let images = try made.records
    #expect(images.count >= 60)
    var (signatures, checks): (Set<String>, Set<String>) = ([], [])
    for image in images {
      let (file, arguments) = (try #require(image.string("file")), image.string("arguments") ?? "")
      let result = try Blectl.run(["decode", "firmware", file, "--json"])
      try #require(result.status == 0, "\(arguments): \(result.errors)")
      try compare(try #require(try result.records.first), try #require(image["dump"]), arguments)
      let ours = try result.records[0]
      signatures.insert(ours.string("signature") ?? "none")
      checks.insert(ours.string("hash_check") ?? "")
      // The flag of encryption does not say that the image is encrypted.
      let isEncrypted = arguments.contains("-E") && !arguments.contains("--clear")
      #expect(ours.string("hash_check") == (isEncrypted ? "encrypted" : "matches"), "\(arguments)")
      #expect(ours.string("encoding") == (file.hasSuffix(".hex") ? "intel_hex" : "binary"))
      #expect(ours.string("format") == "mcuboot")
    }
    #expect(signatures == ["none", "rsa_2048", "rsa_3072", "ecdsa_p256", "ecdsa_p384", "ed25519"])
    #expect(checks == ["matches", "encrypted"])
  }

  private func compare(_ ours: Record, _ theirs: Record, _ arguments: String) throws {
    let header = try #require(theirs["header"])
    for (our, their) in [
      ("load_address", "load_addr"), ("header_size", "hdr_size"), ("protected_size", "protected_tlv_size"), ("image_size", "img_size"),
      ("flags", "flags"),
    ] { #expect(ours.int(our) == header.int(their), "\(arguments): \(our)") }
    // imgtool also writes a build number of 0.
    let version = try #require(header.string("version"))
    #expect(ours.string("version") == (version.hasSuffix("+0") ? String(version.dropLast(2)) : version), "\(arguments)")
    for (our, their) in [("protected_tlvs", "tlvs_prot"), ("tlvs", "tlvs")] {
      let area = (theirs["tlv_area"]?.records(their) ?? []).map { "\($0.int("type") ?? -1) \($0.string("data") ?? "")" }
      #expect(ours.records(our).map { "\($0.int("type") ?? -1) \($0.string("value") ?? "")" } == area, "\(arguments): \(our)")
    }
    let hashes = (theirs["tlv_area"]?.records("tlvs") ?? []).filter { ["SHA256", "SHA384", "SHA512"].contains($0.string("type_name")) }
    #expect([ours.string("hash")] == hashes.map { $0.string("data") }, "\(arguments)")
    let trailer = try #require(theirs["trailer"])
    for key in ["image_ok", "copy_done", "swap_info", "swap_size"] {
      #expect(ours["trailer"]?.int(key) == trailer.int(key), "\(arguments): \(key)")
    }
  }
}
