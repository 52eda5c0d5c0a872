import BluetoothLE
import BluetoothLECompression
import BluetoothLEText
import TestSupport

@testable import BluetoothLEFirmware

extension FuzzTarget {
  /// CBOR as MCUmgr servers send it, and its rewritten form.
  static let cbor = FuzzTarget("cbor", seeds: messages, words: ["\u{7F}", "data", "off"]) { bytes in
    guard let value = try? CBOR(decoding: bytes) else { return }
    let again = value.encoded
    expect(again.count <= 9 * bytes.count, "a value grows to \(again.count) bytes")
    // NaN does not equal itself.
    expect((try? CBOR(decoding: again))?.encoded == again, "our own CBOR is another value")
    _ = (value["off"]?.integer, value["data"]?.bytes, value["rc"]?.bool, value["images"]?.array, value["r"]?.text)
  }

  /// MCUboot images.
  static let firmwareImage = FuzzTarget("image", seeds: [plainImage, paddedImage]) { bytes in
    guard let image = try? ImageFile(bytes) else { return }
    expect(image.end + image.padding == bytes.count, "padding")
    expect(image.tlvs.reduce(image.protectedSize + 4) { $0 + 4 + $1.value.count } + image.headerSize + image.imageSize == image.end, "end")
    _ = (
      image.trailer, image.dependencies, image.signature, image.runningHash, image.flags.names, image.upload.count, try? image.validate()
    )
  }

  /// Intel HEX files.
  static let hexFile = FuzzTarget("hex", seeds: [records], words: [":00000001FF\n", ":02000004", ":02000002"]) { bytes in
    guard let hex = try? IntelHex(bytes) else { return }
    for (one, other) in zip(hex.segments, hex.segments.dropFirst()) {
      expect(Int(one.address) + one.bytes.count < Int(other.address), "segments touch")
    }
    expect(hex.binary(limit: 1 << 16).count <= 1 << 16, "too long")
    expect(
      hex.binary(limit: 1 << 16).starts(with: hex.segments[0].bytes.prefix(1)) || hex.segments[0].bytes.count > 1 << 16, "another start")
  }

  /// ZIP archives, and all their entries.
  static let zipArchive = FuzzTarget("zip", seeds: archives, words: ["PK\u{1}\u{2}", "PK\u{5}\u{6}"]) { bytes in
    guard let archive = try? ZipArchive(bytes) else { return }
    for entry in archive.entries {
      guard let contents = try? archive.contents(of: entry, limit: 1 << 16) else { continue }
      expect(contents.count == entry.size && entry.size <= 1 << 16, "another length")
    }
  }

  /// Manifests of packages.
  static let manifest = FuzzTarget("manifest", seeds: manifests, words: ["softdevice", "_bootloader", "bin_file", "dfu_version"]) { bytes in
    guard let manifest = try? DFUManifest(bytes) else { return }
    let names = manifest.parts.flatMap { [$0.binary, $0.initPacket] }
    expect(!names.isEmpty && Set(names).count == names.count, "a file for two purposes")
  }

  /// Init packets.
  static let initPacket = FuzzTarget("initpacket", seeds: [signedPacket]) { bytes in
    guard let packet = try? InitPacket(bytes) else { return }
    expect(packet.hash.count == 32, "hash")
    _ = packet.size
  }

  /// Answers of a bootloader, and the objects that it gets next. The first bytes choose the request, the image and its length.
  static let dfu = FuzzTarget("dfu", seeds: dfuAnswers) { bytes in
    var tape = Tape(bytes)
    let (how, image) = (tape.byte(), [UInt8](repeating: tape.byte(), count: Int(tape.number16() & 0x7FF)))
    let operations: [DFUOperation] = [.select, .select, .select, .select, .crc, .create, .execute, .setPRN]
    guard var state = try? DFUObjectState(answer: Array(tape.rest), to: operations[Int(how & 7)]) else { return }
    if how & 8 != 0 {
      // The right CRC, which nobody finds by chance.
      var crc = CRC32()
      crc.add(image.prefix(state.offset))
      state.crc = crc.value
    }
    var plan = DFUObjectPlan(image, state, resumes: how & 16 == 0)
    expect(plan.offset == (plan.isCreated ? state.offset : plan.object.lowerBound), "another offset")
    expect(plan.object.lowerBound.isMultiple(of: state.maximum), "no beginning of an object")
    for _ in 0...image.count {
      expect(plan.object.count <= state.maximum && plan.object.upperBound <= image.count, "a long object")
      expect((plan.object.lowerBound...plan.object.upperBound).contains(plan.offset), "an offset outside of the object")
      if plan.isLast { return }
      let end = plan.object.upperBound
      plan.advance()
      expect(plan.object.lowerBound == end && plan.offset == end && !plan.isCreated && !plan.isComplete, "a gap")
    }
    expect(false, "no last object")
  }

  // MARK: Seeds

  private static let plainImage =
    Hex.decode(
      "3db8f396000000002000100004000000000000000102030004000000000000000102030408691000400c00000000000000000000000000000769280010002000"
        + String(repeating: "00", count: 32)) ?? []
  private static let paddedImage =
    plainImage + [UInt8](repeating: 0xFF, count: 40) + (Hex.decode("77c295f360d2ef7f3552500f2cb67980") ?? [])
  private static let messages = [
    "a6636c656e1a00030d40636f6666006373686144010203046464617461446162636465696d616765006775706772616465f4",
    "bf66696d616765739fbf64736c6f7400647369676ef96e00ffffff", "a16372630c", "fb3ff199999999999a", "5f4101420203ff",
  ].compactMap { Hex.decode($0) }
  private static let records = Array(
    ":020000040800F2\n:10010000214601360121470136007EFE09D2190140\n:020000021000EC\n:02010000AB0151\n:00000001FF\n".utf8)
  private static let manifests = [
    "{\"manifest\":{\"application\":{\"bin_file\":\"a.bin\",\"dat_file\":\"a.dat\"}}}",
    "{\"format-version\":0,\"files\":[{\"file\":\"a.bin\"}]}",
  ].map { Array($0.utf8) }
  private static let archives = [
    PackedFiles.zip([("manifest.json", manifests[0]), ("a.dat", signedPacket), ("a.bin", [1, 2, 3, 4])]),
    PackedFiles.zip([("a", [1, 2, 3]), ("b", [])]),
  ]
  private static let signedPacket =
    Hex.decode(
      "1239" + "0a33" + "0801" + "122f" + "0801" + "1034" + "1a018d" + "2000" + "3808" + "4224" + "08031220"
        + String(repeating: "ab", count: 32) + "1000" + "1a0107")
    ?? []
  private static let dfuAnswers = [
    "0807e803600601000100001401000012345678", "0407e803600301000100008fa1b2c3", "0507e803600101", "0607e80360040b0c",
  ]
  .compactMap { Hex.decode($0) }
}
