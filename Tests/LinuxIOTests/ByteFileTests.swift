import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

/// Tests files that are sent in segments, in order and again.
@Suite(.timeLimit(.minutes(15))) struct ByteFileTests {
  /// Reads a file with `bytes`, in segments of a size that does not divide a block.
  @LoopActor static func all(_ file: ByteFile, from start: Int = 0, segment: Int = 495) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let part = try await file.bytes(at: start + bytes.count, atMost: segment)
      bytes += part
      file.release(before: start + bytes.count - 10 * segment)
      if part.count < segment { return bytes }
    }
  }

  static func contents(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  static func crc(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc = CRC32()
    crc.add(Array(bytes))
    return crc.value
  }

  private static func address(_ bytes: ArraySlice<UInt8>) -> Int { unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }

  @LoopActor static func failure(_ path: String, limit: Int = 1 << 40, patience: Duration = .milliseconds(20)) async -> FileError? {
    do { _ = try await ByteFile.open(path, limit: limit, writerWithin: patience) } catch { return error as? FileError }
    return nil
  }

  @Test(.onLoop, arguments: [0, 1, 494, 495, 65_535, 65_536, 65_537, 131_072, 200_001]) @LoopActor func isReadWhole(_ count: Int)
    async throws
  {
    let path = TemporaryPath()
    let contents = Self.contents(count)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: count)
    #expect(file.count == count)
    #expect(try await Self.all(file) == contents)
    #expect(try await file.bytes(at: count, atMost: 10).isEmpty)
    #expect(try await file.bytes(at: count + 1_000_000, atMost: 10).isEmpty)
    #expect(try await file.bytes(at: Int.max, atMost: 10).isEmpty)
    #expect(try await file.crc(upTo: count) == Self.crc(contents))
    try file.checkUnchanged()
    if count > 0 { #expect(await Self.failure(path.path, limit: count - 1) == .tooLong(path.path, limit: count - 1)) }
  }

  /// Segments are slices of one buffer whose storage is reused, without a copy.
  @Test(.onLoop) @LoopActor func theBufferIsReused() async throws {
    let path = TemporaryPath()
    try path.write(Self.contents(1_000_000))
    let file = try await ByteFile.open(path.path, limit: 1 << 40)
    let storage = Self.address(file.buffer[...])
    var offset = 0
    var reads = 0
    while offset < 1_000_000 {
      if file.buffered(at: offset, atMost: 495) == nil { reads += 1 }
      let part = try await file.bytes(at: offset, atMost: 495)
      offset += part.count
      #expect((storage..<storage + ByteFile.blockSize).contains(Self.address(part)))
      if offset < 1_000_000 { #expect(part.count == 495) }
    }
    #expect(reads == 15)
    #expect(file.buffer.count == ByteFile.blockSize)
    #expect(Self.address(file.buffer[...]) == storage)
  }

  /// Only the ends of the file are read.
  @Test(.onLoop) @LoopActor func fourGigabytesOfHoles() async throws {
    let path = TemporaryPath()
    try path.write([1, 2, 3])
    let count = 4 << 30
    try SystemCall.call { unsafe truncate(path.path, count) }
    #expect(await Self.failure(path.path, limit: count - 1) == .tooLong(path.path, limit: count - 1))
    let file = try await ByteFile.open(path.path, limit: count)
    #expect(file.count == count)
    #expect(try await file.bytes(at: 0, atMost: 4) == [1, 2, 3, 0])
    #expect(try await file.bytes(at: count - 2, atMost: 4) == [0, 0])
    #expect(try await file.bytes(at: count, atMost: 4).isEmpty)
    try file.checkUnchanged()
  }

  @Test(.onLoop) @LoopActor func aSlowSegmentIsNotChangedByWhatIsReadNext() async throws {
    let path = TemporaryPath()
    let contents = Self.contents(200_000)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: 1 << 40)
    let held = try await file.bytes(at: 60_000, atMost: 500)
    _ = try await file.bytes(at: 150_000, atMost: 500)
    #expect(held == contents[60_000..<60_500])
  }

  @Test(.onLoop) @LoopActor func goingBack() async throws {
    let path = TemporaryPath()
    let contents = Self.contents(1_500_000)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: 1 << 40)
    #expect(try await Self.all(file, segment: 65_536) == contents)
    // The latest blocks, much earlier ones, a skipped part, then the end.
    for offset in [1_499_999, 1_400_001, 300_000, 65_536, 1, 0, 1_234_567, 1_500_000] {
      #expect(try await file.bytes(at: offset, atMost: 3) == contents[offset...].prefix(3))
      #expect(try await file.crc(upTo: offset) == Self.crc(contents[..<offset]))
    }
    #expect(try await Self.all(file, from: 1_400_000) == Array(contents[1_400_000...]))
    #expect(try await file.crc(upTo: .max) == Self.crc(contents))
  }

  /// A transfer that starts at an offset keeps the checksum of the whole file.
  @Test(.onLoop) @LoopActor func anOffsetLeavesTheSumWhole() async throws {
    let path = TemporaryPath()
    let contents = Self.contents(300_000)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: 1 << 40)
    file.release(before: 200_000)
    #expect(try await Self.all(file, from: 200_000) == Array(contents[200_000...]))
    #expect(try await file.crc(upTo: 300_000) == Self.crc(contents))
    #expect(try await file.crc(upTo: 200_000) == Self.crc(contents[..<200_000]))
  }

  @Test(.onLoop, arguments: [70_000, 99_999]) @LoopActor func aFileThatIsCutIsNeverFilledWithZeros(_ left: Int) async throws {
    let path = TemporaryPath()
    let contents = Self.contents(100_000)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: 1 << 40)
    #expect(try await file.bytes(at: 0, atMost: 500) == contents[..<500])
    try SystemCall.call { unsafe truncate(path.path, left) }
    #expect(try await file.bytes(at: left - 500, atMost: 500) == contents[left - 500..<left])
    let error = FileError.endedEarly(path.path, at: left, count: 100_000)
    await #expect(throws: error) { try await file.bytes(at: left - 499, atMost: 500) }
    await #expect(throws: error) { try await file.bytes(at: left, atMost: 500) }
    await #expect(throws: FileError.endedEarly(path.path, at: 99_999, count: 100_000)) { try await file.bytes(at: 99_999, atMost: 1) }
    await #expect(throws: FileError.changed(path.path, from: 100_000, to: left)) { try file.checkUnchanged() }
  }

  @Test(.onLoop) @LoopActor func aFileThatGrowsIsSentAsItWasOpened() async throws {
    let path = TemporaryPath()
    let contents = Self.contents(70_000)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: 70_000)
    let writer = try SystemCall.open(path.path, O_WRONLY | O_APPEND)
    _ = try SystemCall.write(writer.rawValue, [1, 2, 3])
    #expect(try await Self.all(file) == contents)
    await #expect(throws: FileError.changed(path.path, from: 70_000, to: 70_003)) { try file.checkUnchanged() }
    _ = writer.rawValue
  }

  @Test(.onLoop) @LoopActor func aFileThatIsWrittenToIsNotUnchanged() async throws {
    let path = TemporaryPath()
    try path.write([1, 2, 3])
    // The kernel's file clock has steps of milliseconds. A change within one step would not show.
    var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
    try SystemCall.call { unsafe utimensat(AT_FDCWD, path.path, &times, 0) }
    let file = try await ByteFile.open(path.path, limit: 3)
    try file.checkUnchanged()
    let writer = try SystemCall.open(path.path, O_WRONLY)
    _ = try SystemCall.write(writer.rawValue, [9])
    await #expect(throws: FileError.changed(path.path, from: 3, to: 3)) { try file.checkUnchanged() }
    _ = writer.rawValue
  }

  @Test(.onLoop, arguments: [true, false]) @LoopActor func theOpenFileIsSentWhateverItsNameMeans(_ isReplaced: Bool) async throws {
    let path = TemporaryPath()
    let contents = Self.contents(100_000)
    try path.write(contents)
    let file = try await ByteFile.open(path.path, limit: 100_000)
    if isReplaced {
      let other = TemporaryPath()
      try other.write([1])
      try SystemCall.call { unsafe rename(other.path, path.path) }
    } else {
      try SystemCall.call { unsafe unlink(path.path) }
    }
    #expect(try await Self.all(file) == contents)
    try file.checkUnchanged()
  }

  @Test(.onLoop) @LoopActor func refusals() async throws {
    #expect(await Self.failure("/tmp") == .unreadable("/tmp", .isDirectory))
    #expect(await Self.failure("/no/such/file") == .unreadable("/no/such/file", .noSuchFileOrDirectory))
    // Unreadable even for root.
    #expect(await Self.failure("/proc/self/mem") == .unreadable("/proc/self/mem", .ioError))
    let path = TemporaryPath()
    let socket = try SystemCall.socket(AF_UNIX, SOCK_STREAM)
    try SystemCall.bind(socket.rawValue, try #require(SocketAddress.unix(path.path)))
    #expect(await Self.failure(path.path) == .unreadable(path.path, .noSuchAddressOrDevice))
    let closed = TemporaryPath()
    try closed.write([1])
    try SystemCall.call { unsafe chmod(closed.path, 0) }
    // Root can read it anyway.
    #expect(await Self.failure(closed.path) == (geteuid() == 0 ? nil : .unreadable(closed.path, .permissionDenied)))
    for endless in ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"] { #expect(await Self.failure(endless) == .endless(endless)) }
    let null = try await ByteFile.open("/dev/null", limit: 10)
    #expect(null.count == 0)
    #expect(try await null.bytes(at: 0, atMost: 10).isEmpty)
  }

  /// Kernel files may state size 0, or the size of a page.
  @Test(
    .onLoop, arguments: ["/proc/self/maps", "/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum"])
  @LoopActor func sizesThatAreNotTrue(_ path: String) async throws {
    guard InputFile.exists(path) else { return }
    let file = try await ByteFile.open(path, limit: 1 << 20)
    #expect(file.count == nil)
    let contents = try await Self.all(file)
    #expect(!contents.isEmpty && contents.count == file.count)
    #expect(try await file.crc(upTo: contents.count) == Self.crc(contents))
    try file.checkUnchanged()
    #expect(await Self.failure(path, limit: 2) == .tooLong(path, limit: 2))
  }
}
