/// The options that select the notifications to wait for after a write.
package struct AnswerOptions: OptionSection {
  package static let title = "Verification"

  @Option(
    help: ArgumentHelp(
      "Subscribe first, then wait for this notification; repeatable",
      discussion: "After =, its first bytes in hex, or a text in quotes: ff01=\"OK\". If repeated, all must arrive, in any order.",
      valueName: "attr[=hex]"))
  package var expect: [PatternArgument] = []

  @Option(
    help: ArgumentHelp(
      "Exit 7 when this notification arrives; repeatable", discussion: "Needs --expect or --collect.", valueName: "attr[=hex]"))
  var failOn: [PatternArgument] = []

  @Option("Notifications per --expect (default: 1)", value: "n", parsing: .unconditional) var expectCount: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print all notifications for SECONDS",
      discussion: "Listens to the --expect and --fail-on attributes, or else to the whole device.", valueName: "seconds"),
    transform: TimeText.seconds)
  var collect: Double?

  @Flag(help: "Prefer indications, with --expect or --collect") var indicate = false

  package init() {}

  package func validate() throws {
    try limit("--expect-count", expectCount, to: 1...1_000_000)
    if expectCount != nil, expect.isEmpty { throw ValidationError("--expect-count needs --expect.") }
    try limit("--collect", timeout: collect)
    if indicate, areEmpty { throw ValidationError("--indicate needs --expect or --collect.") }
    if !failOn.isEmpty, expect.isEmpty, collect == nil {
      throw ValidationError("--fail-on needs --expect or --collect, to know how long to wait.")
    }
  }
}

extension AnswerOptions {
  package var areEmpty: Bool { expect.isEmpty && collect == nil }

  /// Checks the attributes of `--expect` and `--fail-on` before the command connects.
  /// - Throws: `Failure` for an invalid ATTR.
  package func check() throws {
    for pattern in expect { try pattern.check("--expect") }
    for pattern in failOn { try pattern.check("--fail-on") }
  }
}

/// A characteristic and a prefix of its values, such as `ffe2`, `ffe2=4f50` or `ffe2="OP"`.
package struct PatternArgument: ExpressibleByArgument, Sendable {
  package let attribute: String
  /// The first bytes of the values. An empty list matches any value.
  package let bytes: [UInt8]

  package init?(argument: String) {
    text = argument
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let attribute = parts.first, !attribute.isEmpty else { return nil }
    self.attribute = String(attribute)
    guard parts.count == 2 else {
      bytes = []
      return
    }
    guard let bytes = Self.bytes(parts[1]), !bytes.isEmpty else { return nil }
    self.bytes = bytes
  }

  /// The text after the equals sign, such as `4f50` or `"OP"`. Nil without an equals sign.
  package var typed: String? { text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) } }

  private let text: String

  /// Checks that the attribute of the pattern is valid. `option` is the option that the error names.
  /// - Throws: `Failure` for an invalid attribute.
  package func check(_ option: String) throws {
    do { _ = try Selector(typed: attribute) } catch {
      var failure = Failure(error)
      failure.message = "\(option): \(failure.message)"
      let parts = attribute.split(separator: ":", maxSplits: 1)
      if let advice = patternAdvice { failure.add(advice) }
      if parts.count == 2 { failure.add("Write = before the first bytes: \(DisplayText.escape("\(parts[0])=\(parts[1])"))") }
      throw failure
    }
  }

  /// Advice if the pattern may be a value without its attribute, such as `567b`. Nil otherwise.
  var patternAdvice: String? {
    guard typed == nil, Hex.decode(attribute) != nil else { return nil }
    return "If this is the value to expect, write its attribute before it: ATTRIBUTE=\(attribute)"
  }

  private static func bytes(_ text: Substring) -> [UInt8]? {
    guard text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else { return Hex.decode(String(text)) }
    return Array(text.dropFirst().dropLast().utf8)
  }

  /// Returns an explanation of the mistake in an invalid pattern. The caller must not pass a valid pattern.
  package static func hint(_ text: String) -> String? {
    guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return "the attribute comes first, as in ffe2=4f50" }
    let value = text[text.index(after: sign)...]
    if value.isEmpty || value == "\"\"" { return "nothing follows the = (is a variable unset?)" }
    var said = "Invalid hex \(DisplayText.quote(String(value)))"
    do { _ = try Hex.parse(String(value)) } catch {
      if case .oddDigits(let word, let column) = error {
        let start = text.utf8.distance(from: text.startIndex, to: value.startIndex)
        said = "\(HexError.oddDigits(word, column: start + column))"
      }
    }
    // Do not suggest quotes for a text that contains quotes.
    guard value.utf8.allSatisfy({ !"\"'\\".utf8.contains($0) }) else { return "\(said), and not text between two double quotes" }
    return "\(said). Put text in quotes: '\(text[..<sign])=\"\(DisplayText.escape(String(value)))\"'"
  }
}

/// An attribute and the value to write, such as `ff02=1b9902`.
package struct AssignmentArgument: ExpressibleByArgument, Sendable {
  private let pattern: PatternArgument

  package var attribute: String { pattern.attribute }
  package var bytes: [UInt8] { pattern.bytes }

  package init?(argument: String) {
    guard argument.contains("="), let pattern = PatternArgument(argument: argument) else { return nil }
    self.pattern = pattern
  }

  package func check() throws { try pattern.check("--write") }

  package static func hint(_ text: String) -> String? {
    text.contains("=") ? PatternArgument.hint(text) : "the value to write is missing, as in ff02=1b9902"
  }
}
