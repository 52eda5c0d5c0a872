package import Foundation

/// Files of test vectors.
package enum Vectors {
  /// The optional folder of vectors read out of other projects, which are not part of this repository: `BLECTL_VECTORS`. What needs it is a test of its
  /// own with the trait `.enabled(if: Vectors.folder != nil, …)`, so that a run without it says what it left out.
  package static var folder: String? { ProcessInfo.processInfo.environment["BLECTL_VECTORS"] }

  package struct NotNamed: Error {}

  /// - Throws: when the file cannot be read: a named folder must be complete.
  package static func data(_ file: String) throws -> Data {
    guard let folder else { throw NotNamed() }
    return try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(file))
  }

  /// One of ours, from Tests/Vectors.
  package static func own(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(file))) }

  package static func path(_ file: String) -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return tests.appendingPathComponent("Vectors").appendingPathComponent(file).path
  }
}
