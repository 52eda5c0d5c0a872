import Bluetooth
import EventLoop
import Glibc

/// Standard input, read without blocking the loop.
@LoopActor
enum StandardInput {
  static nonisolated var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Returns at the end of the input.
  static func untilEnd(_ chunk: @escaping @LoopActor ([UInt8]) throws -> Void) async throws {
    let ended = Wait<Void>()
    // A regular file and /dev/null are always ready to poll(2), so one way serves all.
    let watch = EventLoop.shared.watch(STDIN_FILENO, .readable) { _ in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
      if count > 0 {
        do { try chunk(Array(buffer.prefix(count))) } catch { ended.resume(throwing: error) }
      } else if count == 0 {
        ended.resume(returning: ())
      } else if errno != EINTR, errno != EAGAIN {
        ended.resume(
          throwing: BluetoothError(.input, "standard input could not be read: \(unsafe String(cString: strerror(errno)))", code: Int(errno))
        )
      }
    }
    defer { watch.cancel() }
    try await ended.value()
  }
}
