import CommandLine

/// The counter of an input's malformed packets and unreadable lines. Reports each unreadable line immediately.
@LoopActor
struct DecodeProblems {
  private let kind: String
  private let limit: Int
  private let input: String
  private let output: Output
  private var all = 0
  private var unreadable = 0
  private var malformed = 0
  /// The number of lines with a JSON record that has no packet of this kind.
  private var others = 0
  /// The number of lines of a log without a packet, such as progress messages.
  var passed = 0
  private var first: (problem: String, line: Int?)?

  /// Creates the counter. `kind` is the kind of packet, such as `ATT PDU`, and `limit` the maximum number of its bytes.
  init(_ kind: String, limit: Int, of input: DecodedInput, _ output: Output) {
    (self.kind, self.limit, self.input, self.output) = (kind, limit, input.name, output)
  }

  /// Returns the bytes of an `bytes` item. Returns nil for a line of text or an unreadable line, and reports an unreadable line.
  mutating func bytes(_ item: DecodedInput.Item) -> [UInt8]? {
    if case .bytes(let bytes) = item { return fitting(bytes, nil) }
    if case .unreadable(let line, let reason) = item { refuse("Line \(line) of \(input) \(reason).") }
    return nil
  }

  /// Decodes the hex of a line. Reports invalid hex and returns nil. `line` is the line number, counted from 1.
  /// - Parameter text: The line, for the error message.
  mutating func bytes(_ hex: String, _ line: Int, _ text: String) -> [UInt8]? {
    do { return fitting(try Hex.parse(hex, loneDigits: false), line) } catch {
      let reason = error == .notHex ? "is not hex" : "has an odd number of digits"
      refuse("Line \(line) of \(input) \(reason): \(DisplayText.quote(text))")
      return nil
    }
  }

  /// Returns a packet, or reports its length and returns nil. A long one would need a hundred times its memory.
  private mutating func fitting(_ bytes: [UInt8], _ line: Int?) -> [UInt8]? {
    if bytes.count <= limit { return bytes }
    let place = line.map { "Line \($0) of \(input)" } ?? "Cannot decode \(input): it"
    refuse("\(place) has \(Quantity.bytes(bytes.count)). The limit is \(limit).")
    return nil
  }

  /// Reports and counts a line that contains no valid hex.
  mutating func refuse(_ message: String) {
    all += 1
    unreadable += 1
    _ = Program.report(Failure(.input, message), output)
  }

  /// Skips a line without a packet, such as a comment. Counts the line if it contains a JSON record.
  mutating func pass(_ text: String) { if text.hasPrefix("{") { others += 1 } }

  mutating func add(_ problem: (some CustomStringConvertible)?, _ line: Int?) {
    all += 1
    guard let problem else { return }
    malformed += 1
    if first == nil { first = (problem.description, line) }
  }

  /// Reports the numbers of unreadable lines and malformed packets as an error.
  /// - Throws: Failure(.input) after an unreadable line, otherwise Failure(.protocolViolation) after a malformed packet.
  func finish() throws {
    var messages: [String] = []
    if passed > 0 { output.note("Skipped \(passed.counted("line")) of \(input) without a packet.") }
    if all == 0, others > 0 { throw Failure(.input, "No record in \(input) is an \(kind).") }
    if unreadable > 0 { messages.append("Cannot read \(unreadable) of \(all) lines of \(input).") }
    if let first {
      let decoded = all - unreadable
      let what = decoded == 1 ? "The \(kind) is malformed" : "\(malformed) of \(decoded) \(kind)s are malformed"
      messages.append(what + (first.line.map { ", line \($0)" } ?? "") + ": \(first.problem)")
    }
    if !messages.isEmpty { throw Failure(unreadable > 0 ? .input : .protocolViolation, messages.joined(separator: " ")) }
  }
}
