import BluetoothLE
import BluetoothLEText
import Foundation

/// Code that takes hostile input. It may refuse an input. It must not trap, take long or break a promise (`expect`).
struct FuzzTarget: Sendable {
  let name: String
  /// Valid inputs.
  let seeds: [[UInt8]]
  /// The words of the input's language, for libFuzzer.
  let words: [String]
  /// Processes one input on the event loop.
  let run: @LoopActor @Sendable ([UInt8]) async -> Void

  static let all: [FuzzTarget] = [
    .h4, .l2cap, .initiator, .responder, .att, .bearer, .client, .server, .host, .controller, .credits, .advertisement, .value, .words,
    .json, .lines, .arguments,
    .script, .expression, .predicate, .device, .packets, .peripheral, .control, .served, .recording, .replay, .trace, .packed, .cbor,
    .firmwareImage,
    .hexFile, .zipArchive, .manifest, .initPacket, .management, .dfu,
  ]

  init(_ name: String, seeds: [[UInt8]] = [], words: [String] = [], run: @escaping @LoopActor @Sendable ([UInt8]) async -> Void) {
    (self.name, self.seeds, self.words, self.run) = (name, seeds, words, run)
  }

  /// Inputs that an earlier run found: see `scripts/fuzz --corpus`.
  var kept: [[UInt8]] {
    Self.files("Tests/Fuzz/Corpus", ["\(name).hex"]).flatMap { $0.split(separator: UInt8(ascii: "\n")) }
      .compactMap { Hex.decode(String(decoding: $0, as: UTF8.self)) }
  }

  /// Reads all files of a folder with one of these extensions.
  static func files(_ folder: String, _ endings: [String]) -> [[UInt8]] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let url = root.appendingPathComponent(folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.sorted().filter { name in endings.contains { name.hasSuffix($0) } }
      .compactMap { try? Array(Data(contentsOf: url.appendingPathComponent($0))) }
  }

  /// The words in libFuzzer's dictionary format.
  var dictionary: String {
    words.map { word in "\"" + word.utf8.map { "\\x" + Hex.encode([$0]) }.joined() + "\"\n" }.joined()
  }
}
