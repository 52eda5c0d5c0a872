import Foundation

/// What is given hostile input: it may refuse it, and must neither trap nor take long.
struct FuzzTarget: Sendable {
  let name: String
  /// Files that are good input; below the repository.
  let seeds: [[UInt8]]
  let words: [String]
  let run: @Sendable ([UInt8]) -> Void

  /// All files of a folder with one of these endings.
  static func files(_ folder: String, _ endings: [String]) -> [[UInt8]] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let url = root.appendingPathComponent(folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.sorted().filter { name in endings.contains { name.hasSuffix($0) } }
      .compactMap { try? Array(Data(contentsOf: url.appendingPathComponent($0))) }
  }
}
