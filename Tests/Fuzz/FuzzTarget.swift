import Foundation
import Text

/// What is given hostile input: it may refuse it, and must neither trap nor take long, nor break its word (`expect`).
struct FuzzTarget: Sendable {
  let name: String
  /// Files that are good input; below the repository.
  let seeds: [[UInt8]]
  let words: [String]
  let run: @Sendable ([UInt8]) -> Void

  /// - Parameters:
  ///   - seeds: good input; what is in the corpus comes besides.
  ///   - words: what the language has words for.
  init(_ name: String, seeds: [[UInt8]] = [], words: [String] = [], run: @escaping @Sendable ([UInt8]) -> Void) {
    (self.name, self.seeds, self.words, self.run) = (name, seeds, words, run)
  }

  /// What fuzzing found before: `scripts/fuzz --corpus`.
  var kept: [[UInt8]] {
    Self.files("Tests/Fuzz/Corpus", ["\(name).hex"]).flatMap { $0.split(separator: UInt8(ascii: "\n")) }
      .compactMap { Hex.decode(String(decoding: $0, as: UTF8.self)) }
  }

  /// All files of a folder with one of these endings.
  static func files(_ folder: String, _ endings: [String]) -> [[UInt8]] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let url = root.appendingPathComponent(folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.sorted().filter { name in endings.contains { name.hasSuffix($0) } }
      .compactMap { try? Array(Data(contentsOf: url.appendingPathComponent($0))) }
  }

  /// The words as libFuzzer wants them.
  var dictionary: String {
    words.map { word in "\"" + word.utf8.map { "\\x" + Hex.encode([$0]) }.joined() + "\"\n" }.joined()
  }
}

/// Ends the process, which libFuzzer notes, when something does not hold.
func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
  if holds { return }
  FileHandle.standardError.write(Data("broken: \(what())\n".utf8))
  abort()
}
