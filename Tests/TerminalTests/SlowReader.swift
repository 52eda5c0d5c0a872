import EventLoop
import Glibc

/// The reading end of a pipe or socket, which reads only on request.
@LoopActor
final class SlowReader {
  enum Kind: CaseIterable { case pipe, pipeThatCannotBeReopened, socket }

  let writeEnd: Int32
  private let readEnd: Int32
  private var isClosed = false

  init(_ kind: Kind = .pipe) {
    var ends: [Int32] = [-1, -1]
    if kind == .socket {
      _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    } else {
      _ = unsafe pipe(&ends)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
  }

  isolated deinit {
    close()
    _ = Glibc.close(writeEnd)
  }

  /// Reads the available bytes.
  func read() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe Glibc.read(readEnd, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
    return all
  }

  /// Reads until `count` bytes arrived, one loop turn at a time, up to a hundred thousand turns.
  func read(atLeast count: Int) async throws -> [UInt8] {
    var all: [UInt8] = []
    for _ in 0..<100_000 {
      all += read()
      if all.count >= count { break }
      try await EventLoop.shared.sleep(for: .zero)
    }
    return all
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    _ = Glibc.close(readEnd)
  }

  /// Fills the buffer and returns the number of bytes that fit. Its contents are lost.
  func fill() -> Int {
    let flags = fcntl(writeEnd, F_GETFL)
    _ = fcntl(writeEnd, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(writeEnd, F_SETFL, flags) }
    let zeros = [UInt8](repeating: 0, count: 4096)
    var count = 0
    while case let written = unsafe write(writeEnd, zeros, zeros.count), written > 0 { count += written }
    return count
  }
}
