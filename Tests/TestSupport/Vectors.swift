package import Foundation

/// Files of test vectors.
package enum Vectors {
  /// The optional folder of other projects' vectors, which are not in this repository: `BLECTL_VECTORS`.
  /// Tests that need it use the trait `.enabled(if: Vectors.folder != nil, …)`, so that a run without it lists what it skipped.
  package static var folder: String? { ProcessInfo.processInfo.environment["BLECTL_VECTORS"] }

  package struct NotNamed: Error {}

  /// - Throws: If the file cannot be read. A given folder must be complete.
  package static func data(_ file: String) throws -> Data {
    guard let folder else { throw NotNamed() }
    return try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(file))
  }

  /// Reads one of our own files in Tests/Vectors.
  package static func own(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(file))) }

  package static func path(_ file: String) -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return tests.appendingPathComponent("Vectors").appendingPathComponent(file).path
  }
}
