import BluetoothLEFirmware
import TestSupport

/// Files that the tests make from nothing, and that they damage.
enum Fixture {
  static let code = (0..<100).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }

  static func little(_ number: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  // MARK: Images

  static func tlv(_ type: Int, _ value: [UInt8]) -> [UInt8] { little(type, 2) + little(value.count, 2) + value }

  static func area(_ magic: Int, _ tlvs: [[UInt8]]) -> [UInt8] {
    let body = tlvs.flatMap(\.self)
    return little(magic, 2) + little(body.count + 4, 2) + body
  }

  /// The 12 bytes of a dependency on image 1, version 1.2.3+4.
  static let dependency = little(1, 4) + [1, 2, 3, 0] + little(4, 4)
  static let protected = area(0x6908, [tlv(0x40, dependency), tlv(0x1A0, Array("xyz".utf8))])

  /// The header (32 bytes), the code (100 bytes) and the protected TLVs (31 bytes) of an image.
  static func head(flags: Int = 0, protected: [UInt8] = protected, load: Int = 0) -> [UInt8] {
    little(0x96F3_B83D, 4) + little(load, 4) + little(32, 2) + little(protected.count, 2) + little(code.count, 4) + little(flags, 4)
      + [1, 2] + little(3, 2) + little(4, 4) + little(0, 4) + code + protected
  }

  /// An image with the right hash of each of `types`, and more TLVs.
  static func image(
    flags: Int = 0, protected: [UInt8] = protected, hashes: [(type: Int, SHA2)] = [(0x10, .sha256)], more: [[UInt8]] = [], load: Int = 0
  ) -> [UInt8] {
    let head = head(flags: flags, protected: protected, load: load)
    return head + area(0x6907, hashes.map { tlv($0.type, $0.1.hash(head)) } + more)
  }

  static func padded(_ image: [UInt8], to size: Int = 2048, imageOK: UInt8 = 0xFF, alignment: Int = 8) -> [UInt8] {
    let short: [UInt8] = [0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F, 0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80]
    let long: [UInt8] = [0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D, 0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A]
    var file = image + [UInt8](repeating: 0xFF, count: size - image.count)
    file.replaceSubrange((size - 16)..., with: alignment == 8 ? short : little(alignment, 2) + long)
    file[size - max(16, alignment) - alignment] = imageOK
    return file
  }

  // MARK: Intel HEX

  static func record(_ type: UInt8, _ address: Int, _ data: [UInt8]) -> String {
    let bytes = [UInt8(data.count), UInt8(truncatingIfNeeded: address >> 8), UInt8(truncatingIfNeeded: address), type] + data
    return ":" + Hex.encode(bytes + [0 &- bytes.reduce(0, &+)], .upper) + "\n"
  }

  static let hexEnd = ":00000001FF\n"

  /// The records of bytes at an address, in the form of imgtool.
  static func records(_ bytes: [UInt8], at address: Int) -> String {
    var text = record(4, 0, little(address >> 24, 1) + little(address >> 16, 1))
    for start in stride(from: 0, to: bytes.count, by: 16) {
      let at = address + start
      if start > 0, at % 0x10000 < 16 { text += record(4, 0, little(at >> 24, 1) + little(at >> 16, 1)) }
      text += record(0, at & 0xFFFF, Array(bytes[start..<min(start + 16, bytes.count)]))
    }
    return text
  }

  // MARK: Archives

  struct Entry {
    var name: String
    var contents: [UInt8]
    /// The data of a deflated entry. Nil for a stored one.
    var deflated: [UInt8]?
    var method: Int?
    var flags = 0
    var size: Int?
    var checksum: UInt32?
    var localName: String?
  }

  static func zip(_ entries: [Entry], comment: [UInt8] = []) -> [UInt8] {
    var (file, directory): ([UInt8], [UInt8]) = ([], [])
    for entry in entries {
      var crc = CRC32()
      crc.add(entry.contents)
      let data = entry.deflated ?? entry.contents
      let method = entry.method ?? (entry.deflated == nil ? 0 : 8)
      let facts =
        little(20, 2) + little(entry.flags, 2) + little(method, 2) + little(0, 4) + little(Int(entry.checksum ?? crc.value), 4)
        + little(data.count, 4) + little(entry.size ?? entry.contents.count, 4)
      let (name, local) = (Array(entry.name.utf8), Array((entry.localName ?? entry.name).utf8))
      directory += [0x50, 0x4B, 1, 2] + little(20, 2) + facts + little(name.count, 2) + little(0, 12) + little(file.count, 4) + name
      file += [0x50, 0x4B, 3, 4] + facts + little(local.count, 2) + little(0, 2) + local + data
    }
    let end = little(0, 4) + little(entries.count, 2) + little(entries.count, 2) + little(directory.count, 4) + little(file.count, 4)
    return file + directory + [0x50, 0x4B, 5, 6] + end + little(comment.count, 2) + comment
  }

  // MARK: Nordic packages

  static func varint(_ number: UInt64) -> [UInt8] {
    number < 0x80 ? [UInt8(number)] : [UInt8(truncatingIfNeeded: number) | 0x80] + varint(number >> 7)
  }

  static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] { varint(number << 3) + varint(value) }

  static func field(_ number: UInt64, _ value: [UInt8]) -> [UInt8] { varint(number << 3 | 2) + varint(UInt64(value.count)) + value }

  /// The fields of an init command for a binary, in the order of nrfutil.
  static func initCommand(
    _ binary: [UInt8], type: UInt64 = 0, sizes: [(UInt64, UInt64)]? = nil, hashType: UInt64 = 3, hash: [UInt8]? = nil,
    softdevices: [UInt64] = [0x100, 0x123]
  ) -> [UInt8] {
    let sizes = sizes ?? [(7, UInt64(binary.count))]
    return field(1, 10203) + field(2, 52) + field(3, softdevices.flatMap(varint)) + field(4, type) + sizes.flatMap { field($0.0, $0.1) }
      + field(8, field(1, hashType) + field(2, hash ?? SHA2.sha256.hash(binary).reversed())) + field(9, 0)
      + field(10, field(1, 1) + field(2, []))
  }

  static func packet(_ initCommand: [UInt8], isSigned: Bool = true) -> [UInt8] {
    let command = field(1, 1) + field(2, initCommand)
    return isSigned ? field(2, field(1, command) + field(2, 0) + field(3, [UInt8](repeating: 7, count: 64))) : field(1, command)
  }

  static func manifest(_ parts: [(key: String, binary: String, packet: String)]) -> [UInt8] {
    let members = parts.map { "\"\($0.key)\": {\"bin_file\": \"\($0.binary)\", \"dat_file\": \"\($0.packet)\"}" }
    return Array("{\"manifest\": {\(members.joined(separator: ", "))}}".utf8)
  }

  static let application = (0..<500).map { UInt8(truncatingIfNeeded: $0 * 3) }

  /// A package with an application. The arguments replace its files.
  static func package(
    binary: [UInt8] = application, packet: [UInt8]? = nil, manifest text: [UInt8]? = nil, more: [Entry] = []
  ) -> [UInt8] {
    zip(
      [
        Entry(name: "app.bin", contents: binary), Entry(name: "app.dat", contents: packet ?? self.packet(initCommand(binary))),
        Entry(name: "manifest.json", contents: text ?? manifest([("application", "app.bin", "app.dat")])),
      ] + more)
  }
}

extension [UInt8] {
  /// Returns the bytes with others from an offset on.
  func with(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
    var copy = self
    copy.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    return copy
  }

  /// Returns the bytes with one bit changed.
  func flipping(_ offset: Int, bit: Int = 0) -> [UInt8] { with([self[offset] ^ UInt8(1 << bit)], at: offset) }
}
