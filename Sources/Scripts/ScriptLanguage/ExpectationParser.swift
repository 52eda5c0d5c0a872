import BluetoothLEText

/// A parser that turns the words after `expect` into a statement.
struct ExpectationParser {
  private let line: ScriptLine
  private var words: ArraySlice<ShellWord>

  init(_ line: ScriptLine) {
    self.line = line
    words = line.words.dropFirst().dropLast(line.endsInWarning ? 2 : 0)
  }

  mutating func parsed() throws(ScriptError) -> ScriptStatement.Kind {
    guard let first = words.first else {
      throw line.error(
        "`expect` needs a condition: `expect == 0100`, `expect ffe2 == \"OPEN\" within 2s`, `expect no ffe2`, `expect service 180d`, `expect disconnect`"
      )
    }
    let within = try takeTime()
    switch first.keyword {
    case "no":
      words = words.dropFirst()
      if let security = try takeSecurity(within, isAbsent: true) { return security }
      if let sort = takeSort() { return .expectAttribute(try attribute(sort, within, isAbsent: true)) }
      if words.first?.keyword == "peripheral" { return .expectPeripheral(try central(within, isAbsent: true)) }
      guard let attribute = words.popFirst() else {
        throw line.error(at: first, "`expect no` needs a characteristic: expect no ffe2 within 1s")
      }
      try nothingMore()
      return .expectSilence(attribute, within: within)
    case "peripheral": return .expectPeripheral(try central(within, isAbsent: false))
    case "disconnect":
      words = words.dropFirst()
      let reason = words.popFirst()
      try nothingMore()
      return .expectDisconnection(reason: reason, within: within)
    case let word? where word == "as" || word == "field" || Predicate.words.contains(word):
      let extraction = try takeExtraction()
      guard let predicate = try takePredicate() else { throw line.error("The condition is missing: expect as u8 == 5") }
      if let within { throw line.error(at: within, "`within` waits for new values and needs a characteristic: expect ATTR …") }
      return .expectResult(extraction, predicate)
    case let word? where word == "=" || ValueFormat.names.contains(word): throw unknown(first)
    case "not":
      let isCondition = words.dropFirst().first?.keyword.map(Predicate.words.contains) ?? true
      let rest = words.dropFirst().compactMap(\.text).joined(separator: " ")
      throw line.error(at: first, isCondition ? "There is no `not`. Use `!=` or `lacks`." : "Use `no`: expect no \(rest)")
    default:
      if let security = try takeSecurity(within, isAbsent: false) { return security }
      if first.keyword == "firmware" { return try firmware(within) }
      if let sort = takeSort() { return .expectAttribute(try attribute(sort, within, isAbsent: false)) }
      return try value(within)
    }
  }

  private mutating func takeSecurity(_ within: ShellWord?, isAbsent: Bool) throws(ScriptError) -> ScriptStatement.Kind? {
    guard let name = words.first?.keyword, name == "encrypted" || name == "authenticated" else { return nil }
    words = words.dropFirst()
    try nothingMore()
    if let within { throw line.error(at: within, "`within` has no effect on the security of the connection.") }
    return .expectSecurity(isAuthenticated: name == "authenticated", isAbsent: isAbsent)
  }

  private mutating func firmware(_ within: ShellWord?) throws(ScriptError) -> ScriptStatement.Kind {
    words = words.dropFirst()
    guard let property = words.popFirst(), property.keyword == "version", let version = words.popFirst() else {
      throw line.error("`firmware` checks the version that runs: expect firmware version 1.2.3")
    }
    try nothingMore()
    if let within { throw line.error(at: within, "`within` has no effect on the version of the firmware.") }
    return .expectFirmware(version: version)
  }

  private mutating func takeSort() -> ExpectedAttribute.Sort? {
    guard let sort = words.first?.keyword.flatMap({ ExpectedAttribute.Sort(rawValue: $0) }) else { return nil }
    words = words.dropFirst()
    return sort
  }

  private mutating func attribute(
    _ sort: ExpectedAttribute.Sort, _ within: ShellWord?, isAbsent: Bool
  ) throws(ScriptError) -> ExpectedAttribute {
    if let within { throw line.error(at: within, "`within` has no effect on services and characteristics.") }
    guard let attribute = words.popFirst() else {
      let example = sort == .service ? "service 180d" : "characteristic 180d/2a37"
      throw line.error("`\(sort.rawValue)` needs a UUID or a name: expect \(example)")
    }
    if !isAbsent, attribute.keyword == "not" || attribute.keyword == "no" {
      throw line.error(at: attribute, "Write `no` before `\(sort.rawValue)`: expect no \(sort.rawValue) \(words.first?.text ?? "180d")")
    }
    var expected = ExpectedAttribute(sort: sort, attribute: attribute, isAbsent: isAbsent)
    guard sort == .characteristic, !isAbsent else {
      try nothingMore()
      return expected
    }
    while let word = words.popFirst() {
      guard word.keyword == "has" || word.keyword == "lacks" else { throw line.unexpected(word) }
      let names = words.prefix { $0.keyword != "has" && $0.keyword != "lacks" }
      guard !names.isEmpty else { throw line.error(at: word, "`\(word.text ?? "")` needs a property: `has notify`, `lacks write`") }
      if let and = names.first(where: { $0.keyword == "and" }) {
        throw line.error(at: and, "List the properties without `and`: \(word.text ?? "") read notify")
      }
      expected.properties += names.map { ($0, word.keyword == "has") }
      words = words.dropFirst(names.count)
    }
    return expected
  }

  /// Parses the words from `peripheral` on.
  private mutating func central(_ within: ShellWord?, isAbsent: Bool) throws(ScriptError) -> ExpectedCentral {
    words = words.dropFirst()
    let word = words.popFirst()
    guard let word, let event = word.keyword.flatMap({ ExpectedCentral.Event(rawValue: $0) }) else {
      let all = ExpectedCentral.Event.allCases.map(\.rawValue)
      let meant = word?.text.flatMap { SpellingSuggestion.nearest(to: $0, among: all) }.map { "Did you mean \($0)?" }
      let reason = "`expect peripheral` needs an event. \(meant ?? "Use one of: \(all.joined(separator: " "))")"
      throw word.map { line.error(at: $0, reason) } ?? line.error(reason)
    }
    var expected = ExpectedCentral(event: event, isAbsent: isAbsent, within: within)
    if event.hasAttribute {
      expected.attribute = words.popFirst()
      if expected.attribute == nil {
        throw line.error(at: word, "`\(event.rawValue)` needs an attribute: expect peripheral \(event.rawValue) ffe1")
      }
    }
    if event.hasValue {
      expected.extraction = try takeExtraction()
      expected.predicate = try takePredicate()
      if expected.predicate == nil, let part = expected.extraction.format ?? expected.extraction.field {
        throw line.error(at: part, "The condition is missing: expect peripheral \(event.rawValue) ffe1 as u8 == 5")
      }
    }
    try nothingMore()
    return expected
  }

  private mutating func value(_ within: ShellWord?) throws(ScriptError) -> ScriptStatement.Kind {
    var count: ShellWord?
    if words.count > 2, words[words.startIndex + 1].keyword == "of" {
      count = words.popFirst()
      words = words.dropFirst()
    }
    guard let attribute = words.popFirst() else { throw line.error("`expect` needs a characteristic.") }
    if attribute.keyword == "value", !words.isEmpty {
      let rest = words.compactMap(\.text).joined(separator: " ")
      throw line.error(at: attribute, "The result of the last command has no name: expect \(rest)")
    }
    let extraction = try takeExtraction()
    let predicate = try takePredicate()
    if predicate == nil, let part = extraction.format ?? extraction.field {
      throw line.error(at: part, "The condition is missing: expect ffe2 as u8 == 5")
    }
    return .expectValue(ExpectedValue(attribute: attribute, count: count, extraction: extraction, predicate: predicate, within: within))
  }

  /// Removes the optional `within T` at the end of the line. Returns the word T, or nil if the line has no time.
  private mutating func takeTime() throws(ScriptError) -> ShellWord? {
    if words.last?.keyword == "within" { throw line.error("`within` needs a time: within 500ms") }
    if words.count > 3, case let end = words.suffix(3), end.first?.keyword == "within", let time = end.dropFirst().first {
      throw line.error(at: time, "Write the time as one word: within 5s")
    }
    if let time = words.last?.text, words.dropLast().last?.keyword == "in", ScriptTime.parse(time) != nil {
      throw line.error(at: words[words.endIndex - 2], "For a time, use `within`: within \(time)")
    }
    guard words.count >= 2, words[words.endIndex - 2].keyword == "within" else { return nil }
    let time = words.last
    words = words.dropLast(2)
    return time
  }

  private mutating func takeExtraction() throws(ScriptError) -> Extraction {
    var extraction = Extraction()
    while let word = words.first, word.keyword == "as" || word.keyword == "field" {
      words = words.dropFirst()
      guard let value = words.popFirst() else { throw line.error(at: word, "`\(word.text ?? "this")` needs a name.") }
      if word.keyword == "as" {
        guard extraction.format == nil else { throw line.error(at: word, "`as` can be used only once.") }
        extraction.format = value
      } else {
        guard extraction.field == nil else {
          throw line.error(at: word, "`field` can be used only once. For a field of a field: field heart_rate.value")
        }
        extraction.field = value
      }
    }
    return extraction
  }

  private mutating func takePredicate(depth: Int = 0) throws(ScriptError) -> Predicate? {
    guard let first = words.popFirst() else { return nil }
    guard first.variables.isEmpty else { throw line.error(at: first, "A predicate cannot be a variable.") }
    guard let word = first.keyword else { throw unknown(first) }
    if let comparison = Predicate.Comparison(rawValue: word) { return .compares(comparison, try takeValue(first)) }
    if let place = Predicate.Place(rawValue: word) { return .has(place, try takeValue(first)) }
    switch word {
    case "in":
      let range = try takeOne(first, "a range: in 60..100")
      if let text = range.text, !text.contains("..") { throw line.error(at: range, Predicate.invalidRange(text)) }
      return .range(range)
    case "is":
      let sort = try takeOne(first, "a format.")
      try check(sort)
      return .isOf(sort)
    case "matches": return .matches(try expression(try takeOne(first, "a regular expression: matches /^OPEN/")))
    case "length":
      guard depth == 0 else { throw line.error(at: first, "Write `length` only once.") }
      guard let predicate = try takePredicate(depth: 1) else {
        throw line.error(at: first, "`length` needs a condition: length == 20")
      }
      switch predicate {
      case .compares, .range: return .length(predicate)
      case .has, .matches, .length, .isOf:
        throw line.error(at: first, "A length is a number. Compare it: `length >= 20`, `length in 1..20`")
      }
    default: throw unknown(first)
    }
  }

  private func unknown(_ word: ShellWord) -> ScriptError {
    let text = word.text ?? ""
    let operators = Predicate.words.filter { !text.isEmpty && text.hasPrefix($0) && $0.first?.isLetter == false }
    let meant = text == "=" ? "==" : ValueFormat.names.contains(text) ? "`as \(text)`" : nil
    let hint = meant.map { "Did you mean \($0)?" } ?? operators.last.map { "Put a space after \($0)." }
    let all = "Use one of: \(Predicate.words.joined(separator: " "))"
    return line.error(at: word, "Unknown predicate \(DisplayText.quote(text)). \(hint ?? all)")
  }

  private func check(_ sort: ShellWord) throws(ScriptError) {
    guard let name = sort.text, !Predicate.sorts.contains(name) else { return }
    do { _ = try ValueFormat(name) } catch {
      throw line.error(at: sort, "\(error) (`is` also takes \(Predicate.sorts.joined(separator: " ")))")
    }
  }

  /// Removes and returns all remaining words, which together are one value.
  private mutating func takeValue(_ word: ShellWord) throws(ScriptError) -> [ShellWord] {
    guard !words.isEmpty else { throw line.error(at: word, "`\(word.text ?? "this")` needs a value.") }
    defer { words = [] }
    return Array(words)
  }

  private mutating func takeOne(_ word: ShellWord, _ what: String) throws(ScriptError) -> ShellWord {
    guard let value = words.popFirst() else { throw line.error(at: word, "`\(word.text ?? "this")` needs \(what)") }
    try nothingMore()
    return value
  }

  private func nothingMore() throws(ScriptError) { if let word = words.first { throw line.unexpected(word) } }

  private func expression(_ word: ShellWord) throws(ScriptError) -> RegularExpression {
    guard let text = word.text else { throw line.error(at: word, "A regular expression cannot contain variables.") }
    guard text.first == "/", let end = text.lastIndex(of: "/"), end > text.startIndex else {
      throw line.error(at: word, "Put the regular expression between two /: matches /^OPEN/")
    }
    let flags = text[text.index(after: end)...]
    guard flags.isEmpty || flags == "i" else {
      throw line.error(at: word, "Unknown flag after the regular expression. Use i to ignore case.")
    }
    let pattern = text[text.index(after: text.startIndex)..<end].replacing("\\/", with: "/")
    guard !pattern.isEmpty else { throw line.error(at: word, "The regular expression is empty and would match everything.") }
    do { return try RegularExpression(String(pattern), ignoresCase: flags == "i") } catch {
      throw line.error(at: word, "Invalid regular expression at character \(error.offset + 1): \(error.reason)")
    }
  }
}
