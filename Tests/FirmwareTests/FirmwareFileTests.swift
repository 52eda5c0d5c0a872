import BluetoothLECompression
import BluetoothLEFirmware
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct FirmwareFileTests {
  private func image(_ file: [UInt8]) throws -> ImageFile {
    guard case .image(let image) = try FirmwareFile.recognize(file).contents else { throw FirmwareFileError.notAnImage }
    return image
  }

  private func package(_ file: [UInt8]) throws -> DFUPackage {
    guard case .package(let package) = try FirmwareFile.recognize(file).contents else { throw FirmwareFileError.noManifest }
    return package
  }

  // MARK: Images

  @Test func anImageHasItsFacts() throws {
    let key = Fixture.tlv(0x01, [UInt8](repeating: 9, count: 32))
    let file = Fixture.image(flags: 0x1120, more: [key, Fixture.tlv(0x22, [1, 2, 3])], load: 0x2000_0000)
    let image = try image(file)
    #expect(image.version == ImageVersion("1.2.3.4"))
    #expect((image.headerSize, image.imageSize, image.protectedSize) == (32, 100, 27))
    #expect(image.loadAddress == 0x2000_0000)
    #expect(image.flags == [.ramLoad, .romFixed, .init(rawValue: 0x1000)])
    #expect(image.flags.names.map(\.name) == ["ram_load", "rom_fixed", nil])
    #expect(image.protectedTLVs.map(\.type) == [0x40, 0x1A0])
    #expect(image.protectedTLVs.map(\.name) == ["dependency", nil])
    #expect(image.tlvs.map(\.type) == [0x10, 0x01, 0x22])
    #expect(image.dependencies.map(\.image) == [1])
    #expect(image.dependencies.map(\.version.description) == ["1.2.3+4"])
    #expect(image.value(of: 0x01) == [UInt8](repeating: 9, count: 32))
    #expect(image.hash == SHA2.sha256.hash(Fixture.head(flags: 0x1120, load: 0x2000_0000)))
    #expect(image.runningHash == image.hash)
    #expect(image.signature == .ecdsaP256)
    #expect(!image.isPureSignature)
    #expect(image.padding == 0)
    #expect(Array(image.upload) == file)
    #expect(image.trailer == nil)
  }

  @Test(
    arguments: [
      ([] as [Int], nil), ([0x20], .rsa2048), ([0x21], .ecdsaP224), ([0x22], .ecdsaP256), ([0x23], .rsa3072), ([0x24], .ed25519),
      ([0x02, 0x24], .ed25519), ([0x25], nil), ([0x122], nil),
    ] as [([Int], ImageFile.Signature?)]) func signatures(_ types: [Int], _ signature: ImageFile.Signature?) throws
  {
    #expect(try image(Fixture.image(more: types.map { Fixture.tlv($0, [1]) })).signature == signature)
  }

  @Test func otherHashes() throws {
    let wide = try image(Fixture.image(hashes: [(0x11, .sha384)], more: [Fixture.tlv(0x22, [1])]))
    #expect(wide.signature == .ecdsaP384)
    #expect(wide.hash?.count == 48)
    let pure = try image(Fixture.image(hashes: [(0x12, .sha512)], more: [Fixture.tlv(0x25, [1]), Fixture.tlv(0x24, [1])]))
    #expect(pure.hash?.count == 64)
    #expect(pure.isPureSignature)
  }

  /// The hash of an encrypted image is that of the plain one. An image made with --clear has the flag, too, but is plain.
  @Test(arguments: [0x4, 0x8]) func encryptedImages(_ flag: Int) throws {
    let file = Fixture.image(flags: flag)
    #expect(try image(file).hashCheck == .matches)
    #expect(try image(file.flipping(40)).hashCheck == .encrypted)
  }

  @Test func compressedImagesRunWithAnotherHash() throws {
    let protected = Fixture.area(0x6908, [Fixture.tlv(0x71, [1, 2])])
    #expect(try image(Fixture.image(flags: 0x400, protected: protected)).runningHash == [1, 2])
    #expect(try image(Fixture.image(flags: 0x200, protected: protected)).runningHash == [1, 2])
    let plain = try image(Fixture.image(flags: 0x800, protected: protected))
    #expect(plain.runningHash == plain.hash)
    let lacking = try image(Fixture.image(flags: 0x400))
    #expect(lacking.runningHash == lacking.hash)
  }

  @Test(arguments: [8, 16, 32]) func paddingIsNoPartOfTheUpload(_ alignment: Int) throws {
    let plain = Fixture.image()
    for state in [UInt8(1), 0xFF] {
      let image = try image(Fixture.padded(plain, imageOK: state, alignment: alignment))
      #expect(Array(image.upload) == plain)
      #expect(image.padding == 2048 - plain.count)
      let trailer = try #require(image.trailer)
      #expect((trailer.alignment, trailer.imageOK, trailer.copyDone, trailer.swapInfo) == (alignment, state, 0xFF, 0xFF))
      #expect(trailer.swapSize == 0xFFFF_FFFF)
      #expect(trailer.isConfirmed == (state == 1))
    }
  }

  @Test func paddingMayBeNoTrailer() throws {
    let plain = Fixture.image()
    for padding in [1, 15, 16, 47, 100] { #expect(try image(plain + [UInt8](repeating: 0xFF, count: padding)).trailer == nil) }
    let padded = Fixture.padded(plain)
    #expect(try image(padded.flipping(2047)).trailer == nil)
    // The fields of a trailer must lie in the padding. An alignment that MCUboot does not have is none.
    for size in [47, 48] { #expect((try image(Fixture.padded(plain, to: plain.count + size)).trailer == nil) == (size < 48)) }
    #expect(try image(Fixture.padded(plain, alignment: 16).with([64, 0], at: 2032)).trailer == nil)
  }

  // MARK: Intel HEX

  @Test func hexFilesAreConverted() throws {
    let plain = Fixture.image()
    for address in [0, 0xC000, 0xFFF0, 0x0800_0000, 0xFFFF_F000] {
      for text in [
        Fixture.records(plain, at: address) + Fixture.hexEnd, "\n \n" + Fixture.records(plain, at: address).lowercased() + "\n:00000001ff",
        Fixture.records(plain, at: address).replacing("\n", with: "\r\n") + Fixture.record(5, 0, [0, 0, 0, 1]) + Fixture.hexEnd
          + "\r\n\r\n",
      ] {
        let file = try FirmwareFile.recognize(Array(text.utf8))
        #expect(file.isHex)
        guard case .image(let image) = file.contents else { throw FirmwareFileError.notAnImage }
        #expect(image.bytes == plain)
      }
    }
  }

  @Test func hexRecordsMayHaveAnyOrderAndGaps() throws {
    let code: [UInt8] = [0xFF, 0xFF]
    let plain = Fixture.image()
    // Segment addresses, the end first, and a gap of two bytes.
    var file = plain.with(code, at: 60)
    file.replaceSubrange((file.count - 32)..., with: SHA2.sha256.hash(file[..<Fixture.head().count]))
    let text =
      Fixture.record(2, 0, [0x0C, 0]) + Fixture.record(0, 62, Array(file[62...])) + Fixture.record(3, 0, [0, 0, 0, 0])
      + Fixture.record(0, 0, Array(file[..<60])) + Fixture.hexEnd
    #expect(try image(Array(text.utf8)).bytes == file)
    #expect(try IntelHex(Array(text.utf8)).segments.map(\.address) == [0xC000, 0xC03E])
  }

  @Test func hexMayHaveATrailerAndSettings() throws {
    let plain = Fixture.image()
    let padded = Fixture.padded(plain, to: 0x4000, imageOK: 1)
    let trailer = Fixture.records(Array(padded[0x3FE8...]), at: 0xC000 + 0x3FE8)
    // The settings of an nRF52 lie 256 MiB above.
    let text = Fixture.records(plain, at: 0xC000) + trailer + Fixture.records([1, 2], at: 0x1000_1014) + Fixture.hexEnd
    let image = try image(Array(text.utf8))
    #expect(image.bytes == padded)
    #expect(Array(image.upload) == plain)
    #expect(image.trailer?.isConfirmed == true)
  }

  // MARK: Packages

  @Test func aPackageHasItsFacts() throws {
    let package = try package(Fixture.package())
    let part = try #require(package.parts.first)
    #expect(package.parts.count == 1)
    #expect((part.kind, part.name) == (.application, "app.bin"))
    #expect(part.binary == Fixture.application)
    #expect(part.initPacketBytes == Fixture.packet(Fixture.initCommand(Fixture.application)))
    let packet = part.initPacket
    #expect((packet.type, packet.signature) == (.application, .ecdsaP256))
    #expect((packet.firmwareVersion, packet.hardwareVersion, packet.applicationSize) == (10203, 52, 500))
    #expect(packet.softdevices == [0x100, 0x123])
    #expect((packet.softdeviceSize, packet.bootloaderSize) == (nil, nil))
    #expect(packet.hash == SHA2.sha256.hash(Fixture.application))
    #expect(packet.bootValidations == [1])
    #expect(!packet.isDebug)
  }

  @Test func initPacketsHaveManyForms() throws {
    let command = Fixture.initCommand(Fixture.application)
    let unsigned = try InitPacket(Fixture.packet(command, isSigned: false))
    #expect(unsigned.signature == nil)
    // Unknown fields, also of fixed length, and a list that is not packed.
    let odd =
      command + Fixture.field(3, 0xCB) + Fixture.field(99, [1]) + Fixture.varint(98 << 3 | 1) + [UInt8](repeating: 1, count: 8)
      + Fixture.varint(97 << 3 | 5) + [1, 1, 1, 1] + Fixture.field(10, [])
    let packet = try InitPacket(Fixture.packet(odd))
    #expect(packet.softdevices == [0x100, 0x123, 0xCB])
    #expect(packet.bootValidations == [1, 0])
  }

  @Test func externalApplicationsStandUnderApplication() throws {
    let packet = Fixture.packet(Fixture.initCommand(Fixture.application, type: 4))
    #expect(try package(Fixture.package(packet: packet)).parts[0].initPacket.type == .externalApplication)
  }

  /// Whatever the order of the manifest: a device cannot take an application before its SoftDevice.
  @Test func partsHaveAFixedOrder() throws {
    let (app, bl, sd, both) = (
      Fixture.application, [UInt8](repeating: 1, count: 8), [UInt8](repeating: 2, count: 12), [UInt8](repeating: 3, count: 20)
    )
    let parts: [(key: String, binary: [UInt8], type: UInt64, sizes: [(UInt64, UInt64)])] = [
      ("application", app, 0, [(7, 500)]), ("bootloader", bl, 2, [(6, 8)]), ("softdevice", sd, 1, [(5, 12)]),
      ("softdevice_bootloader", both, 3, [(5, 12), (6, 8)]),
    ]
    let files = parts.flatMap { part in
      [
        Fixture.Entry(name: part.key + ".bin", contents: part.binary),
        .init(name: part.key + ".dat", contents: Fixture.packet(Fixture.initCommand(part.binary, type: part.type, sizes: part.sizes))),
      ]
    }
    for order in [parts, parts.reversed()] {
      let manifest = Fixture.manifest(order.map { ($0.key, $0.key + ".bin", $0.key + ".dat") })
      let package = try package(Fixture.zip([.init(name: "manifest.json", contents: manifest)] + files))
      #expect(package.parts.map(\.kind) == [.softdeviceBootloader, .softdevice, .bootloader, .application])
      #expect(package.parts.map(\.binary) == [both, sd, bl, app])
    }
    let wrong = Fixture.packet(Fixture.initCommand(both, type: 3, sizes: [(5, 12), (6, 9)]))
    let file = Fixture.zip([
      .init(name: "manifest.json", contents: Fixture.manifest([("softdevice_bootloader", "a", "b")])), .init(name: "a", contents: both),
      .init(name: "b", contents: wrong),
    ])
    #expect(throws: FirmwareFileError.partSize(.softdeviceBootloader, initPacket: 21, file: 20)) { try FirmwareFile.recognize(file) }
  }

  /// Names differ if their bytes differ, also where Unicode has them as equal. To find out takes seconds for a hostile name.
  @Test func namesInAnArchiveAreBytes() throws {
    let archive = try ZipArchive(Fixture.zip([.init(name: "\u{E9}", contents: [1]), .init(name: "e\u{301}", contents: [2])]))
    #expect(archive.entries.count == 2)
    #expect(try archive.entry(named: "e\u{301}").map { try archive.contents(of: $0, limit: 1) } == [2])
  }

  /// The files of a package share one limit, so that many of them do not expand to more than one may.
  @Test func theFilesOfAPackageShareALimit() throws {
    let archive = try ZipArchive(Fixture.package())
    #expect(throws: FirmwareFileError.archive(.entryTooLarge("app.dat", limit: 0))) {
      try DFUPackage(archive, limit: Fixture.application.count)
    }
  }

  @Test func archivesMayBeDeflatedAndHaveFoldersAndComments() throws {
    // "firmware " 20 times.
    let deflated = try #require(Hex.decode("4bcb2cca2d4f2c4a55481b3a0c00"))
    let text = Array(String(repeating: "firmware ", count: 20).utf8)
    let entries: [Fixture.Entry] = [
      .init(name: "folder/", contents: []), .init(name: "a", contents: text, deflated: deflated), .init(name: "b", contents: []),
    ]
    let archive = try ZipArchive(Fixture.zip(entries, comment: Array("PK\u{5}\u{6} and more of a comment".utf8)))
    #expect(archive.entries.map(\.name) == ["a", "b"])
    let entry = try #require(archive.entry(named: "a"))
    #expect(try archive.contents(of: entry, limit: 180) == text)
    #expect(throws: FirmwareFileError.archive(.entryTooLarge("a", limit: 179))) { try archive.contents(of: entry, limit: 179) }
    #expect(try archive.contents(of: try #require(archive.entry(named: "b")), limit: 0) == [])
  }

  /// The kind of a file is known from its beginning. A file that is none is not.
  @Test func firmwareIsDetected() throws {
    for file in [Fixture.image(), Fixture.package(), Array((Fixture.records([1], at: 0) + Fixture.hexEnd).utf8), Array("\n:0000".utf8)] {
      #expect(FirmwareFile.isFirmware(file) == (file.count > 7))
    }
    for file in [[], [0x50, 0x4B, 3, 4], Fixture.zip([.init(name: "btsnoop_hci.log", contents: [1])]), Array("0201060302f0ff".utf8)] {
      #expect(!FirmwareFile.isFirmware(file))
    }
  }

  /// No change of one byte, and no cut, makes a reader trap.
  @Test func mutationsNeverTrap() throws {
    var numbers = SplitMix64(seed: 7)
    let seeds = [
      Fixture.image(), Fixture.padded(Fixture.image(), to: 512), Fixture.package(),
      Array((Fixture.records(Fixture.image(), at: 0) + Fixture.hexEnd).utf8),
    ]
    for seed in seeds {
      for count in seed.indices { _ = try? FirmwareFile(reading: Array(seed[..<count])) }
      for _ in 0..<1000 {
        var file = seed
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
          file[Int.random(in: file.indices, using: &numbers)] =
            [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &numbers)].randomElement(using: &numbers) ?? 0
        }
        if case .image(let image)? = try? FirmwareFile(reading: file).contents { _ = (image.trailer, image.dependencies, image.signature) }
      }
    }
  }
}
