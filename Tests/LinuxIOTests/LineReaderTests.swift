import BluetoothLELinux
import Glibc
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct LineReaderTests {
  /// Returns the lines from a pipe, into which each of `parts` is written after the previous one was read.
  @LoopActor private func lines(_ parts: [String], limit: Int = 10) async throws -> [LineReader.Line] {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    let end = ends[1]
    let reader = LineReader(ends[0], limit: limit)
    let writing = EventLoop.shared.spawn {
      for part in parts {
        let bytes = Array(part.utf8)
        _ = unsafe write(end, bytes, bytes.count)
        // Wait until the reader needs more.
        repeat { await Task.yield() } while !reader.isWaiting && !Task.isCancelled
      }
      close(end)
    }
    var lines: [LineReader.Line] = []
    do { while let line = try await reader.next() { lines.append(line) } } catch {
      writing.cancel()
      throw error
    }
    await writing.value
    close(ends[0])
    return lines
  }

  private func bytes(_ text: String) -> LineReader.Line { .bytes(Array(text.utf8)) }

  @Test(.onLoop) @LoopActor func linesAreCutWhereverTheyArrive() async throws {
    let lines1 = try await lines([])
    #expect(lines1 == [])
    let lines2 = try await lines(["a\nb\n"])
    #expect(lines2 == [bytes("a"), bytes("b")])
    let lines3 = try await lines(["a", "b\n", "\nc"])
    #expect(lines3 == [bytes("ab"), bytes(""), bytes("c")])
    let lines4 = try await lines(["0123456789\n"])
    #expect(lines4 == [bytes("0123456789")])
  }

  @Test(.onLoop) @LoopActor func aLineThatIsTooLongIsPassedOver() async throws {
    let lines5 = try await lines(["0123456789a\nb\n"])
    #expect(lines5 == [.tooLong, bytes("b")])
    let lines6 = try await lines(["0123456789a", "0123456789", "0123456789a", "x\nb"])
    #expect(lines6 == [.tooLong, bytes("b")])
    let lines7 = try await lines(["0123456789abc"])
    #expect(lines7 == [.tooLong])
  }

  @Test(.onLoop) @LoopActor func whoWaitsCanBeCancelled() async throws {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    let reader = LineReader(ends[0], limit: 10)
    await #expect(throws: CancellationError.self) {
      try await race({ _ = try await reader.next() }, { throw CancellationError() })
    }
    for end in ends { close(end) }
  }
}
