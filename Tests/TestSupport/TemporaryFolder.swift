import Foundation
import Glibc

/// The folder of this test run, removed when the process ends.
package enum TemporaryFolder {
  static let url: URL = {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("blectl-tests-\(getpid())")
    try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: TemporaryFolder.url) }
    return url
  }()

  /// This process's environment, with temporary folders in place of the user's.
  static let environment: [String: String] = {
    let home = url.appendingPathComponent("home")
    try? FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    return ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("XDG_") }.merging(["HOME": home.path, "TMPDIR": url.path]) { $1 }
  }()

  /// Returns an unused path.
  package static func path() -> String { url.appendingPathComponent(String(UInt64.random(in: 0...UInt64.max), radix: 36)).path }

  /// Writes a file with these bytes and returns its path.
  package static func file(_ bytes: [UInt8]) throws -> String {
    let path = path()
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Writes a text file and returns its path.
  package static func file(_ text: String) throws -> String { try file(Array(text.utf8)) }
}
