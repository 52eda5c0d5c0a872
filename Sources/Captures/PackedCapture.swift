import Bluetooth
import EventLoop
import HCI
import Text

/// The captures inside other files: compressed by gzip, in a ZIP archive, or in the text of an Android bug report (btsnooz).
package enum PackedCapture {
  private enum Kind {
    case gzip, zip
    /// A bug report with the base64 text of a log at this range.
    case report(Range<Int>)
  }

  static func isPacked(_ file: [UInt8]) -> Bool { kind(file) != nil }

  private static func kind(_ file: [UInt8]) -> Kind? {
    if file.starts(with: [0x1F, 0x8B, 8]) { return .gzip }
    if file.starts(with: [0x50, 0x4B, 3, 4]) { return .zip }
    return section(file).map { .report($0) }
  }

  /// Returns the capture inside a file. Returns any other file unchanged. Other jobs of the event loop run between its steps.
  /// - Throws: `MalformedPacket` with an offset in the packed data, `CancellationError` after the cancellation of the task.
  @LoopActor package static func unpack(_ file: [UInt8]) async throws -> [UInt8] {
    var file = file
    // A compressed archive may have a compressed bug report, but no more.
    for _ in 0..<4 {
      switch kind(file) {
      case .gzip: file = try await gzip(file)
      case .zip: file = try await archived(file)
      case .report(let range): return try await btsnooz(file[range])
      case nil: return file
      }
    }
    return file
  }

  // MARK: Compression

  /// The maximum number of decompressed bytes. Captures shrink to a tenth, hostile files to a thousandth.
  private static func limit(_ compressed: Int) -> Int { min(256 << 20, max(16 << 20, 100 * compressed)) }

  /// Decompresses a DEFLATE stream. Returns its contents and the index of the first byte after it.
  @LoopActor private static func inflate(_ input: ArraySlice<UInt8>) async throws -> (contents: [UInt8], end: Int) {
    var inflate = Inflate(input, limit: limit(input.count))
    while try inflate.run(to: inflate.output.count + 4096) {
      for _ in 0..<64 { EventLoop.shared.spendStep() }
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
    }
    return (inflate.output, inflate.end)
  }

  /// Decompresses a gzip file (RFC 1952), which may have several parts.
  @LoopActor private static func gzip(_ file: [UInt8]) async throws -> [UInt8] {
    var (contents, rest): ([UInt8], ArraySlice<UInt8>) = ([], file[...])
    // Padding may follow the last part.
    while contents.isEmpty || rest.starts(with: [0x1F, 0x8B]) {
      var reader = ByteReader(rest)
      _ = try reader.slice(3, "gzip header")
      let flags = try reader.uint8("gzip header")
      _ = try reader.slice(6, "gzip header")
      if flags & 4 != 0 { _ = try reader.slice(Int(try reader.uint16("gzip header")), "gzip header") }
      // File name and comment.
      for flag in [8, 16] as [UInt8] where flags & flag != 0 { while try reader.uint8("gzip header") != 0 {} }
      if flags & 2 != 0 { _ = try reader.uint16("gzip header") }
      let (part, end) = try await inflate(rest.dropFirst(reader.offset))
      reader = ByteReader(file[end...])
      try check(part, try reader.uint32("gzip checksum"))
      _ = try reader.uint32("gzip length")
      guard !part.isEmpty, contents.count + part.count <= limit(file.count) else { break }
      contents += part
      rest = file[(end + 8)...]
    }
    return contents
  }

  private static func check(_ contents: [UInt8], _ checksum: UInt32) throws(MalformedPacket) {
    var crc = CRC32()
    crc.add(contents[...])
    guard crc.value == checksum else { throw MalformedPacket("compressed data: wrong checksum", at: 0) }
  }

  // MARK: ZIP archives

  private struct Entry {
    let isStored: Bool
    let checksum: UInt32
    let length: UInt32
    let data: ArraySlice<UInt8>

    /// Returns the first bytes of the contents. Returns an empty array for invalid data.
    var beginning: [UInt8] {
      if isStored { return Array(data.prefix(512)) }
      var inflate = Inflate(data, limit: 1 << 20)
      return (try? inflate.run(to: 512)) == nil ? [] : inflate.output
    }

    @LoopActor func contents() async throws -> [UInt8] {
      let contents = isStored ? Array(data) : try await inflate(data).contents
      try check(contents, checksum)
      return contents
    }
  }

  /// Returns the largest capture in a ZIP archive, or else the first text with a log.
  @LoopActor private static func archived(_ file: [UInt8]) async throws -> [UInt8] {
    var texts: [Entry] = []
    for entry in entries(of: file).sorted(by: { $0.length > $1.length }) {
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
      let beginning = entry.beginning
      if TraceReader.isTrace(beginning), let contents = try? await entry.contents() { return contents }
      if !beginning.isEmpty, !beginning.contains(0), texts.count < 16 { texts.append(entry) }
    }
    for entry in texts {
      if let contents = try? await entry.contents(), section(contents) != nil { return contents }
      try Task.checkCancellation()
    }
    throw MalformedPacket("a ZIP archive without a Bluetooth capture", at: 0)
  }

  /// Returns the entries that the directory at the end of a ZIP archive lists, without encrypted and invalid entries.
  private static func entries(of file: [UInt8]) -> [Entry] {
    let tail = max(0, file.count - 0x10016)
    guard let end = (tail..<max(tail, file.count - 21)).last(where: { file[$0...].starts(with: [0x50, 0x4B, 5, 6]) }) else { return [] }
    var directory = ByteReader(file[end...].dropFirst(16))
    guard let start = try? directory.uint32("directory"), start <= file.count else { return [] }
    var (entries, reader): ([Entry], ByteReader) = ([], ByteReader(file[Int(start)...]))
    while entries.count < 0x10000, (try? takeEntry(&reader, of: file, &entries)) != nil {}
    return entries
  }

  /// Reads an entry of the directory, and adds it unless it is encrypted or invalid.
  /// - Throws: `MalformedPacket` at the end of the directory.
  private static func takeEntry(_ reader: inout ByteReader, of file: [UInt8], _ entries: inout [Entry]) throws(MalformedPacket) {
    guard try reader.uint32("entry") == 0x0201_4B50 else { throw MalformedPacket("entry: the directory ends", at: reader.offset) }
    _ = try reader.uint32("versions")
    let (flags, method) = (try reader.uint16("flags"), try reader.uint16("method"))
    _ = try reader.uint32("time")
    let (checksum, packed, length) = (try reader.uint32("checksum"), try reader.uint32("length"), try reader.uint32("length"))
    let (name, extra, comment) = (try reader.uint16("name"), try reader.uint16("extra"), try reader.uint16("comment"))
    _ = try reader.slice(8, "attributes")
    let offset = Int(try reader.uint32("offset"))
    _ = try reader.slice(Int(name) + Int(extra) + Int(comment), "name")
    guard flags & 1 == 0, method == 0 || method == 8, offset + 30 <= file.count else { return }
    // The entry has a header of its own, with its own lengths of name and extra field.
    let data = offset + 30 + Int(file.uint16(at: offset + 26)) + Int(file.uint16(at: offset + 28))
    guard data + Int(packed) <= file.count else { return }
    entries.append(Entry(isStored: method == 0, checksum: checksum, length: length, data: file[data..<data + Int(packed)]))
  }

  // MARK: Bug reports

  private static let (sectionStart, sectionEnd) = (Array("BEGIN:BTSNOOP_LOG_SUMMARY".utf8), Array("END:BTSNOOP_LOG_SUMMARY".utf8))

  /// Returns the range of the base64 text in a bug report. Returns nil without a log.
  private static func section(_ file: [UInt8]) -> Range<Int>? {
    guard let line = find(sectionStart, in: file[...]), let start = file[line...].firstIndex(of: 0x0A) else { return nil }
    let end = find(sectionEnd, in: file[start...]) ?? file.count
    // The line of the end starts with dashes.
    return start..<(file[start..<end].lastIndex { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") } ?? start) + 1
  }

  private static func find(_ text: [UInt8], in file: ArraySlice<UInt8>) -> Int? {
    var index = file.startIndex
    while file.endIndex - index >= text.count {
      if file[index] == text[0], file[index...].starts(with: text) { return index }
      index += 1
    }
    return nil
  }

  /// Converts the log of a bug report to a btsnoop file. Android keeps the end of each log in this form, with all times relative to the last.
  @LoopActor private static func btsnooz(_ text: ArraySlice<UInt8>) async throws -> [UInt8] {
    guard let octets = Base64.decode(String(decoding: text, as: UTF8.self)) else { throw MalformedPacket("btsnooz: invalid base64", at: 0) }
    var reader = ByteReader(octets)
    let version = try reader.uint8("btsnooz header")
    guard version == 1 || version == 2 else { throw MalformedPacket("btsnooz header: unsupported version \(version)", at: 0) }
    let last = Int64(clamping: try reader.uint64("btsnooz header"))
    // The header of zlib (RFC 1950).
    guard try reader.uint8("btsnooz header") & 15 == 8, try reader.uint8("btsnooz header") & 32 == 0 else {
      throw MalformedPacket("btsnooz header: no zlib data", at: 9)
    }
    let log = try await inflate(octets[reader.offset...]).contents
    var (records, elapsed): ([Snoop.Record], Int64) = ([], 0)
    reader = ByteReader(log)
    while !reader.isAtEnd {
      let kept = Int(try reader.uint16("btsnooz record"))
      let length = version == 1 ? kept : Int(try reader.uint16("btsnooz record"))
      elapsed += Int64(try reader.uint32("btsnooz record"))
      let type = try reader.uint8("btsnooz record")
      // The lengths count the H4 indicator.
      let packet = try reader.slice(kept - 1, "btsnooz record")
      guard let (indicator, direction) = kind(type) else { continue }
      records.append(Snoop.Record(packet: [indicator] + packet, direction: direction, wallClock: elapsed))
      records[records.count - 1].missing = max(0, length - kept)
    }
    var file = Snoop.header
    for var record in records {
      // The times of the log are microseconds.
      record.wallClock = min(max(0, last - elapsed + record.wallClock), .max / 1000) * 1000
      file += record.encoded
    }
    return file
  }

  private static func kind(_ type: UInt8) -> (indicator: UInt8, direction: Direction)? {
    switch type {
    case 0x10: (Packet.eventIndicator, .controllerToHost)
    case 0x11: (Packet.aclIndicator, .controllerToHost)
    case 0x12: (Packet.synchronousIndicator, .controllerToHost)
    case 0x17: (Packet.isochronousIndicator, .controllerToHost)
    case 0x20: (Packet.commandIndicator, .hostToController)
    case 0x21: (Packet.aclIndicator, .hostToController)
    case 0x22: (Packet.synchronousIndicator, .hostToController)
    case 0x2D: (Packet.isochronousIndicator, .hostToController)
    default: nil
    }
  }
}
