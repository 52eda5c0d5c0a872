package import BluetoothLEText

/// A condition for a value in a script, such as `== 0100` or `in 60..100`.
package indirect enum Predicate: Sendable {
  case compares(Comparison, [ShellWord])
  case range(ShellWord)
  case has(Place, [ShellWord])
  case matches(RegularExpression)
  case length(Predicate)
  case isOf(ShellWord)

  package enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case atMost = "<="
    case greater = ">"
    case atLeast = ">="
  }

  /// The place in a value where a predicate looks for bytes or text.
  package enum Place: String, Sendable, CaseIterable {
    case starts, ends, contains, lacks

    func holds<T: Equatable>(_ all: [T], _ part: [T]) -> Bool {
      switch self {
      case .starts: all.starts(with: part)
      case .ends: all.suffix(part.count).elementsEqual(part)
      case .contains: all.contains(part)
      case .lacks: !all.contains(part)
      }
    }
  }

  /// The words that start a predicate, such as `==` and `matches`.
  package static let words = Comparison.allCases.map(\.rawValue) + ["in"] + Place.allCases.map(\.rawValue) + ["matches", "length", "is"]

  /// The words that `is` accepts in addition to the names of formats.
  package static let sorts = ["number", "text", "true", "false", "null", "empty"]
}

extension Predicate {
  /// The words of the predicate that may contain variables.
  package var operands: [ShellWord] {
    switch self {
    case .compares(_, let words), .has(_, let words): words
    case .range(let word), .isOf(let word): [word]
    case .matches: []
    case .length(let predicate): predicate.operands
    }
  }
}

/// A mistake in a predicate that makes the predicate fail for every value.
package struct PredicateMistake: Error, Equatable { package let reason: String }

extension Predicate {
  package enum Verdict: Sendable, Equatable {
    case holds
    /// The condition does not hold. The reason is nil if the value itself shows the reason.
    case fails(String?)

    fileprivate init(_ holds: Bool) { self = holds ? .holds : .fails(nil) }
  }

  /// The operand of a predicate: the words after the operator as one text.
  private struct Operand {
    let text: String
    let isQuoted: Bool

    init<E: Error>(_ words: [ShellWord], _ replaced: (ShellWord) throws(E) -> String) throws(E) {
      text = try words.map(replaced).joined(separator: " ")
      isQuoted = words.contains(where: \.isQuoted)
    }
  }

  /// Checks the condition for a value.
  /// - Parameter replaced: A function that returns the text of a word, in which values replace variables.
  /// - Throws: PredicateMistake; the errors of `replaced`.
  package func verdict(on value: ScriptValue, _ replaced: (ShellWord) throws -> String) throws -> Verdict {
    switch self {
    case .compares(let comparison, let words): return try compare(value, comparison, try Operand(words, replaced))
    case .range(let word):
      let text = try replaced(word)
      let ends = text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard ends.count == 2, let least = ScriptNumber(ends[0]), let most = ScriptNumber(ends[1]) else {
        throw PredicateMistake(reason: Self.invalidRange(text))
      }
      // Other languages write 1...5.
      if ends[1].hasPrefix(".") { throw PredicateMistake(reason: Self.invalidRange(text)) }
      guard ScriptNumber.compare(least, most, .atMost) else {
        throw PredicateMistake(reason: "Invalid range \(DisplayText.quote(text)). Put the smaller number first.")
      }
      guard let numbers = try Self.numbers(of: value, "in") else { return Self.noNumber(value) }
      return Verdict(numbers.allSatisfy { ScriptNumber.compare($0, least, .atLeast) && ScriptNumber.compare($0, most, .atMost) })
    case .has(let place, let words): return try has(place, value, try Operand(words, replaced))
    // Bytes without a format are hex, even if they happen to be text.
    case .matches(let expression): return Verdict(expression.matches(value.text))
    case .length(let predicate):
      if case .compares(_, let words) = predicate, case let operand = try Operand(words, replaced), ScriptNumber(operand.text) == nil {
        throw PredicateMistake(reason: "A length is a number, not \(DisplayText.quote(operand.text)).")
      }
      guard let length = Self.length(of: value) else { return .fails("it has no length") }
      return try predicate.verdict(on: .field(JSONTree(kind: .number("\(length)"), line: 0)), replaced)
    case .isOf(let word): return try isOf(try replaced(word), value)
    }
  }

  // MARK: Numbers

  static func invalidRange(_ text: String) -> String {
    let ends = text.replacing("...", with: "-").split(separator: "-").map(String.init)
    let isMeant = ends.count == 2 && ends.allSatisfy { ScriptNumber($0) != nil }
    return "Invalid range \(DisplayText.quote(text)). Use two dots: in \(isMeant ? "\(ends[0])..\(ends[1])" : "60..100")"
  }

  private static func numbers(of value: ScriptValue, _ operation: String) throws -> [ScriptNumber]? {
    switch value {
    case .bytes, .formatted(_, .hex), .formatted(_, .base64), .formatted(_, .auto), .formatted(_, .utf8):
      throw PredicateMistake(reason: "`\(operation)` compares numbers. Add the format of a number: `as u8`, `as i16le`")
    case .formatted, .field: return value.numbers
    }
  }

  private static func noNumber(_ value: ScriptValue) -> Verdict {
    switch value {
    case .formatted(_, let format): .fails("it does not fit \(format.name)")
    case .bytes, .field: .fails("it is not a number")
    }
  }

  // MARK: Comparing

  private func compare(_ value: ScriptValue, _ comparison: Comparison, _ operand: Operand) throws -> Verdict {
    if comparison != .equal, comparison != .unequal {
      guard let limit = ScriptNumber(operand.text) else {
        throw PredicateMistake(reason: "`\(comparison.rawValue)` needs a number, not \(DisplayText.quote(operand.text)).")
      }
      guard let numbers = try Self.numbers(of: value, comparison.rawValue) else { return Self.noNumber(value) }
      return Verdict(numbers.allSatisfy { ScriptNumber.compare($0, limit, comparison) })
    }
    guard let isEqual = try equals(value, operand) else { return Self.misfit(value, operand) }
    return Verdict(isEqual == (comparison == .equal))
  }

  /// Returns the numbers in the operand. Returns nil if the format is not numeric.
  private static func numbers(_ operand: Operand, _ format: ValueFormat) throws -> [ScriptNumber]? {
    guard format.numberBytes != nil else { return nil }
    return (format.numbers(try bytes(operand, format)) ?? []).compactMap(ScriptNumber.init)
  }

  /// Returns whether a value equals the operand. Returns nil if the value does not fit its format.
  private func equals(_ value: ScriptValue, _ operand: Operand) throws -> Bool? {
    switch value {
    case .bytes(let bytes): return bytes == (try Self.bytes(operand, .auto))
    case .formatted(let bytes, .utf8):
      guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
      return DisplayText.withoutTrailingNULs(bytes).elementsEqual(operand.text.utf8)
    case .formatted(let bytes, let format):
      guard let wanted = try Self.numbers(operand, format) else { return bytes == (try Self.bytes(operand, format)) }
      guard let numbers = value.numbers else { return nil }
      // 0 equals -0.
      return numbers.elementsEqual(wanted) { ScriptNumber.compare($0, $1, .equal) }
    case .field(let tree): return Self.equals(tree, operand)
    }
  }

  private static func misfit(_ value: ScriptValue, _ operand: Operand) -> Verdict {
    guard case .field(let tree) = value else { return noNumber(value) }
    return .fails("it is \(tree.noun), but \(DisplayText.quote(operand.text)) is not")
  }

  /// Returns whether a field equals the operand. Returns nil if the field is a number and the operand is not.
  private static func equals(_ tree: JSONTree, _ operand: Operand) -> Bool? {
    switch tree.kind {
    case .number(let text):
      guard let one = ScriptNumber(text), let other = ScriptNumber(operand.text) else { return nil }
      return ScriptNumber.compare(one, other, .equal)
    case .array, .object, .string, .null, .bool: return ScriptValue.field(tree).text == operand.text
    }
  }

  /// Parses the operand as bytes in a format.
  /// - Throws: PredicateMistake.
  private static func bytes(_ operand: Operand, _ format: ValueFormat) throws -> [UInt8] {
    if operand.isQuoted, format == .auto { return Array(operand.text.utf8) }
    do { return try format.parse(operand.text) } catch {
      let hint = format == .auto ? ". Put text in quotes. Numbers need a format: as u8" : ""
      throw PredicateMistake(reason: "\(error)\(hint)")
    }
  }

  // MARK: Parts

  private func has(_ place: Place, _ value: ScriptValue, _ operand: Operand) throws -> Verdict {
    // Every value contains the empty text: a variable is probably empty by mistake.
    guard !operand.text.isEmpty else { throw PredicateMistake(reason: "The text to look for is empty.") }
    switch value {
    case .bytes(let all): return Verdict(place.holds(all, try Self.bytes(operand, .auto)))
    case .formatted(let all, .utf8): return Verdict(place.holds(Array(DisplayText.withoutTrailingNULs(all)), Array(operand.text.utf8)))
    case .formatted(let all, let format):
      // Compare whole numbers: a match must not start inside one.
      guard let wanted = try Self.numbers(operand, format) else { return Verdict(place.holds(all, try Self.bytes(operand, format))) }
      guard let numbers = value.numbers else { return Self.noNumber(value) }
      return Verdict(place.holds(numbers, wanted))
    case .field(let tree):
      switch (tree.kind, place) {
      case (.string(let text), _): return Verdict(place.holds(Array(text), Array(operand.text)))
      case (.array(let items), .contains), (.array(let items), .lacks):
        let matches = items.map { Self.equals($0, operand) }
        if place == .contains || matches.contains(true) { return Verdict(matches.contains(true) == (place == .contains)) }
        return matches.contains(nil) ? .fails("it has numbers, but \(DisplayText.quote(operand.text)) is not a number") : .holds
      default: return .fails("it is \(tree.noun), not text")
      }
    }
  }

  // MARK: Others

  private static func length(of value: ScriptValue) -> Int? {
    switch value {
    case .formatted(let bytes, .utf8): DisplayText.withoutTrailingNULs(bytes).count
    case .bytes(let bytes), .formatted(let bytes, _): bytes.count
    case .field(let tree):
      switch tree.kind {
      case .string(let text): text.count
      case .array(let items): items.count
      case .object(let members): members.count
      case .null, .bool, .number: nil
      }
    }
  }

  private func isOf(_ sort: String, _ value: ScriptValue) throws -> Verdict {
    switch (sort, value) {
    case ("empty", _): return Verdict(Self.length(of: value) == 0)
    case ("number", .bytes), ("number", .formatted): return Verdict(value.numbers != nil)
    case ("text", .bytes(let bytes)), ("text", .formatted(let bytes, _)):
      return Verdict(DisplayText.isPrintable(DisplayText.withoutTrailingNULs(bytes)))
    case ("number", .field(let tree)): return Verdict(tree.noun == "a number")
    case ("text", .field(let tree)): return Verdict(tree.string != nil)
    case ("true", _), ("false", _), ("null", _):
      guard case .field(let tree) = value else { return .fails("it is bytes") }
      return Verdict(tree.string == nil && value.text == sort)
    default: break
    }
    let format: ValueFormat
    do { format = try ValueFormat(sort) } catch { throw PredicateMistake(reason: "\(error)") }
    switch value {
    case .bytes(let bytes), .formatted(let bytes, _):
      if let width = format.numberBytes { return Verdict(!bytes.isEmpty && bytes.count.isMultiple(of: width)) }
      return Verdict(format != .utf8 || String(validating: bytes, as: UTF8.self) != nil)
    case .field(let tree):
      guard let text = tree.string ?? (value.numbers == nil ? nil : value.text) else { return .fails("it is \(tree.noun)") }
      return Verdict((try? format.parse(text)) != nil)
    }
  }
}
