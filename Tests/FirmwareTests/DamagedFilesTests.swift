import BluetoothLECompression
import BluetoothLEFirmware
import TestSupport

/// Damaged files, made from good ones. Each has one expected error.
@Suite(.timeLimit(.minutes(15))) struct DamagedFilesTests {
  private typealias Damage = (name: String, file: [UInt8], error: FirmwareFileError)

  @Test func everyDamageHasItsError() {
    let damages = Self.images + Self.hashes + Self.hexFiles + Self.archives + Self.packages + Self.initPackets
    #expect(damages.count >= 100)
    for damage in damages {
      #expect(throws: damage.error, "\(damage.name)") { try FirmwareFile.recognize(damage.file) }
    }
    #expect(Set(damages.map(\.file)).count == damages.count)
  }

  private static let good = Fixture.image()
  /// The offset of the TLVs that are not protected.
  private static let tlvs = Fixture.head().count

  // MARK: Images

  private static var images: [Damage] {
    var damages: [Damage] = [
      ("empty", [], .empty), ("zeros", [0, 0, 0, 0], .unknownFormat(nil)), ("text", Array("hello\n".utf8), .unknownFormat(.text)),
      ("ELF", [0x7F] + Array("ELF".utf8) + [1, 1, 1], .unknownFormat(.elf)),
      ("UF2", Array("UF2\n".utf8) + [0x57, 0x51], .unknownFormat(.uf2)),
      ("gzip", [0x1F, 0x8B, 8, 0], .unknownFormat(.gzip)), ("big-endian", [0x96, 0xF3, 0xB8, 0x3D] + good.dropFirst(4), .bigEndianImage),
      ("magic", good.flipping(0), .unknownFormat(nil)),
      ("header size 31", good.with([31, 0], at: 8), .imageHeaderSize(31)),
      ("header size 0", good.with([0, 0], at: 8), .imageHeaderSize(0)),
      ("image size", good.with([0xFF, 0xFF, 0xFF, 0xFF], at: 12), .imageEndsEarly(needs: 32 + 0xFFFF_FFFF + 4, has: good.count)),
      ("image size too small", good.with([99], at: 12), .tlvMagic(0x0800 | UInt16(Fixture.code[99]), at: 131)),
      ("protected size 0", good.with([0, 0], at: 10), .tlvMagic(0x6908, at: 132)),
      ("protected size too small", good.with([26], at: 10), .protectedSize(header: 26, area: 27)),
      ("protected magic", good.flipping(132), .tlvMagic(0x6909, at: 132)),
      ("magic of TLVs", good.flipping(tlvs), .tlvMagic(0x6906, at: tlvs)),
      ("area without its head", good.with([3, 0], at: tlvs + 2), .tlvLength(at: tlvs)),
      ("area beyond the file", good.with([0xFF, 0xFF], at: tlvs + 2), .imageEndsEarly(needs: tlvs + 0xFFFF, has: good.count)),
      ("area cuts a TLV", good.with([39], at: tlvs + 2), .tlvLength(at: tlvs + 4)),
      ("area cuts the head of a TLV", good.with([7], at: tlvs + 2), .tlvLength(at: tlvs + 4)),
      ("TLV beyond its area", good.with([33], at: tlvs + 6), .tlvLength(at: tlvs + 4)),
      ("TLV of the greatest length", good.with([0xFF, 0xFF], at: tlvs + 6), .tlvLength(at: tlvs + 4)),
      ("protected TLV beyond its area", good.with([0xFF], at: 138), .tlvLength(at: 136)),
      ("no hash", Fixture.image(hashes: []), .imageHashes(count: 0)),
      ("two hashes", Fixture.image(hashes: [(0x10, .sha256), (0x12, .sha512)]), .imageHashes(count: 2)),
      ("a hash of 16-bit type 0x0110", Fixture.image(hashes: [(0x110, .sha256)]), .imageHashes(count: 0)),
      ("a short hash", Fixture.head() + Fixture.area(0x6907, [Fixture.tlv(0x10, [1, 2])]), .imageHashLength(type: 0x10, 2)),
      ("SHA-256 as SHA-384", Fixture.image(hashes: [(0x11, .sha256)]), .imageHashLength(type: 0x11, 32)),
    ]
    // Cut at any place.
    for count in [4, 5, 31] { damages.append(("cut at \(count)", Array(good[..<count]), .imageEndsEarly(needs: 32, has: count))) }
    for count in [32, 60, 131] { damages.append(("cut at \(count)", Array(good[..<count]), .imageEndsEarly(needs: 136, has: count))) }
    damages.append(("cut in protected TLVs", Array(good[..<150]), .imageEndsEarly(needs: 159, has: 150)))
    damages.append(("cut before TLVs", Array(good[..<tlvs]), .imageEndsEarly(needs: tlvs + 4, has: tlvs)))
    damages.append(("cut by one byte", good.dropLast(), .imageEndsEarly(needs: good.count, has: good.count - 1)))
    return damages
  }

  /// A bit that flips in what is hashed, or in the hash.
  private static var hashes: [Damage] {
    var damages: [Damage] = []
    let stored = SHA2.sha256.hash(Fixture.head())
    // The load address, flags, version, code, and the values of protected TLVs.
    for offset in [4, 7, 16, 20, 21, 22, 24, 28, 31, 32, 77, 131, 140, 151, 156, 158] {
      let file = good.flipping(offset, bit: offset % 8 == 2 ? 0 : offset % 8)
      damages.append(("bit at \(offset)", file, .imageHash(stored: stored, computed: SHA2.sha256.hash(file[..<tlvs]))))
    }
    for index in [0, 31] {
      let file = good.flipping(tlvs + 8 + index)
      damages.append(("bit \(index) of the hash", file, .imageHash(stored: stored.flipping(index), computed: stored)))
    }
    for (type, function) in [(0x11, SHA2.sha384), (0x12, .sha512)] {
      let file = Fixture.image(hashes: [(type, function)]).flipping(40)
      let error = FirmwareFileError.imageHash(stored: function.hash(Fixture.head()), computed: function.hash(file[..<tlvs]))
      damages.append(("bit under \(function)", file, error))
    }
    let padded = Fixture.padded(good).flipping(50)
    damages.append(("bit in a padded image", padded, .imageHash(stored: stored, computed: SHA2.sha256.hash(padded[..<tlvs]))))
    return damages
  }

  // MARK: Intel HEX

  private static var hexFiles: [Damage] {
    let (body, end) = (Fixture.records(good, at: 0xC000), Fixture.hexEnd)
    let whole = Array((body + end).utf8)
    func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    return [
      ("no end", text(body), .hexEndsEarly), ("cut in a line", Array(whole[..<101]), .hexRecord(line: 3, .length)),
      ("cut in the last line", whole.dropLast(3), .hexRecord(line: body.utf8.count { $0 == 0x0A } + 1, .syntax)),
      ("digit", whole.with(text("0"), at: 27).with(text("0"), at: 28), .hexRecord(line: 2, .checksum)),
      ("checksum", whole.with(text("00"), at: 13), .hexRecord(line: 1, .checksum)),
      ("no digit", whole.with(text("G"), at: 30), .hexRecord(line: 2, .syntax)),
      ("no colon", text(Fixture.record(0, 0, [1])) + text("10\n") + text(end), .hexRecord(line: 2, .syntax)),
      ("odd digits", text(Fixture.record(0, 0, [1])) + text(":00000001F\n"), .hexRecord(line: 2, .syntax)),
      ("a short line", text(":00000001\n"), .hexRecord(line: 1, .syntax)),
      ("a long line", text(":" + String(repeating: "00", count: 300) + "\n" + end), .hexRecord(line: 1, .syntax)),
      ("count too great", text(":02000000" + "01FD\n" + end), .hexRecord(line: 1, .length)),
      ("count too small", text(":00000000" + "0100\n" + end), .hexRecord(line: 1, .length)),
      ("type 6", text(Fixture.record(6, 0, [1]) + end), .hexRecord(line: 1, .unknownType(6))),
      ("data after the end", whole + text(Fixture.record(0, 0, [1])), .hexRecord(line: body.utf8.count { $0 == 0x0A } + 2, .afterEnd)),
      ("end with data", text(Fixture.record(1, 0, [1])), .hexRecord(line: 1, .length)),
      ("address of one byte", text(Fixture.record(4, 0, [1]) + end), .hexRecord(line: 1, .length)),
      ("start address of two bytes", text(Fixture.record(5, 0, [1, 2]) + end), .hexRecord(line: 1, .length)),
      ("beyond 4 GiB", text(Fixture.record(4, 0, [0xFF, 0xFF]) + Fixture.record(0, 0xFFFF, [1, 2]) + end), .hexRecord(line: 2, .address)),
      (
        "beyond a segment", text(Fixture.record(2, 0, [0x10, 0]) + Fixture.record(0, 0xFFFF, [1, 2]) + end), .hexRecord(line: 2, .address)
      ),
      ("no data", text(end), .hexWithoutData), ("only addresses", text(Fixture.record(4, 0, [0, 1]) + end), .hexWithoutData),
      ("twice", text(body + body + end), .hexOverlap(address: 0xC000)),
      ("overlap by one", text(Fixture.record(0, 0, [1, 2]) + Fixture.record(0, 1, [3]) + end), .hexOverlap(address: 1)),
      ("no image", text(Fixture.record(0, 0, [1, 2]) + end), .notAnImage),
      ("code before the image", text(Fixture.record(0, 0, [1, 2]) + body + end), .notAnImage),
      ("a hole", text(Fixture.records(Array(good[..<64]), at: 0) + end), .imageEndsEarly(needs: 136, has: 64)),
    ]
  }

  // MARK: Archives

  private static var archives: [Damage] {
    let app = Fixture.package()
    let end = app.count - 22
    let directory = Int(app[end + 16]) | Int(app[end + 17]) << 8
    func one(_ entry: Fixture.Entry) -> [UInt8] { Fixture.zip([entry]) }
    func manifest(_ change: (inout Fixture.Entry) -> Void) -> [UInt8] {
      var entry = Fixture.Entry(name: "manifest.json", contents: Array("{}".utf8))
      change(&entry)
      return one(entry)
    }
    // 100,000 zeros.
    let bomb = (Hex.decode("edc13101000000c2a0f54f6d0d0fa0") ?? []) + [UInt8](repeating: 0, count: 96) + [0x80, 0x57, 0x03]
    var damages: [Damage] = [
      ("only an end", [0x50, 0x4B, 5, 6, 0x9C], .archive(.endsEarly)), ("zip without entries", Fixture.zip([]), .noManifest),
      ("zip without a manifest", one(.init(name: "a", contents: [1])), .noManifest),
      ("manifest in a folder", one(.init(name: "fw/manifest.json", contents: [1])), .noManifest),
      ("cut directory", app.dropLast(23) + app.suffix(22), .archive(.malformed(at: end - 1))),
      ("trailing bytes", app + [0], .archive(.endsEarly)),
      ("cut comment", Fixture.zip([], comment: [1, 2]).dropLast(), .archive(.endsEarly)),
      ("split archive", app.with([1, 0], at: end + 4), .archive(.unsupported(entry: nil))),
      ("ZIP64", app.with([0xFF, 0xFF, 0xFF, 0xFF], at: end + 16), .archive(.unsupported(entry: nil))),
      ("too few in the directory", app.with([2, 0, 2, 0], at: end + 8), .archive(.malformed(at: app.count - 22 - 46 - 13))),
      ("too many in the directory", app.with([4, 0, 4, 0], at: end + 8), .archive(.malformed(at: end))),
      ("counts differ", app.with([2], at: end + 8), .archive(.malformed(at: end))),
      ("directory elsewhere", app.flipping(end + 16), .archive(.malformed(at: end))),
      ("signature of an entry", app.flipping(directory), .archive(.malformed(at: directory))),
      ("signature of a local header", app.flipping(0), .unknownFormat(nil)),
      ("local header beyond the data", app.with([0xFF, 0xFF], at: directory + 42), .archive(.malformed(at: directory))),
      ("data beyond the directory", app.with([0xFF, 0xFF], at: directory + 20), .archive(.malformed(at: 0))),
      ("length of a stored entry", app.flipping(directory + 24), .archive(.malformed(at: 0))),
      ("name beyond the directory", app.with([0xFF, 0xFF], at: directory + 28), .archive(.malformed(at: directory))),
      ("other local name", manifest { $0.localName = "manifest.jsom" }, .archive(.malformed(at: 0))),
      ("encrypted", manifest { $0.flags = 1 }, .archive(.unsupported(entry: "manifest.json"))),
      ("bzip2", manifest { $0.method = 12 }, .archive(.unsupported(entry: "manifest.json"))),
      ("checksum", manifest { $0.checksum = 1 }, .archive(.checksum("manifest.json"))),
      (
        "declared too small", manifest { ($0.deflated, $0.contents, $0.size) = (bomb, [], 10) },
        .archive(.entryTooLarge("manifest.json", limit: 10))
      ),
      (
        "declared too great", manifest { ($0.deflated, $0.size) = ([1, 2, 0, 0xFD, 0xFF, 0x7B, 0x7D], 3) }, .archive(.data("manifest.json"))
      ),
      ("bomb", manifest { ($0.deflated, $0.size) = (bomb, 2 << 20) }, .archive(.entryTooLarge("manifest.json", limit: 1 << 20))),
      ("blocks without contents", manifest { $0.deflated = [UInt8](repeating: 0, count: 2000) }, .archive(.data("manifest.json"))),
      ("cut DEFLATE data", manifest { $0.deflated = [1, 2, 0, 0xFD, 0xFF, 0x7B] }, .archive(.data("manifest.json"))),
      ("bytes after DEFLATE data", manifest { $0.deflated = [1, 2, 0, 0xFD, 0xFF, 0x7B, 0x7D, 0] }, .archive(.data("manifest.json"))),
      ("DEFLATE block type", manifest { $0.deflated = [7] }, .archive(.data("manifest.json"))),
      ("same name twice", Fixture.package(more: [.init(name: "app.bin", contents: [1])]), .archive(.repeatedEntry("app.bin"))),
      (
        "too many entries", Fixture.zip((0..<257).map { .init(name: "\($0)", contents: []) }), .archive(.tooManyEntries(limit: 256))
      ),
      // The second entry refers to the first local header.
      ("overlap", overlapping, .archive(.overlap("a"))),
    ]
    for count in [5, app.count / 2, end, app.count - 1] {
      damages.append(("zip cut at \(count)", Array(app[..<count]), .archive(.endsEarly)))
    }
    return damages
  }

  /// An archive whose second entry lies in the data of the first one.
  private static var overlapping: [UInt8] {
    let inner = Fixture.zip([.init(name: "a", contents: [1, 2, 3])])
    let outer = Fixture.zip([.init(name: "b", contents: inner), .init(name: "a", contents: [1, 2, 3])])
    // The local header of the inner archive begins after that of `b`.
    let directory = outer.count - 22 - 2 * 47
    return outer.with([31, 0], at: directory + 47 + 42)
  }

  // MARK: Nordic packages

  private static var packages: [Damage] {
    func manifest(_ text: String) -> [UInt8] { Fixture.package(manifest: Array(text.utf8)) }
    let app = "{\"bin_file\": \"app.bin\", \"dat_file\": \"app.dat\"}"
    let binary = Fixture.application
    let other = binary.flipping(17, bit: 3)
    let hash = SHA2.sha256.hash(binary)
    return [
      ("manifest is no JSON", manifest("{\n{"), .manifestSyntax(line: 2, reason: "Expected a key in double quotes, found \"{\"")),
      ("no manifest in it", manifest("{}"), .manifestMember("manifest")),
      ("manifest is a list", manifest("{\"manifest\": []}"), .manifestMember("manifest")),
      ("manifest is a number", manifest("1"), .manifestMember("manifest")),
      ("no parts", manifest("{\"manifest\": {}}"), .manifestWithoutParts),
      ("unknown part", manifest("{\"manifest\": {\"modem\": \(app)}}"), .manifestWithoutParts),
      ("no binary", manifest("{\"manifest\": {\"application\": {}}}"), .manifestMember("manifest.application.bin_file")),
      ("part is a text", manifest("{\"manifest\": {\"bootloader\": \"a\"}}"), .manifestMember("manifest.bootloader.bin_file")),
      (
        "empty name", manifest("{\"manifest\": {\"application\": {\"bin_file\": \"app.bin\", \"dat_file\": \"\"}}}"),
        .manifestMember("manifest.application.dat_file")
      ),
      ("legacy", manifest("{\"manifest\": {\"application\": \(app), \"dfu_version\": 0.5}}"), .legacyPackage),
      (
        "legacy without a version",
        manifest("{\"manifest\": {\"application\": {\"bin_file\": \"app.bin\", \"dat_file\": \"app.dat\", \"init_packet_data\": {}}}}"),
        .legacyPackage
      ),
      (
        "nRF Connect SDK", manifest("{\"format-version\": 0, \"files\": [{\"file\": \"app_update.bin\"}, {\"file\": \"net.bin\"}]}"),
        .imagePackage(files: ["app_update.bin", "net.bin"])
      ),
      (
        "missing binary", Fixture.package(manifest: Fixture.manifest([("application", "firmware.bin", "app.dat")])),
        .missingEntry(.application, "firmware.bin")
      ),
      (
        "missing init packet", Fixture.package(manifest: Fixture.manifest([("application", "app.bin", "../app.dat")])),
        .missingEntry(.application, "../app.dat")
      ),
      ("one file for both", Fixture.package(manifest: Fixture.manifest([("application", "app.bin", "app.bin")])), .sharedEntry("app.bin")),
      (
        "one file for two parts",
        Fixture.package(manifest: Fixture.manifest([("application", "app.bin", "app.dat"), ("softdevice", "app.bin", "sd.dat")])),
        .sharedEntry("app.bin")
      ),
      ("empty binary", Fixture.package(binary: []), .emptyPart(.application)),
      (
        "another binary", Fixture.package(binary: other, packet: Fixture.packet(Fixture.initCommand(binary))),
        .partHash(.application, initPacket: hash, file: SHA2.sha256.hash(other))
      ),
      (
        "a longer binary", Fixture.package(binary: binary + [0], packet: Fixture.packet(Fixture.initCommand(binary))),
        .partSize(.application, initPacket: 500, file: 501)
      ),
      (
        "hash not reversed", Fixture.package(packet: Fixture.packet(Fixture.initCommand(binary, hash: hash))),
        .partHash(.application, initPacket: hash.reversed(), file: hash)
      ),
      (
        "init packet of a SoftDevice", Fixture.package(packet: Fixture.packet(Fixture.initCommand(binary, type: 1, sizes: [(5, 500)]))),
        .partType(.application, .softdevice)
      ),
      ("unknown type", Fixture.package(packet: Fixture.packet(Fixture.initCommand(binary, type: 9))), .partType(.application, .unknown(9))),
      (
        "application as bootloader", Fixture.package(manifest: Fixture.manifest([("bootloader", "app.bin", "app.dat")])),
        .partType(.bootloader, .application)
      ),
      (
        "no size", Fixture.package(packet: Fixture.packet(Fixture.initCommand(binary, sizes: []))),
        .initPacket(.application, .missingField("size"))
      ),
    ]
  }

  private static var initPackets: [Damage] {
    let command = Fixture.initCommand(Fixture.application)
    let packet = Fixture.packet(command)
    func damage(_ name: String, _ packet: [UInt8], _ problem: InitPacket.Failure) -> Damage {
      (name, Fixture.package(packet: packet), .initPacket(.application, problem))
    }
    return [
      damage("no packet", [], .noInitCommand),
      damage("legacy init packet", Hex.decode("5200ffffffffffff0100feffcf10") ?? [], .malformed(at: 2)),
      damage("cut packet", packet.dropLast(), .malformed(at: 3)), damage("group", [0x0B, 0x0C], .malformed(at: 0)),
      damage("field 0", [0x00, 0x00], .malformed(at: 0)), damage("endless number", [UInt8](repeating: 0xFF, count: 11), .malformed(at: 0)),
      damage("number without an end", [0x08, 0x80], .malformed(at: 1)),
      damage("signed and unsigned", packet + Fixture.packet(command, isSigned: false), .malformed(at: 3)),
      damage("signed twice", packet + packet, .malformed(at: 0)),
      damage("reset command", Fixture.field(1, Fixture.field(1, 0) + Fixture.field(3, Fixture.field(1, 5))), .noInitCommand),
      damage("command is a number", Fixture.field(1, 7), .malformed(at: 0)),
      damage("no signature", Fixture.field(2, Fixture.field(1, Fixture.field(2, command))), .missingField("signature")),
      damage("no type", Fixture.packet(Fixture.field(1, 1)), .missingField("type")),
      damage("no hash", Fixture.packet(Fixture.field(4, 0)), .missingField("hash")),
      damage("SHA-512", Fixture.packet(Fixture.initCommand(Fixture.application, hashType: 4)), .hashType(4)),
      damage("a short hash", Fixture.packet(Fixture.initCommand(Fixture.application, hash: [1, 2, 3])), .hashType(3)),
      damage("type of 33 bits", Fixture.packet(Fixture.field(4, 1 << 32), isSigned: false), .malformed(at: 6)),
      damage("type twice", Fixture.packet(Fixture.field(4, 0) + Fixture.field(4, 1), isSigned: false), .malformed(at: 6)),
    ]
  }
}
