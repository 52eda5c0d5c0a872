import Foundation

/// The optional folder of vector files read out of other projects: `BLECTL_VECTORS`. They are not part of this repository.
package enum Vectors {
  package static var folder: String? { ProcessInfo.processInfo.environment["BLECTL_VECTORS"] }

  /// - Throws: when the folder is named but the file cannot be read: a named folder must be complete.
  package static func data(_ file: String) throws -> Data? {
    guard let folder else { return nil }
    return try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(file))
  }
}
