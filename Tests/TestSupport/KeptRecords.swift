import Foundation

/// The records of all runs of the program with `--json`, for `scripts/check records`: one of each shape.
/// `BLECTL_RECORDS` names the folder for them. Without it, nothing is kept.
final class KeptRecords: @unchecked Sendable {
  static let shared = ProcessInfo.processInfo.environment["BLECTL_RECORDS"].map { KeptRecords(folder: $0) }

  private let lock = NSLock()
  private let path: String
  private var shapes: Set<String> = []
  /// The lines of the file so far, in one piece.
  private var kept = Data()

  /// Each process has a file of its own.
  private init(folder: String) { path = "\(folder)/\(ProcessInfo.processInfo.processIdentifier).jsonl" }

  /// Keeps the lines that are JSON objects, each with the arguments of its run.
  func add(_ output: [UInt8], of arguments: [String]) {
    lock.lock()
    defer { lock.unlock() }
    let before = kept.count
    for line in output.split(separator: UInt8(ascii: "\n")) where line.first == UInt8(ascii: "{") {
      let record = Data(line)
      guard let object = try? JSONSerialization.jsonObject(with: record) else { continue }
      guard shapes.insert(Self.shape(object) + (arguments.contains("--as") ? " --as" : "")).inserted,
        let words = try? JSONSerialization.data(withJSONObject: arguments)
      else { continue }
      kept += Data(#"{"arguments":"#.utf8) + words + Data(#","record":"#.utf8) + record + Data("}\n".utf8)
    }
    if kept.count > before { try? kept.write(to: URL(fileURLWithPath: path)) }
  }

  /// Returns the keys and types of a JSON value. Of a short string without spaces, also the kinds of its characters.
  private static func shape(_ value: Any) -> String {
    switch value {
    case let object as [String: Any]:
      return "{" + object.sorted { $0.key < $1.key }.map { "\($0.key):\($0.key == "event" ? "\($0.value)" : shape($0.value))" }.joined()
        + "}"
    case let array as [Any]: return "[" + Set(array.map(shape)).sorted().joined() + "]"
    case let text as String: return text.utf8.count > 40 || text.contains(" ") ? "text" : "\"\(kinds(of: text))\""
    case let number as NSNumber: return unsafe String(cString: number.objCType)
    default: return "null"
    }
  }

  private static func kinds(of text: String) -> String {
    var kinds = ""
    for character in text {
      let kind: Character = character.isLowercase || character.isNumber ? "a" : character.isLetter ? "A" : character
      if kinds.last != kind { kinds.append(kind) }
    }
    return kinds
  }
}
