import ArgumentParser
import GATT
import Text

/// What is waited for after a write.
struct AnswerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Subscribe to ATTR first and wait for a notification as the answer: any, or one that begins with these octets or this text; several: for all.",
      valueName: "attr[=hexprefix|=\"text\"]"))
  var expect: [PatternArgument] = []

  @Option(
    help: ArgumentHelp(
      "End with 7 at once when such a notification comes; may be given several times.", valueName: "attr[=hexprefix|=\"text\"]"))
  var failOn: [PatternArgument] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("How many answers each --expect waits for.", valueName: "n"))
  var expectCount: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Show every value that comes for so many seconds: from what --expect and --fail-on name, else from the whole device.",
      valueName: "seconds"), transform: TimeText.seconds)
  var collect: Double?

  func validate() throws {
    if let expectCount {
      if !(1...1_000_000).contains(expectCount) { throw ValidationError("--expect-count takes 1 to 1000000, not \(expectCount)") }
      if expect.isEmpty { throw ValidationError("--expect-count belongs to --expect.") }
    }
    if let collect, !(collect > 0 && collect <= 86_400) {
      throw ValidationError("--collect takes seconds, more than 0 and up to 86400, not \(collect.plainText)")
    }
    if !failOn.isEmpty, expect.isEmpty, collect == nil {
      throw ValidationError("--fail-on needs --expect or --collect, which say how long to wait.")
    }
  }
}

extension AnswerOptions {
  /// Before anything is connected. - Throws: Failure, for an ATTR that is none.
  func check() throws {
    for pattern in expect { try pattern.check("--expect") }
    for pattern in failOn { try pattern.check("--fail-on") }
  }
}

/// `ffe2`, `ffe2=4f50` or `ffe2="OP"`: a characteristic, and what its values begin with.
struct PatternArgument: ExpressibleByArgument, Sendable {
  let attribute: String
  /// Empty: anything.
  let octets: [UInt8]

  init?(argument: String) {
    text = argument
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let attribute = parts.first, !attribute.isEmpty else { return nil }
    self.attribute = String(attribute)
    guard parts.count == 2 else {
      octets = []
      return
    }
    guard let octets = Self.octets(parts[1]), !octets.isEmpty else { return nil }
    self.octets = octets
  }

  /// As it was typed: `4f50`, `"OP"`.
  var typed: String? { text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) } }

  private let text: String

  /// - Throws: Failure, naming the option.
  func check(_ option: String) throws {
    do { _ = try Selector(attribute) } catch {
      var failure = Failure(error)
      failure.message = "\(option): \(failure.message)"
      throw failure
    }
  }

  private static func octets(_ text: Substring) -> [UInt8]? {
    guard text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else { return Hex.decode(String(text)) }
    return Array(text.dropFirst().dropLast().utf8)
  }

  /// What may have been meant by a text that is none.
  static func hint(_ text: String) -> String? {
    guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return "it begins with what to listen to, as in ffe2=4f50" }
    let value = text[text.index(after: sign)...]
    if value.isEmpty || value == "\"\"" { return "nothing follows the = (an unset variable?)" }
    var said = "\(DisplayText.quote(String(value))) is not hex"
    do { _ = try Hex.parse(String(value)) } catch {
      if case .oddDigits(let word, let column) = error {
        let start = text.utf8.distance(from: text.startIndex, to: value.startIndex)
        said = "\(HexError.oddDigits(word, column: start + column))"
      }
    }
    // What has quotes already cannot be put in some by us.
    guard value.utf8.allSatisfy({ !"\"'\\".utf8.contains($0) }) else { return "\(said), nor text between two double quotes" }
    return "\(said); text stands in quotes: '\(text[..<sign])=\"\(DisplayText.escape(String(value)))\"'"
  }
}

/// `ff02=1b9902`: a value to write.
struct AssignmentArgument: ExpressibleByArgument, Sendable {
  private let pattern: PatternArgument

  var attribute: String { pattern.attribute }
  var octets: [UInt8] { pattern.octets }

  init?(argument: String) {
    guard argument.contains("="), let pattern = PatternArgument(argument: argument) else { return nil }
    self.pattern = pattern
  }

  func check() throws { try pattern.check("--write") }

  static func hint(_ text: String) -> String? {
    text.contains("=") ? PatternArgument.hint(text) : "the value to write has to follow, as in ff02=1b9902"
  }
}
