import EventLoop
import Terminal
import Text

/// What of an input was no octets, which is said at once, and what did not follow its format, which is shown with what could be read of it. Neither
/// hides what comes behind it.
@LoopActor
struct DecodeProblems {
  private let kind: String
  private let input: String
  private let output: Output
  private var all = 0
  private var unreadable = 0
  private var malformed = 0
  /// Records of something else: a scan has such besides.
  private var others = 0
  private var first: (problem: String, line: Int?)?

  /// - Parameter kind: of what is decoded: `ATT PDU`.
  init(_ kind: String, of input: DecodedInput, _ output: Output) { (self.kind, self.input, self.output) = (kind, input.name, output) }

  /// The octets of an item that is no line; nil for what is none of text.
  mutating func octets(_ item: DecodedInput.Item) -> [UInt8]? {
    if case .octets(let octets) = item { return octets }
    if case .unreadable(let line, let reason) = item { refuse("line \(line) of \(input) \(reason)") }
    return nil
  }

  /// The octets of a line; nil for what is no hex.
  /// - Parameter text: the line, for the error.
  mutating func octets(_ hex: String, _ line: Int, _ text: String) -> [UInt8]? {
    do { return try Hex.parse(hex, loneDigits: false) } catch {
      let reason = error == .notHex ? "is not hex" : "has an odd number of digits, so one is missing"
      refuse("line \(line) of \(input) \(reason): \(DisplayText.quote(text))")
      return nil
    }
  }

  /// A line that is no octets.
  mutating func refuse(_ message: String) {
    all += 1
    unreadable += 1
    _ = Program.report(Failure(.input, message), output)
  }

  /// A line that says nothing here: blank, a comment, or a record of something else.
  mutating func pass(_ text: String) { if text.hasPrefix("{") { others += 1 } }

  mutating func add(_ problem: (some CustomStringConvertible)?, _ line: Int?) {
    all += 1
    guard let problem else { return }
    malformed += 1
    if first == nil { first = (problem.description, line) }
  }

  /// - Throws: Failure(.input), when something was no octets; else Failure(.protocolViolation), when something did not follow its format.
  func finish() throws {
    var messages: [String] = []
    if all == 0, others > 0 { throw Failure(.input, "none of the \(others) record(s) of \(input) is an \(kind)") }
    if unreadable > 0 { messages.append("\(unreadable) of \(all) lines of \(input) could not be read") }
    if let first {
      let place = first.line.map { "line \($0): " } ?? ""
      let decoded = all - unreadable
      let what = decoded == 1 ? "the \(kind) does not follow its format" : "\(malformed) of \(decoded) \(kind)s do not follow their format"
      messages.append("\(what): \(place)\(first.problem)")
    }
    if !messages.isEmpty { throw Failure(unreadable > 0 ? .input : .protocolViolation, messages.joined(separator: "; ")) }
  }
}
