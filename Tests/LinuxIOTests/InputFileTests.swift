import BluetoothLELinux
import Glibc
import SystemPackage
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct InputFileTests {
  @Test(.onLoop) @LoopActor func readsAWholeFile() async throws {
    let file = TemporaryPath()
    let contents = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    try file.write(contents)
    #expect(try await InputFile.read(file.path, limit: 200_000) == contents)
    #expect(await failure(file.path, limit: 199_999) == .tooLong(file.path, limit: 199_999))
  }

  @Test(.onLoop) @LoopActor func anEmptyFileIsEmpty() async throws {
    let file = TemporaryPath()
    try file.write([])
    #expect(try await InputFile.read(file.path, limit: 10) == [])
  }

  /// The stated size is not trusted: a sparse file of a tebibyte, an endless file, and a file of size 0 with contents.
  @Test(.onLoop) @LoopActor func theStatedSizeIsNotTrusted() async throws {
    let file = TemporaryPath()
    try file.write([])
    try SystemCall.call { unsafe truncate(file.path, 1 << 40) }
    #expect(await failure(file.path, limit: 1000) == .tooLong(file.path, limit: 1000))
    #expect(await failure("/dev/zero", limit: 100_000) == .tooLong("/dev/zero", limit: 100_000))
    #expect(try await InputFile.read("/proc/self/status", limit: 100_000).count > 100)
  }

  @Test(.onLoop) @LoopActor func pipesAreReadToTheirEnd() async throws {
    let file = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(file.path, 0o600) }
    let contents = [UInt8](repeating: 7, count: 150_000)
    var queue = OutputQueue()
    queue.append(contents)
    let reading = EventLoop.shared.spawn { () async -> Result<[UInt8], any Error> in
      do {
        return .success(try await InputFile.read(file.path, limit: 1_000_000, writerWithin: .seconds(3600)))
      } catch { return .failure(error) }
    }
    // The reader waits for a writer without blocking the loop. Then the writer is slower than the reader.
    try await EventLoop.shared.sleep(for: .seconds(1))
    var writer = try SystemCall.open(file.path, O_WRONLY | O_NONBLOCK)
    while let part = queue.front {
      if let count = try? SystemCall.write(writer.rawValue, part.prefix(10_000)) { queue.removeFirst(count) }
      try await EventLoop.shared.sleep(for: .seconds(1))
    }
    writer.close()
    #expect(try await reading.value.get() == contents)
  }

  @Test(.onLoop) @LoopActor func waitingForAPipeCanBeCancelled() async throws {
    let file = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(file.path, 0o600) }
    let path = file.path
    let contents = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(3))) {
      try await InputFile.read(path, limit: 10, writerWithin: .seconds(3600))
    }
    #expect(contents == nil)
  }

  @Test(.onLoop) @LoopActor func aPipeWithoutAWriterHasALimit() async throws {
    let file = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(file.path, 0o600) }
    let path = file.path
    await #expect(throws: FileError.unreadable(path, .timedOut)) {
      try await InputFile.read(path, limit: 10, writerWithin: .milliseconds(20))
    }
    // A slow writer that has the pipe open is waited for.
    let reader = try SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    var writer = try SystemCall.open(path, O_WRONLY | O_NONBLOCK)
    let reading = EventLoop.shared.spawn { () async -> [UInt8]? in
      try? await InputFile.read(path, limit: 10, writerWithin: .milliseconds(20))
    }
    try await RealTime.sleep(milliseconds: 100)
    _ = try SystemCall.write(writer.rawValue, [1, 2, 3])
    writer.close()
    #expect(await reading.value == [1, 2, 3])
    _ = reader.rawValue
  }

  @Test(.onLoop) @LoopActor func refusals() async throws {
    let long = "/tmp/\(String(repeating: "x", count: 300))"
    #expect(await failure("/tmp", limit: 10) == .unreadable("/tmp", .isDirectory))
    #expect(await failure("/no/such/file", limit: 10) == .unreadable("/no/such/file", .noSuchFileOrDirectory))
    #expect(await failure(long, limit: 10) == .unreadable(long, .fileNameTooLong))
    let file = TemporaryPath()
    let socket = try SystemCall.socket(AF_UNIX, SOCK_STREAM)
    try SystemCall.bind(socket.rawValue, try #require(SocketAddress.unix(file.path)))
    #expect(await failure(file.path, limit: 10) == .unreadable(file.path, .noSuchAddressOrDevice))
  }

  @LoopActor private func failure(_ path: String, limit: Int) async -> FileError? {
    do { _ = try await InputFile.read(path, limit: limit) } catch { return error as? FileError }
    return nil
  }
}
