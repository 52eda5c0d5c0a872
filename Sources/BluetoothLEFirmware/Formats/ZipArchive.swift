// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLECompression
import BluetoothLEText

/// The entries of a ZIP archive in memory (PKWARE, APPNOTE 6.3.10), stored or compressed by DEFLATE. Their names are only compared, never used as
/// paths.
package struct ZipArchive: Sendable {
  package struct Entry: Hashable, Sendable {
    package let name: String
    /// The number of bytes that the entry expands to.
    package let size: Int
    fileprivate let isStored: Bool
    fileprivate let checksum: UInt32
    fileprivate let data: Range<Int>
  }

  /// The entries in the order of the directory, without folders.
  package let entries: [Entry]
  private let file: [UInt8]

  /// The maximum number of entries, with folders. Packages have fewer than ten.
  package static let maximumEntries = 256

  package static func isArchive(_ file: [UInt8]) -> Bool {
    file.starts(with: [0x50, 0x4B, 3, 4]) || file.starts(with: [0x50, 0x4B, 5, 6])
  }

  /// Reads the directory at the end of an archive.
  package init(_ file: [UInt8]) throws(FirmwareFileError) {
    self.file = file
    guard file.count >= 22 else { throw .zipEndsEarly }
    // A comment of up to 65,535 bytes may follow the end record, and ends with the file.
    let end = (max(0, file.count - 0x10015)...file.count - 22).last { start in
      file[start...].starts(with: [0x50, 0x4B, 5, 6]) && start + 22 + Int(file.uint16(at: start + 20)) == file.count
    }
    guard let end else { throw .zipEndsEarly }
    let (disks, count) = (file[end + 4..<end + 8], Int(file.uint16(at: end + 10)))
    let (size, start) = (Self.number(file, end + 12), Self.number(file, end + 16))
    guard disks.allSatisfy({ $0 == 0 }), count != 0xFFFF, size != 0xFFFF_FFFF, start != 0xFFFF_FFFF else {
      throw .zipUnsupported(entry: nil)
    }
    guard count == Int(file.uint16(at: end + 8)), start + size == end else { throw .zipMalformed(at: end) }
    guard count <= Self.maximumEntries else { throw .zipEntries(limit: Self.maximumEntries) }
    var (entries, position): ([Entry], Int) = ([], start)
    for _ in 0..<count {
      let entry = try Self.entry(file, &position, before: end, directory: start)
      if !entry.name.hasSuffix("/") { entries.append(entry) }
    }
    guard position == end else { throw .zipMalformed(at: position) }
    var names: Set<String> = []
    if let twice = entries.first(where: { !names.insert($0.name).inserted }) { throw .zipRepeatedEntry(twice.name) }
    // A few bytes could count as many entries.
    let ordered = entries.sorted { $0.data.lowerBound < $1.data.lowerBound }
    if let overlap = zip(ordered, ordered.dropFirst()).first(where: { $0.data.upperBound > $1.data.lowerBound }) {
      throw .zipOverlap(overlap.1.name)
    }
    self.entries = entries
  }

  /// Reads an entry of the directory and its local header, and moves `position` behind it.
  private static func entry(_ file: [UInt8], _ position: inout Int, before end: Int, directory: Int) throws(FirmwareFileError) -> Entry {
    let at = position
    guard at + 46 <= end, file[at...].starts(with: [0x50, 0x4B, 1, 2]) else { throw .zipMalformed(at: at) }
    let (flags, method) = (file.uint16(at: at + 8), file.uint16(at: at + 10))
    let (packed, size, local) = (number(file, at + 20), number(file, at + 24), number(file, at + 42))
    let nameEnd = at + 46 + Int(file.uint16(at: at + 28))
    position = nameEnd + Int(file.uint16(at: at + 30)) + Int(file.uint16(at: at + 32))
    guard position <= end else { throw .zipMalformed(at: at) }
    let name = String(decoding: file[at + 46..<nameEnd], as: UTF8.self)
    guard flags & 1 == 0, method == 0 || method == 8, packed != 0xFFFF_FFFF, size != 0xFFFF_FFFF else { throw .zipUnsupported(entry: name) }
    guard local + 30 <= directory, file[local...].starts(with: [0x50, 0x4B, 3, 4]) else { throw .zipMalformed(at: at) }
    // The local header has its own lengths, and must have the same name.
    let (localName, start) = (local + 30, local + 30 + Int(file.uint16(at: local + 26)) + Int(file.uint16(at: local + 28)))
    guard start + packed <= directory, method == 8 || packed == size,
      file[localName..<localName + Int(file.uint16(at: local + 26))] == file[at + 46..<nameEnd]
    else { throw .zipMalformed(at: local) }
    let checksum = UInt32(truncatingIfNeeded: number(file, at + 16))
    return Entry(name: name, size: size, isStored: method == 0, checksum: checksum, data: start..<start + packed)
  }

  private static func number(_ file: [UInt8], _ at: Int) -> Int { Int(file.uint16(at: at)) | Int(file.uint16(at: at + 2)) << 16 }

  package func entry(named name: String) -> Entry? { entries.first { $0.name == name } }

  /// Expands an entry, and checks its length and its checksum.
  /// - Parameter limit: The maximum number of bytes.
  package func contents(of entry: Entry, limit: Int) throws(FirmwareFileError) -> [UInt8] {
    guard entry.size <= limit else { throw .zipEntryTooLarge(entry.name, limit: limit) }
    let contents = entry.isStored ? Array(file[entry.data]) : try inflate(entry)
    var crc = CRC32()
    crc.add(contents)
    guard crc.value == entry.checksum else { throw .zipChecksum(entry.name) }
    return contents
  }

  private func inflate(_ entry: Entry) throws(FirmwareFileError) -> [UInt8] {
    // Blocks without contents could otherwise take minutes. Compressors add less than a thousandth.
    guard entry.data.count <= entry.size + entry.size / 1000 + 1024 else { throw .zipData(entry.name) }
    let inflate = Inflate(.raw)
    var (contents, rest): ([UInt8], ArraySlice<UInt8>) = ([], file[entry.data])
    while !inflate.isAtEnd {
      let (taken, more): (Int, ArraySlice<UInt8>)
      do throws(Inflate.Problem) { (taken, more) = try inflate.step(rest) } catch { throw .zipData(entry.name) }
      rest = rest.dropFirst(taken)
      contents += more
      guard contents.count <= entry.size else { throw .zipEntryTooLarge(entry.name, limit: entry.size) }
    }
    guard rest.isEmpty, contents.count == entry.size else { throw .zipData(entry.name) }
    return contents
  }
}
