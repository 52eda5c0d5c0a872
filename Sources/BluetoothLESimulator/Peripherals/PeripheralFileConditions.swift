// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// Methods that read conditions: an operand with comparisons, or a list of conditions.
extension ExpressionReader {
  private static let comparisons = Condition.Comparison.allCases.map(\.rawValue) + ["matches"]

  func condition(_ entry: FileEntry) throws(FileEntryError) -> Condition {
    if entry.isList { return .all(try conditions(entry)) }
    let members = try entry.members()
    if members.count == 1, let (key, value) = members.first {
      if key == "any" { return .any(try conditions(value)) }
      if key == "not" { return .not(try condition(value)) }
    }
    let kinds = Self.numberKinds + Self.partKinds.filter { !["variable", "parameter"].contains($0.name) }
    let kind = try entry.kind(of: kinds, "a condition", with: Self.partKeys + Self.comparisons)
    var comparisons: [Condition] = []
    for (key, value) in members where Self.comparisons.contains(key) {
      comparisons.append(try isNumber(kind) ? numbers(kind, key, value) : bytes(kind, key, value))
    }
    guard let first = comparisons.first else {
      throw entry.error("Missing comparison. Use \(Self.comparisons.joined(separator: ", ")).")
    }
    return comparisons.count == 1 ? first : .all(comparisons)
  }

  private func conditions(_ entry: FileEntry) throws(FileEntryError) -> [Condition] { try entry.bounded().map(condition) }

  private func isNumber(_ kind: FileEntry.Kind) throws(FileEntryError) -> Bool {
    switch kind.name {
    case "variable": try names.variable(kind.entry).isNumber
    case "parameter": try parameter(kind.entry).0.isNumber
    default: Self.numberKinds.contains { $0.name == kind.name }
    }
  }

  private func numbers(_ kind: FileEntry.Kind, _ key: String, _ value: FileEntry) throws(FileEntryError) -> Condition {
    for cut in ["from", "octets"] { if let entry = kind.fields[cut] { throw entry.error("\"\(cut)\" needs bytes, not a number.") } }
    guard let comparison = Condition.Comparison(rawValue: key) else { throw value.error("\"matches\" compares bytes, not numbers.") }
    return .number(try number(kind), comparison, try number(value))
  }

  private func bytes(_ kind: FileEntry.Kind, _ key: String, _ value: FileEntry) throws(FileEntryError) -> Condition {
    let operand = Template(parts: try parts(kind))
    switch key {
    case "is", "is_not": return .bytes(operand, isEqual: key == "is", try template(value))
    case "matches": return .matches(operand, try pattern(value))
    default: throw value.error("\"\(key)\" compares numbers. To convert bytes: {\"number\": {…}, \"as\": \"u16le\"}")
    }
  }

  func pattern(_ entry: FileEntry) throws(FileEntryError) -> Reaction.Pattern {
    let text = try entry.string()
    guard let pattern = Reaction.Pattern(text) else {
      throw entry.error("Invalid pattern \(DisplayText.quote(text)). Use hex digits, ?? for any byte, and a final * for any rest.")
    }
    return pattern
  }
}
