import Glibc
import SystemPackage

/// A file to send, which callers read by byte offset in limited memory. Rereads a regular file on demand.
/// Keeps the bytes of a pipe, a terminal or a file without a size since the last `release`.
@LoopActor
package final class ByteFile {
  /// The maximum number of bytes that one read of the file or one call of `bytes` returns.
  package nonisolated static let blockSize = 65_536
  /// The maximum number of unreleased bytes that an instance keeps of a pipe or terminal.
  package nonisolated static let keptAtMost = 1 << 20

  /// The total number of bytes in the file, as of opening. Nil for a pipe or terminal until this object has read the end.
  package private(set) var count: Int?

  let path: FileError.Path
  let descriptor: Int32
  private let owned: OwnedDescriptor?
  private let limit: Int
  /// The state of a regular file at opening. Nil for a pipe or terminal.
  private(set) var regular: Regular?

  /// The memory for the bytes `start..<end` of the file, which begin at index 0. `bytes` returns slices of this memory.
  private(set) var buffer = [UInt8](repeating: 0, count: blockSize)
  private(set) var start = 0
  private var filled = 0
  var end: Int { start + filled }
  /// The byte offset before which the caller requests no bytes again.
  private var released = 0
  /// The CRC-32 of the bytes before each of several byte offsets of the file.
  var sums = RunningSums()

  struct Regular {
    /// The file position of the first byte to send, in bytes. Standard input may start in the middle of a file.
    let first: Int
    let version: FileVersion
  }

  /// Opens a file. Waits for the first bytes or the end of the file.
  /// - Parameters:
  ///   - path: The path of the file, or `-` for standard input.
  ///   - limit: The maximum number of bytes. A longer file is an error.
  ///   - patience: The real time to wait for a writer of a named pipe.
  ///   - whenIdle: The callback if no data arrives within two seconds of real time.
  /// - Throws: FileError, CancellationError, or ETIMEDOUT for a named pipe without a writer.
  package static func open(
    _ path: String, limit: Int, writerWithin patience: Duration = .seconds(10), whenIdle: (@LoopActor @Sendable () -> Void)? = nil
  ) async throws -> ByteFile {
    let file = try ByteFile(path, limit)
    if file.regular != nil {
      try file.readBlock(at: 0)
      if file.end == min(file.count ?? 0, blockSize), file.end > 0 { return file }
      // Another program truncates the file right now, or its file system reports false sizes: 0 in /proc, a page in /sys.
      try file.checkUnchanged()
      file.regular = nil
      file.count = nil
      file.filled = 0
    }
    let idling = whenIdle.map { StandardInput.idleTimer($0) }
    defer { idling?.cancel() }
    if file.owned != nil, try file.kind() == S_IFIFO {
      let beginning = try await InputFile.beginning(file.descriptor, file.path, patience)
      file.buffer.replaceSubrange(..<beginning.count, with: beginning)
      file.filled = beginning.count
    }
    if file.filled == 0 { try await file.readOn() }
    return file
  }

  private init(_ name: String, _ limit: Int) throws(FileError) {
    path = name == "-" ? nil : name
    self.limit = limit
    let status: stat
    do throws(Errno) {
      if name == "-" {
        descriptor = STDIN_FILENO
        owned = nil
      } else {
        // O_NONBLOCK: opening a pipe would otherwise wait for its writer.
        let file = try SystemCall.open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        descriptor = file.rawValue
        owned = consume file
      }
      status = try SystemCall.status(descriptor)
    } catch {
      throw .unreadable(path, error)
    }
    switch status.kind {
    case S_IFDIR: throw .unreadable(path, .isDirectory)
    case S_IFCHR:
      // Any other device may supply bytes forever, as /dev/zero does.
      guard isatty(descriptor) == 1 || status.st_rdev == Self.nullDevice else { throw .endless(path) }
    case S_IFREG:
      let first = max(0, lseek(descriptor, 0, SEEK_CUR))
      let size = Int(max(0, status.st_size - first))
      guard size <= limit else { throw .tooLong(path, limit: limit) }
      count = size
      regular = Regular(first: first, version: FileVersion(status))
    default: break
    }
  }

  /// The device number of /dev/null on Linux: major 1, minor 3.
  private static let nullDevice: dev_t = 0x103

  private func kind() throws(FileError) -> mode_t {
    do throws(Errno) { return try SystemCall.status(descriptor).kind } catch { throw .unreadable(path, error) }
  }

  // MARK: Bytes

  /// Returns at most `count` bytes from a byte offset, and never more than `blockSize`. Waits for the data of a pipe or terminal.
  /// - Returns: Fewer bytes at the end of the file, and no bytes after the end.
  /// - Throws: FileError, CancellationError.
  package func bytes(at offset: Int, atMost count: Int) async throws -> ArraySlice<UInt8> {
    let offset = min(max(0, offset), Int.max >> 1)
    if let there = buffered(at: offset, atMost: count) { return there }
    let wanted = min(max(0, count), Self.blockSize)
    guard regular == nil else {
      try readBlock(at: offset)
      guard let there = buffered(at: offset, atMost: wanted) else {
        throw FileError.endedEarly(path, at: max(offset, end), count: self.count ?? 0)
      }
      return there
    }
    guard offset >= start else { throw FileError.passed(path, offset: offset) }
    while self.count == nil, end < offset + wanted { try await readOn() }
    return buffered(at: offset, atMost: wanted) ?? []
  }

  /// Returns the bytes at a byte offset without waiting, reading or allocating. Nil if memory does not hold all of these bytes.
  package func buffered(at offset: Int, atMost count: Int) -> ArraySlice<UInt8>? {
    var wanted = min(max(0, count), Self.blockSize)
    if let all = self.count { wanted = min(wanted, max(0, all - offset)) }
    if wanted == 0 { return buffer[0..<0] }
    guard offset >= start, offset <= end - wanted else { return nil }
    return buffer[offset - start..<offset - start + wanted]
  }

  /// Permits this object to discard the bytes before a byte offset. The caller must not request these bytes again.
  package func release(before offset: Int) { released = max(released, offset) }

  /// Checks that no program has changed the open file since its opening. Ignores a new file at the same path.
  /// - Throws: FileError.
  package func checkUnchanged() throws(FileError) {
    guard let regular else { return }
    let now: FileVersion
    do throws(Errno) { now = FileVersion(try SystemCall.status(descriptor)) } catch { throw .unreadable(path, error) }
    if now != regular.version { throw .changed(path, from: regular.version.size, to: now.size) }
  }

  // MARK: Reading

  /// Fills `buffer` with the block of a regular file at a byte offset. The last block of the file is shorter.
  private func readBlock(at offset: Int) throws(FileError) {
    sums.advance(to: offset, buffer, start..<end)
    start = offset
    filled = 0
    let block = min(Self.blockSize, max(0, (count ?? 0) - offset))
    while filled < block {
      let count = try read(into: &buffer, filled..<block, at: offset + filled)
      if count == 0 { break }
      filled += count
    }
  }

  /// Reads the file's bytes at a byte offset into a part of `buffer` without suspending. Returns the number of bytes, 0 at the end.
  func read(into buffer: inout [UInt8], _ part: Range<Int>, at offset: Int) throws(FileError) -> Int {
    do throws(Errno) {
      return try SystemCall.read(descriptor, into: &buffer, part, at: regular.map { $0.first + offset })
    } catch {
      throw .unreadable(path, error)
    }
  }

  /// Waits for the next bytes or the end of a pipe or terminal, and adds the bytes to `buffer`.
  func readOn() async throws {
    guard count == nil else { return }
    let room = try makeRoom()
    while true {
      // Wait before every read: a blocking descriptor then never blocks. The flags of standard input are not ours to change.
      _ = try await EventLoop.shared.wait(for: descriptor, .readable)
      do {
        let got = try read(into: &buffer, filled..<filled + room, at: end)
        filled += got
        if got == 0 { count = end }
        if end > limit { throw FileError.tooLong(path, limit: limit) }
        return
      } catch FileError.unreadable(_, .wouldBlock) {
        continue
      }
    }
  }

  /// Makes room in `buffer` for the next bytes. Discards released bytes or enlarges the buffer.
  /// - Returns: The room in bytes, from 1 to `blockSize`.
  private func makeRoom() throws(FileError) -> Int {
    let droppable = min(max(0, released - start), filled)
    let kept = filled - droppable
    guard kept < Self.keptAtMost else { throw .keepsNoMore(path, limit: Self.keptAtMost) }
    if kept == 0 || buffer.count - filled < Self.blockSize, droppable >= filled / 4 {
      sums.advance(to: start + droppable, buffer, start..<end)
      if kept > 0 { buffer.replaceSubrange(..<kept, with: buffer[droppable..<filled]) }
      start += droppable
      filled = kept
    } else if buffer.count - filled < Self.blockSize {
      buffer.append(contentsOf: repeatElement(0, count: buffer.count))
    }
    return min(Self.blockSize, buffer.count - filled, Self.keptAtMost - kept)
  }

  /// Returns the CRC-32 of the bytes before a byte offset. May read parts of a regular file again.
  /// - Parameter offset: A byte offset. An offset after the end of the file means the end.
  /// - Throws: FileError, CancellationError.
  package func crc(upTo offset: Int) async throws -> UInt32 {
    if regular == nil { while count == nil, end < offset { try await readOn() } }
    let offset = min(max(0, offset), count ?? offset)
    var mark = sums.nearest(to: offset)
    if mark.offset < offset, regular != nil, !(start...end).contains(mark.offset) || offset > end {
      mark = try await read(from: mark, upTo: offset)
    }
    if mark.offset < offset {
      // For input that can be read only once, the nearest mark is the start of the window. Otherwise the requested bytes are lost.
      guard (start...end).contains(mark.offset) else { throw FileError.passed(path, offset: mark.offset) }
      mark.add(buffer[mark.offset - start..<offset - start], upTo: offset)
    }
    return mark.crc.value
  }

  /// Extends the CRC-32 of a mark to a byte offset. Reads a regular file again and lets other tasks run between blocks.
  private func read(from mark: RunningSums.Mark, upTo offset: Int) async throws -> RunningSums.Mark {
    var mark = mark
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    while mark.offset < offset {
      let room = min(block.count, offset - mark.offset)
      let count = try read(into: &block, 0..<room, at: mark.offset)
      guard count > 0 else { throw FileError.endedEarly(path, at: mark.offset, count: self.count ?? offset) }
      mark.add(block[..<count], upTo: mark.offset + count)
      EventLoop.shared.spendStep()
      try await EventLoop.shared.waitForTurn()
    }
    sums.keep(mark)
    return mark
  }
}

/// The CRC-32 of a file's beginning, for each of the latest byte offsets that the transfer passed.
struct RunningSums {
  struct Mark {
    var offset = 0
    var crc = CRC32()

    mutating func add(_ bytes: ArraySlice<UInt8>, upTo end: Int) {
      crc.add(bytes)
      offset = end
    }
  }

  /// The marks in the order of their creation. The first mark always has offset 0.
  private var marks = [Mark()]
  /// The maximum number of elements in `marks`.
  private static let most = 16

  func nearest(to offset: Int) -> Mark { marks.filter { $0.offset <= offset }.max { $0.offset < $1.offset } ?? Mark() }

  /// Adds a mark at `offset` or at the end of `window`, whichever comes first. `window` is the range of file offsets in `buffer`.
  mutating func advance(to offset: Int, _ buffer: [UInt8], _ window: Range<Int>) {
    guard var last = marks.max(by: { $0.offset < $1.offset }), last.offset >= window.lowerBound else { return }
    let end = min(offset, window.upperBound)
    guard end > last.offset else { return }
    last.add(buffer[last.offset - window.lowerBound..<end - window.lowerBound], upTo: end)
    keep(last)
  }

  mutating func keep(_ mark: Mark) {
    if marks.count == Self.most { marks.remove(at: 1) }
    marks.append(mark)
  }
}
