import Glibc
import SystemPackage

/// Reads standard input without blocking the loop.
@LoopActor
package enum StandardInput {
  /// Whether standard input is a pipe, a socket or a file, not a terminal or /dev/null.
  package static nonisolated var isFed: Bool { kind.map { [S_IFIFO, S_IFREG, S_IFSOCK].contains($0) } ?? false }

  package static nonisolated var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  package static nonisolated var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Discards what the user has typed on the terminal so far.
  package static nonisolated func discard() { tcflush(STDIN_FILENO, TCIFLUSH) }

  package static nonisolated var isPipe: Bool { kind == S_IFIFO }

  /// Whether standard input is a regular file. All of its input then exists already.
  package static nonisolated var isFile: Bool { kind == S_IFREG }

  private static nonisolated var kind: mode_t? { try? SystemCall.status(STDIN_FILENO).kind }

  /// Starts a task that calls `tell` after two seconds of real time, unless the caller cancels it.
  static func idleTimer(_ tell: @escaping @LoopActor @Sendable () -> Void) -> Task<Void, Never> {
    EventLoop.shared.spawn { if (try? await RealTime.sleep(milliseconds: 2000)) != nil { tell() } }
  }

  /// Waits for the first input and returns it, at most 64 KiB. Returns no bytes at the end of the input.
  /// - Parameter whenIdle: The callback if no data arrives within two seconds of real time.
  /// - Throws: FileError or CancellationError.
  package static func beginning(whenIdle: @escaping @LoopActor @Sendable () -> Void) async throws -> [UInt8] {
    let idling = idleTimer(whenIdle)
    defer { idling.cancel() }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      _ = try await EventLoop.shared.wait(for: STDIN_FILENO, .readable)
      do throws(Errno) {
        let count = try SystemCall.read(STDIN_FILENO, into: &buffer)
        return Array(buffer[..<count])
      } catch .wouldBlock {
        continue
      } catch {
        throw FileError.unreadable(nil, error)
      }
    }
  }
}
