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

  /// A path that nothing has.
  package static func path() -> String { url.appendingPathComponent(UUID().uuidString).path }

  /// The path of a file with these octets.
  package static func file(_ bytes: [UInt8]) throws -> String {
    let path = path()
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }
}
