import Glibc
import SystemPackage

/// Reads lines from a descriptor. Reads no data before a caller requests a line.
@LoopActor
package final class LineReader {
  package enum Line: Sendable, Equatable {
    /// A line without its line feed.
    case bytes([UInt8])
    /// A line longer than the limit. The reader skips the whole line.
    case tooLong
  }

  private let descriptor: Int32
  private let name: FileError.Path
  private let limit: Int
  private var buffer: [UInt8] = []
  /// The index in `buffer` where the next line starts. The reader has returned or skipped the bytes before it.
  private var start = 0
  private var searched = 0
  private var isPassing = false
  private var hasEnded = false
  /// Whether a task waits for the next line.
  package private(set) var isWaiting = false

  /// Creates a reader of a descriptor.
  /// - Parameter descriptor: A descriptor that the caller closes.
  /// - Parameter limit: The maximum length of a line in bytes.
  /// - Parameter beginning: The first bytes of the input, which the caller has already read.
  package init(_ descriptor: Int32 = STDIN_FILENO, limit: Int, beginning: [UInt8] = []) {
    self.descriptor = descriptor
    buffer = beginning
    name = nil
    self.limit = limit
  }

  /// Returns the next line, or nil at the end of the input. The last line needs no line feed.
  /// - Throws: FileError or CancellationError.
  package func next() async throws -> Line? {
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return take(upTo: end) }
      searched = buffer.count
      if buffer.count - start > limit {
        isPassing = true
        clear()
      }
      if hasEnded {
        guard isPassing || start < buffer.count else { return nil }
        return take(upTo: buffer.count)
      }
      try await fill()
    }
  }

  private func take(upTo end: Int) -> Line {
    let isTooLong = isPassing || end - start > limit
    let line = isTooLong ? Line.tooLong : .bytes(Array(buffer[start..<end]))
    isPassing = false
    start = min(end + 1, buffer.count)
    searched = start
    if start == buffer.count { clear() }
    return line
  }

  private func clear() {
    buffer.removeAll(keepingCapacity: buffer.count <= 65_536)
    start = 0
    searched = 0
  }

  private func fill() async throws {
    // poll(2) reports regular files and /dev/null as always ready, so they need no other code.
    isWaiting = true
    defer { isWaiting = false }
    _ = try await EventLoop.shared.wait(for: descriptor, .readable)
    var chunk = [UInt8](repeating: 0, count: 65_536)
    do throws(Errno) {
      let count = try SystemCall.read(descriptor, into: &chunk)
      hasEnded = count == 0
      if start > 0 {
        buffer.removeFirst(start)
        searched -= start
        start = 0
      }
      buffer += chunk[..<count]
    } catch .wouldBlock {
    } catch {
      // The terminal hung up, or our process group is not in its foreground.
      throw FileError.unreadable(name, error)
    }
  }
}
