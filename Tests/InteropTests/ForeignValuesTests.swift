import Foundation
import TestSupport

/// Compares our decoding of characteristics with `bluetooth-sig` from PyPI, an independent decoder.
@Suite(.timeLimit(.minutes(15))) struct ForeignValuesTests {
  @Test func characteristicsMeanWhatTheyMeanToAnother() throws {
    let python = try #require(
      ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "scripts/parts/interop-python prints what BLECTL_PYTHON is to be")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("foreign_values.py").path
    var lines = Self.scales()
    // The package does not decode declarations.
    let all = CharacteristicDescription.all.filter { $0.short ?? 0 >= 0x2900 }
    for uuid in all {
      let description = try #require(CharacteristicDescription(uuid))
      for value in ValueCases(description, seed: uuid.high).values { lines.append(Self.line(uuid, description, value)) }
    }
    let result = try RunningProcess.run([python, script], input: Array((lines.joined(separator: "\n") + "\n").utf8))
    #expect(result.status == 0, "\(result.errors)")

    var explained: Set<String> = []
    for difference in ForeignDifference.all { for uuid in difference.uuids { explained.insert("\(uuid) \(difference.kind)") } }
    var found: Set<String> = []
    var cases: [Int] = []
    var values = 0
    for words in result.lines.map({ $0.split(separator: " ", maxSplits: 4).map(String.init) }) {
      if words.count == 4, words[0] == "cases", let count = Int(words[2]), let compared = Int(words[3]) {
        cases.append(count)
        values += compared
      }
      guard words.count == 5, words[0] == "differs" else { continue }
      let difference = "\(words[1]) \(words[2])"
      found.insert(difference)
      if !explained.contains(difference) { Issue.record("not explained: \(difference), \(words[3]) case(s): \(words[4])") }
    }
    for difference in explained.subtracting(found).sorted() { Issue.record("explained, but no difference any more: \(difference)") }
    #expect(cases.count == all.count)
    #expect(cases.allSatisfy { $0 >= 5 } && cases.reduce(0, +) > 15_000 && values > 20_000, "\(cases) \(values)")
    let none = ForeignDifference.all.filter { $0.kind == "no-decoder" }.flatMap(\.uuids)
    print(
      "bluetooth-sig: \(cases.count) characteristics and descriptors, \(cases.reduce(0, +)) cases, \(values) values, \(explained.count) explained differences; "
        + "without a decoder \(none.count): \(none.joined(separator: " "))")
  }

  /// Returns the scales as `scale UUID KEY FACTOR`.
  private static func scales() -> [String] {
    ForeignDifference.all.flatMap { difference -> [String] in
      guard difference.kind.hasPrefix("scale:") else { return [] }
      let parts = difference.kind.dropFirst(6).split(separator: "=")
      return difference.uuids.map { "scale \($0) \(parts[0]) \(parts[1])" }
    }
  }

  /// Returns a line for foreign_values.py, in the form that it documents.
  private static func line(_ uuid: BluetoothLE.UUID, _ description: CharacteristicDescription, _ value: [UInt8]) -> String {
    let start = "\(uuid)\t\(Hex.encode(value))\t"
    do throws(ValueMismatch) {
      return start + (["ok"] + (try description.decode(value)).fields.flatMap(fields)).joined(separator: "\t")
    } catch {
      return start + "\(error)".prefix { $0 != "(" }
    }
  }

  private static func fields(_ field: DecodedField) -> [String] {
    var texts = ["\(field.key)=\(text(field.content)):\(field.unit ?? "")"]
    if case .flags(_, let flags) = field.content {
      for flag in flags { texts.append("\(field.key).\(AssignedNumbers.snake(flag.name))=P:\(flag.value):") }
    }
    return texts
  }

  private static func text(_ content: DecodedField.Content) -> String {
    switch content {
    case .number(let number): "N:\(number)"
    case .numbers(let numbers): "A:\(numbers.map(\.description).joined(separator: " "))"
    case .real(let number): "N:\(number.isNaN ? "nan" : "\(number)")"
    case .choice(let raw, _): "C:\(raw)"
    case .noNumber: "X:"
    case .flags(let value, _): "F:\(value)"
    case .text(let text): "T:\(Hex.encode(Array(text.utf8)))"
    case .uuid(let uuid): "U:\(uuid)"
    case .date(let date): "D:\(date.replacingOccurrences(of: ":", with: ""))"
    case .bytes(let bytes): "O:\(Hex.encode(bytes))"
    case .identifier(let bytes): "O:\(Hex.encode(bytes.reversed()))"
    }
  }
}
