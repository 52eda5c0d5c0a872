import Foundation

/// The output of a program so far, for threads that wait for it.
final class Collected: @unchecked Sendable {
  private let condition = NSCondition()
  private var out: [UInt8] = []
  private var err: [UInt8] = []
  private var open: Int
  private var seen = 0

  /// - Parameter streams: The number of streams. `end` is called for each.
  init(streams: Int = 2) { open = streams }

  var all: ([UInt8], [UInt8]) {
    condition.lock()
    defer { condition.unlock() }
    return (out, err)
  }

  func add(_ bytes: [UInt8], isError: Bool) {
    condition.lock()
    if isError { err += bytes } else { out += bytes }
    condition.broadcast()
    condition.unlock()
  }

  func end() {
    condition.lock()
    open -= 1
    condition.broadcast()
    condition.unlock()
  }

  /// - Returns: False if all streams ended or the time limit passed first.
  func wait(for holds: ([UInt8], [UInt8]) -> Bool) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let deadline = Date(timeIntervalSinceNow: HangGuard.seconds)
    while true {
      if holds(out, err) { return true }
      if open == 0 || !condition.wait(until: deadline) { return false }
    }
  }

  func nextLine(until deadline: Date) -> String? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let end = out[seen...].firstIndex(of: 10) {
        defer { seen = end + 1 }
        return String(decoding: out[seen..<end], as: UTF8.self)
      }
      if open == 0 || !condition.wait(until: deadline) { return nil }
    }
  }
}
