import Glibc
import LinuxIO

/// A path of its own, removed at the end.
package final class TemporaryPath: Sendable {
  package let path = "/tmp/blectl-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

  deinit { unsafe unlink(path) }

  package init() {}

  package func write(_ contents: [UInt8]) throws {
    let file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    var rest = contents[...]
    while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
  }
}
