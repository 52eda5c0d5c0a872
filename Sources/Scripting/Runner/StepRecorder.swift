import BluetoothLEText
import Presentation
import Scripts

/// A recorder of the result and the received values of the current line of a script.
struct StepRecorder {
  /// The last record of the line's command. Nil if the command has no record.
  private(set) var record: JSONTree?
  private(set) var values: [StepValue] = []
  /// The number of times that the session has shown a value that no line has expected yet. A key is a value's name, a space and its text.
  private var told: [String: Int] = [:]
  /// The maximum number of values that the recorder keeps for one line.
  static let limit = 500

  /// Records a result. Skips an expected value that the session has already shown.
  /// - Parameters:
  ///   - isExpected: Whether an `expect` line received the value.
  ///   - meaning: A function that returns the meaning of the bytes in a record.
  mutating func take(
    _ record: JSONTree, at time: Duration, isCommand: Bool, isExpected: Bool = false, _ meaning: ([UInt8], JSONTree) -> ValueMeaning
  ) {
    if isCommand { self.record = record }
    guard let value = Self.value(record, time, meaning) else { return }
    let key = value.name + " " + value.text
    if isExpected, let count = told[key], count > 0 {
      told[key] = count - 1
    } else {
      if !isExpected { told[key, default: 0] += 1 }
      add(value)
    }
  }

  mutating func add(_ value: StepValue) { if values.count < Self.limit { values.append(value) } }

  /// Returns the value of a characteristic with its text and, if known, its number and unit. Returns nil for a record without a value.
  private static func value(_ record: JSONTree, _ time: Duration, _ meaning: ([UInt8], JSONTree) -> ValueMeaning) -> StepValue? {
    guard let hex = record["value"]?.string, let bytes = Hex.decode(hex) else { return nil }
    let text = ValueText.displayText(bytes, meaning(bytes, record))
    var value = StepValue(name: record["uuid"]?.string ?? "value", at: time, text: text)
    // Prefer a field with a unit: it was measured, unlike flags and counters.
    if case .object(let members)? = record["decoded"]?.kind, case let numbers = members.filter({ number($0.value) != nil }),
      let measured = numbers.first(where: { $0.value["unit"]?.string != nil }) ?? numbers.first
    {
      value.number = number(measured.value)
      value.unit = measured.value["unit"]?.string
    } else if let decoded = record["decoded"] {
      value.number = number(decoded)
    }
    return value
  }

  private static func number(_ tree: JSONTree) -> Double? {
    let tree = tree["value"] ?? tree
    return if case .number(let text) = tree.kind { ScriptNumber(text)?.real } else { nil }
  }
}
