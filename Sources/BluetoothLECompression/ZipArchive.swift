// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The entries of a ZIP archive in memory (PKWARE, APPNOTE 6.3.10), stored or compressed by DEFLATE. Their names are only compared, never
/// used as paths.
package struct ZipArchive: Sendable {
  /// The reason why an archive or an entry is refused. Offsets are in bytes.
  package enum Problem: Error, Hashable, Sendable {
    /// The archive has no directory at its end: it was cut.
    case endsEarly
    case malformed(at: Int)
    /// The archive is split or too large, or an entry is encrypted or compressed by another method than DEFLATE.
    case unsupported(entry: String?)
    case tooManyEntries(limit: Int)
    case repeatedEntry(String)
    case overlap(String)
    /// The entry expands to more bytes than it declares or than the limit.
    case entryTooLarge(String, limit: Int)
    /// The compressed data of an entry are damaged.
    case data(String)
    case checksum(String)
  }

  package struct Entry: Hashable, Sendable {
    // Comparing a String takes seconds if it has thousands of combining marks.
    fileprivate let bytes: ArraySlice<UInt8>
    package var name: String { String(decoding: bytes, as: UTF8.self) }
    /// The number of bytes that the entry expands to.
    package let size: Int
    /// The compression method: 0 is stored, 8 is DEFLATE. Nil for an encrypted entry.
    fileprivate let method: Int?
    fileprivate let checksum: Int
    /// The range of the entry with its local header, and of its data.
    fileprivate let range: Range<Int>, data: Range<Int>
  }

  /// The entries in the order of the directory, without folders.
  package let entries: [Entry]
  private let file: [UInt8]

  /// The largest directory in bytes, so that reading it takes less than 0.1 s. Bug reports of Android have a tenth.
  private static let largestDirectory = 2 << 20

  package static func isArchive(_ file: [UInt8]) -> Bool { [3, 5].contains { file.starts(with: [0x50, 0x4B, $0, $0 + 1]) } }

  /// Reads the directory at the end of an archive.
  /// - Parameter maximumEntries: The maximum number of entries, with folders.
  package init(_ file: [UInt8], maximumEntries: Int) throws(Problem) {
    self.file = file
    guard file.count >= 22 else { throw .endsEarly }
    // A comment of up to 65,535 bytes may follow the end record, and ends with the file.
    let end = (max(0, file.count - 0x10015)...file.count - 22).last { start in
      file[start...].starts(with: [0x50, 0x4B, 5, 6]) && start + 22 + file.number(2, at: start + 20) == file.count
    }
    guard let end else { throw .endsEarly }
    let (count, size, start) = (file.number(2, at: end + 10), file.number(4, at: end + 12), file.number(4, at: end + 16))
    guard file.number(4, at: end + 4) == 0, count != 0xFFFF, size <= Self.largestDirectory, start != 0xFFFF_FFFF else {
      throw .unsupported(entry: nil)
    }
    guard count == file.number(2, at: end + 8), start + size == end else { throw .malformed(at: end) }
    guard count <= maximumEntries else { throw .tooManyEntries(limit: maximumEntries) }
    var (entries, position): ([Entry], Int) = ([], start)
    for _ in 0..<count {
      let entry = try Self.entry(file, &position, before: end, directory: start)
      if entry.bytes.last != UInt8(ascii: "/") { entries.append(entry) }
    }
    guard position == end else { throw .malformed(at: position) }
    var names: Set<ArraySlice<UInt8>> = []
    if let twice = entries.first(where: { !names.insert($0.bytes).inserted }) { throw .repeatedEntry(twice.name) }
    // A few bytes could count as many entries.
    let ordered = entries.sorted { $0.range.lowerBound < $1.range.lowerBound }
    if let overlap = zip(ordered, ordered.dropFirst()).first(where: { $0.range.upperBound > $1.range.lowerBound }) {
      throw .overlap(overlap.1.name)
    }
    self.entries = entries
  }

  /// Reads an entry of the directory and its local header, and moves `position` to the next entry.
  private static func entry(_ file: [UInt8], _ position: inout Int, before end: Int, directory: Int) throws(Problem) -> Entry {
    let at = position
    guard at + 46 <= end, file[at...].starts(with: [0x50, 0x4B, 1, 2]) else { throw .malformed(at: at) }
    let method = file.number(2, at: at + 8) & 1 == 0 ? file.number(2, at: at + 10) : nil
    let (packed, size, local) = (file.number(4, at: at + 20), file.number(4, at: at + 24), file.number(4, at: at + 42))
    let nameEnd = at + 46 + file.number(2, at: at + 28)
    position = nameEnd + file.number(2, at: at + 30) + file.number(2, at: at + 32)
    guard position <= end else { throw .malformed(at: at) }
    let name = file[at + 46..<nameEnd]
    guard packed != 0xFFFF_FFFF, size != 0xFFFF_FFFF else { throw .unsupported(entry: String(decoding: name, as: UTF8.self)) }
    guard local + 30 <= directory, file[local...].starts(with: [0x50, 0x4B, 3, 4]) else { throw .malformed(at: at) }
    // The local header has its own lengths, and must have the same name.
    let (localName, start) = (local + 30, local + 30 + file.number(2, at: local + 26) + file.number(2, at: local + 28))
    guard start + packed <= directory, method != 0 || packed == size,
      file[localName..<localName + file.number(2, at: local + 26)] == name
    else { throw .malformed(at: local) }
    let (range, data) = (local..<start + packed, start..<start + packed)
    return Entry(bytes: name, size: size, method: method, checksum: file.number(4, at: at + 16), range: range, data: data)
  }

  package func entry(named name: String) -> Entry? { entries.first { $0.bytes.elementsEqual(name.utf8) } }

  /// Begins to expand an entry of at most `limit` bytes.
  package func expansion(of entry: Entry, limit: Int = .max) throws(Problem) -> Expansion {
    guard let method = entry.method, method == 0 || method == 8 else { throw .unsupported(entry: entry.name) }
    guard entry.size <= limit else { throw .entryTooLarge(entry.name, limit: limit) }
    // Blocks without contents could otherwise take minutes. Compressors add less than a thousandth.
    guard entry.data.count <= entry.size + entry.size / 1000 + 1024 else { throw .data(entry.name) }
    return Expansion(entry: entry, rest: file[entry.data], inflate: method == 8 ? Inflate(.raw) : nil)
  }

  /// The contents of an entry. Each step takes less than a millisecond, so that a caller can stop between two steps.
  package struct Expansion {
    fileprivate let entry: Entry
    fileprivate var rest: ArraySlice<UInt8>
    fileprivate let inflate: Inflate?
    fileprivate var checksum = CRC32()
    package fileprivate(set) var contents: [UInt8] = []
    /// Whether the contents are whole, with the right length and checksum.
    package fileprivate(set) var isAtEnd = false

    /// Expands the next bytes.
    /// - Returns: The number of bytes that it took from the archive, and the number of bytes that it added to `contents`.
    package mutating func step() throws(Problem) -> (taken: Int, added: Int) {
      var (taken, more) = (min(rest.count, 16_384), rest.prefix(16_384))
      if let inflate { do throws(Inflate.Problem) { (taken, more) = try inflate.step(rest) } catch { throw .data(entry.name) } }
      rest = rest.dropFirst(taken)
      contents += more
      checksum.add(more)
      guard contents.count <= entry.size else { throw .entryTooLarge(entry.name, limit: entry.size) }
      isAtEnd = inflate?.isAtEnd ?? rest.isEmpty
      guard !isAtEnd || rest.isEmpty && contents.count == entry.size else { throw .data(entry.name) }
      guard !isAtEnd || checksum.value == UInt32(entry.checksum) else { throw .checksum(entry.name) }
      return (taken, more.count)
    }
  }
}

extension [UInt8] {
  /// Returns the little-endian number of `bytes` bytes at `index`. Traps if the bytes do not exist.
  fileprivate func number(_ bytes: Int, at index: Int) -> Int { self[index..<index + bytes].reversed().reduce(0) { $0 << 8 | Int($1) } }
}
