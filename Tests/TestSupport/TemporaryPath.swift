import BluetoothLE
import Foundation
import Glibc

/// A unique path in the temporary folder, removed at the end. It is short: a socket's path has at most 107 bytes.
package final class TemporaryPath: Sendable {
  package let path = TemporaryFolder.url.appendingPathComponent(
    "blectl-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
  ).path

  deinit { unsafe unlink(path) }

  package init() {}

  package func write(_ contents: [UInt8]) throws {
    let file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    var rest = contents[...]
    while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
  }
}
