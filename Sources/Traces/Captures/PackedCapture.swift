package import BluetoothLE
import BluetoothLECompression

/// Unpacks the capture inside another file: compressed by gzip, in a ZIP archive, or in the text of an Android bug report (btsnooz).
@LoopActor package struct PackedCapture {
  /// The most that unpacking a file may take, all its parts and layers together.
  package struct Limits: Sendable {
    /// The number of bytes to decompress.
    package var input = 256 << 20
    /// The number of unpacked bytes. Captures shrink to a tenth, hostile files to a thousandth.
    package var output: Int
    /// The number of bytes in the base64 text of a log. Android keeps a quarter of a megabyte.
    package var text = 16 << 20
    /// The number of entries in ZIP archives.
    package var entries = 65_536
    /// The number of steps, each of less than a millisecond.
    package var steps = 262_144

    /// Creates the limits for a packed file of `count` bytes.
    package init(_ count: Int) { output = min(256 << 20, max(16 << 20, 100 * count)) }
  }

  /// An error that ends the whole file. Other errors end an entry.
  private struct LimitExceeded: Error { let reason: String }

  let limits: Limits
  /// The rest of the limits.
  var left: Limits

  private init(_ limits: Limits) { (self.limits, left) = (limits, limits) }

  static func take(_ count: Int, from left: inout Int, _ problem: StaticString, _ most: Int, _ unit: StaticString) throws {
    left -= count
    if left < 0 { throw LimitExceeded(reason: "\(problem) more than \(most) \(unit)") }
  }

  private static let gzipStart: [UInt8] = [0x1F, 0x8B, 8]

  fileprivate static func isPacked(_ file: [UInt8]) async throws -> Bool {
    var unpacking = PackedCapture(Limits(file.count))
    if file.starts(with: gzipStart) || ZipArchive.isArchive(file) { return true }
    return try await unpacking.section(file) != nil
  }

  /// Returns the capture inside a file. Returns any other file unchanged. Other jobs of the event loop run between its steps.
  /// - Throws: `MalformedPacket` with an offset in the packed data, or with the limit that the file exceeds; `CancellationError`.
  package static func unpack(_ file: [UInt8], _ limits: Limits? = nil) async throws -> [UInt8] {
    var unpacking = PackedCapture(limits ?? Limits(file.count))
    do { return try await unpacking.unpack(file) } catch let error as LimitExceeded {
      throw MalformedPacket(error.reason, at: unpacking.limits.input - unpacking.left.input)
    } catch let error as ZipArchive.Problem { throw MalformedPacket(reason(error), at: 0) }
  }

  private mutating func unpack(_ file: [UInt8]) async throws -> [UInt8] {
    var file = file
    // A compressed archive may have a compressed bug report, but no more.
    for _ in 0..<4 {
      if file.starts(with: Self.gzipStart) {
        file = try await gzip(file)
      } else if ZipArchive.isArchive(file) {
        file = try await archived(file)
      } else {
        return if let range = try await section(file) { try await btsnooz(file[range]) } else { file }
      }
    }
    return file
  }

  /// Counts a step, which is a share of a turn, and lets other jobs run.
  mutating func step() async throws {
    try Self.take(1, from: &left.steps, "compressed data: they take", limits.steps, "steps")
    for _ in 0..<64 { EventLoop.shared.spendStep() }
    try await EventLoop.shared.waitForTurn()
  }

  mutating func count(input: Int = 0, output: Int) throws {
    try Self.take(input, from: &left.input, "compressed data: they have", limits.input >> 20, "MiB")
    try Self.take(output, from: &left.output, "compressed data: they expand to", limits.output >> 20, "MiB")
  }

  // MARK: Compression

  /// Decompresses data to their end. Returns the contents and the input that follows.
  mutating func inflate(
    _ data: ArraySlice<UInt8>, _ format: Inflate.Format = .raw
  ) async throws -> (contents: [UInt8], rest: ArraySlice<UInt8>) {
    let inflate = Inflate(format)
    var (contents, rest): ([UInt8], ArraySlice<UInt8>) = ([], data)
    while !inflate.isAtEnd {
      try await step()
      let (taken, more): (Int, ArraySlice<UInt8>)
      do throws(Inflate.Problem) { (taken, more) = try inflate.step(rest) } catch {
        throw MalformedPacket("compressed data: \(error.reason)", at: rest.startIndex - data.startIndex)
      }
      rest = rest.dropFirst(taken)
      contents += more
      try count(input: taken, output: more.count)
    }
    return (contents, rest)
  }

  private mutating func gzip(_ file: [UInt8]) async throws -> [UInt8] {
    var (contents, rest): ([UInt8], ArraySlice<UInt8>) = ([], file[...])
    // A file may have several parts. Padding may follow the last one.
    repeat {
      let part = try await inflate(rest, .gzip)
      contents += part.contents
      rest = part.rest
    } while rest.starts(with: [0x1F, 0x8B])
    return contents
  }

  // MARK: ZIP archives

  /// Expands an entry to its end, or to `most` bytes or a few more.
  private mutating func contents(of entry: ZipArchive.Entry, in archive: ZipArchive, most: Int = .max) async throws -> [UInt8] {
    var expansion = try archive.expansion(of: entry)
    while !expansion.isAtEnd, expansion.contents.count < most {
      try await step()
      let (taken, added) = try expansion.step()
      try count(input: taken, output: added)
    }
    return expansion.contents
  }

  /// Returns the largest capture in a ZIP archive, or else the first text with a log.
  private mutating func archived(_ file: [UInt8]) async throws -> [UInt8] {
    var texts: [ZipArchive.Entry] = []
    var problem: ZipArchive.Problem?
    let archive = try ZipArchive(file, maximumEntries: left.entries)
    left.entries -= archive.entries.count
    for entry in archive.entries.sorted(by: { $0.size > $1.size }) {
      try await step()
      do {
        let beginning = try await contents(of: entry, in: archive, most: 512)
        if try await TraceReader.isTrace(Array(beginning.prefix(512))) { return try await contents(of: entry, in: archive) }
        if !beginning.isEmpty, !beginning.prefix(512).contains(0), texts.count < 16 { texts.append(entry) }
      } catch let error as ZipArchive.Problem { problem = problem ?? error }
    }
    for entry in texts {
      do {
        let contents = try await contents(of: entry, in: archive)
        if try await section(contents) != nil { return contents }
      } catch let error as ZipArchive.Problem { problem = problem ?? error }
    }
    if let problem { throw problem }
    throw MalformedPacket("a ZIP archive without a Bluetooth capture", at: 0)
  }

  private static func reason(_ problem: ZipArchive.Problem) -> String {
    switch problem {
    case .tooManyEntries(let limit): "a ZIP archive with more than \(limit) entries"
    case .overlap: "a ZIP archive whose entries overlap"
    case .checksum: "compressed data: wrong checksum"
    default: "a ZIP archive that is cut, encrypted or damaged"
    }
  }
}

extension TraceReader {
  /// Returns whether a file is a capture, or contains one in a form that `PackedCapture` unpacks.
  @LoopActor package static func isTrace(_ file: [UInt8]) async throws -> Bool {
    if PcapngReader.isFile(file) || PcapReader.isFile(file) || file.starts(with: Snoop.magic) { return true }
    if PacketLoggerReader.isLittle(file) != nil { return true }
    return try await PackedCapture.isPacked(file)
  }
}
