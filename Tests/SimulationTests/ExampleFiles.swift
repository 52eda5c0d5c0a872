import Foundation

@testable import Simulation

/// The files of man/examples.
enum ExampleFiles {
  static let all = ["challenge-lock.json", "wristband.json"]
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("man/examples")

  static func read(_ name: String) throws -> PeripheralDescription {
    let file = folder.appendingPathComponent(name)
    return try PeripheralFile.parse(Array(Data(contentsOf: file)), name: name)[0]
  }
}
