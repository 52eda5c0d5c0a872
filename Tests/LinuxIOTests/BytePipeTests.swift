import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

/// Tests input that can be read only once.
@Suite(.timeLimit(.minutes(15))) struct BytePipeTests {
  /// Makes a named pipe whose writer sends `contents` in parts with pauses, then closes.
  @LoopActor private func feed(_ path: TemporaryPath, _ contents: [UInt8], part: Int = 50_000) throws {
    // Short, because virtual time may be slow under load, and the reader's patience is in real time.
    let pause = Duration.milliseconds(1)
    try SystemCall.call { unsafe mkfifo(path.path, 0o600) }
    EventLoop.shared.spawn {
      do {
        // On a busy machine, the reader may open the pipe later.
        var probe: Int32
        repeat {
          try await EventLoop.shared.sleep(for: pause)
          probe = unsafe open(path.path, O_WRONLY | O_NONBLOCK)
        } while probe < 0 && errno == ENXIO
        var writer = try SystemCall.open(path.path, O_WRONLY | O_NONBLOCK)
        close(probe)
        var queue = OutputQueue()
        queue.append(contents)
        while let rest = queue.front {
          do throws(Errno) { queue.removeFirst(try SystemCall.write(writer.rawValue, rest.prefix(part))) } catch {
            // The reader has closed.
            guard error == .wouldBlock else { break }
          }
          try await EventLoop.shared.sleep(for: pause)
        }
        writer.close()
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test(.onLoop, arguments: [1, 65_536, 65_537, 1_500_000]) @LoopActor func isReadToItsEnd(_ count: Int) async throws {
    let path = TemporaryPath()
    let contents = ByteFileTests.contents(count)
    try feed(path, contents)
    let file = try await ByteFile.open(path.path, limit: count, writerWithin: .seconds(3600))
    #expect(file.count == nil)
    #expect(try await ByteFileTests.all(file) == contents)
    #expect(file.count == count)
    #expect(try await file.bytes(at: count, atMost: 10).isEmpty)
    #expect(try await file.crc(upTo: count) == ByteFileTests.crc(contents))
    #expect(file.buffer.count <= 4 * ByteFile.blockSize, "what was released is not kept")
    try file.checkUnchanged()
  }

  @Test(.onLoop) @LoopActor func whatWasNotReleasedIsGivenAgain() async throws {
    let path = TemporaryPath()
    let contents = ByteFileTests.contents(400_000)
    try feed(path, contents)
    let file = try await ByteFile.open(path.path, limit: 1 << 30, writerWithin: .seconds(3600))
    var offset = 0
    while offset < 350_000 {
      offset += try await file.bytes(at: offset, atMost: 500).count
      file.release(before: offset - 100_000)
    }
    #expect(try await ByteFileTests.all(file, from: 250_000) == Array(contents[250_000...]))
    #expect(try await file.crc(upTo: 400_000) == ByteFileTests.crc(contents))
    let passed = await #expect(throws: FileError.self) { try await file.bytes(at: 0, atMost: 1) }
    #expect(passed == .passed(path.path, offset: 0))
    await #expect(throws: FileError.self) { try await file.crc(upTo: 1) }
  }

  @Test(.onLoop) @LoopActor func aMebibyteIsKept() async throws {
    let path = TemporaryPath()
    let contents = ByteFileTests.contents(1_200_000)
    try feed(path, contents)
    let file = try await ByteFile.open(path.path, limit: 1 << 30, writerWithin: .seconds(3600))
    var offset = 0
    let error = await #expect(throws: FileError.self) {
      while true { offset += try await file.bytes(at: offset, atMost: 500).count }
    }
    #expect(error == .keepsNoMore(path.path, limit: 1 << 20))
    #expect(offset > (1 << 20) - 500 && offset <= 1 << 20)
    #expect(file.buffer.count <= 2 << 20)
    #expect(try await file.bytes(at: 0, atMost: 500) == contents[..<500])
    // The read continues in small steps.
    while offset < 1_100_000 {
      file.release(before: offset - (1 << 20) + 1000)
      offset += try await file.bytes(at: offset, atMost: 500).count
    }
    file.release(before: offset)
    #expect(try await ByteFileTests.all(file, from: offset) == Array(contents[offset...]))
    #expect(try await file.crc(upTo: 1_200_000) == ByteFileTests.crc(contents))
    #expect(file.buffer.count <= 2 << 20)
  }

  @Test(.onLoop) @LoopActor func whatIsLeftOutIsNotKept() async throws {
    let path = TemporaryPath()
    let contents = ByteFileTests.contents(2_500_000)
    try feed(path, contents, part: 65_536)
    let file = try await ByteFile.open(path.path, limit: 1 << 30, writerWithin: .seconds(3600))
    file.release(before: 2_400_001)
    #expect(try await ByteFileTests.all(file, from: 2_400_001) == Array(contents[2_400_001...]))
    #expect(try await file.crc(upTo: .max) == ByteFileTests.crc(contents))
    #expect(file.buffer.count <= 4 * ByteFile.blockSize)
  }

  @Test(.onLoop) @LoopActor func theLimitIsAnError() async throws {
    let path = TemporaryPath()
    try feed(path, ByteFileTests.contents(100_000))
    let file = try await ByteFile.open(path.path, limit: 99_999, writerWithin: .seconds(3600))
    let error = await #expect(throws: FileError.self) { try await ByteFileTests.all(file) }
    #expect(error == .tooLong(path.path, limit: 99_999))
  }

  @Test(.onLoop) @LoopActor func waitsForAWriterThatSaysNothingYet() async throws {
    let path = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(path.path, 0o600) }
    #expect(await ByteFileTests.failure(path.path) == .unreadable(path.path, .timedOut))
    let reader = try SystemCall.open(path.path, O_RDONLY | O_NONBLOCK)
    var writer = try SystemCall.open(path.path, O_WRONLY | O_NONBLOCK)
    let idle = Wait<Void>()
    let name = path.path
    let opening = EventLoop.shared.spawn { () -> [UInt8]? in
      let file = try? await ByteFile.open(name, limit: 10, writerWithin: .milliseconds(20)) { idle.resume(returning: ()) }
      return if let file { try? await ByteFileTests.all(file) } else { nil }
    }
    try await idle.value()
    _ = try SystemCall.write(writer.rawValue, [1, 2, 3])
    writer.close()
    #expect(await opening.value == [1, 2, 3])
    _ = reader.rawValue
  }

  @Test(.onLoop) @LoopActor func aWriterThatWritesNothing() async throws {
    let path = TemporaryPath()
    try feed(path, [])
    let file = try await ByteFile.open(path.path, limit: 10, writerWithin: .seconds(3600))
    #expect(file.count == 0)
  }

  /// Ctrl-C ends the wait, before the first bytes and between later ones.
  @Test(.onLoop) @LoopActor func waitingCanBeCancelled() async throws {
    let path = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(path.path, 0o600) }
    let name = path.path
    let deadline = EventLoop.shared.now.advanced(by: .seconds(3))
    #expect(try await withDeadline(deadline) { try await ByteFile.open(name, limit: 10, writerWithin: .seconds(3600)).count } == nil)
    let reader = try SystemCall.open(path.path, O_RDONLY | O_NONBLOCK)
    let writer = try SystemCall.open(path.path, O_WRONLY | O_NONBLOCK)
    _ = try SystemCall.write(writer.rawValue, [1, 2, 3])
    let file = try await ByteFile.open(name, limit: 10)
    #expect(file.buffered(at: 0, atMost: 4) == nil)
    #expect(file.buffered(at: 0, atMost: 3) == [1, 2, 3])
    let more = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(3))) { try await file.bytes(at: 0, atMost: 4).count }
    #expect(more == nil)
    #expect(try await file.bytes(at: 1, atMost: 2) == [2, 3])
    _ = (reader.rawValue, writer.rawValue)
  }
}
