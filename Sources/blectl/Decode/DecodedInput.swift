import EventLoop
import HCI
import LinuxIO
import Terminal
import Text

/// What `decode` is to read: octets in hex as arguments; else a file or standard input with lines of hex, or one that is no text, which is taken as it is.
/// Lines of standard input are there as soon as they come.
@LoopActor
struct DecodedInput {
  enum Item {
    /// All there is, given as arguments, or what is no text.
    case octets([UInt8])
    case line(Int, text: String)
    /// A line that is none of text. - Parameter reason: it `is longer than 1 MiB`.
    case unreadable(Int, reason: String)
  }

  /// As it was on the command line, for errors.
  let name: String
  private var source: Source
  private var number = 0

  private enum Source {
    case octets([UInt8]?)
    case text(ArraySlice<UInt8>)
    case stream(LineReader)
  }

  private static let lineLimit = 1 << 20

  /// - Parameters:
  ///   - words: HEX…, a file's name, or `-`; none is standard input where somebody feeds it.
  ///   - limit: octets of a file, or of what is no text.
  /// - Throws: Failure(.usage); FileError; CancellationError.
  init(_ words: [String], limit: Int, _ context: Context) async throws {
    do throws(HexError) {
      let octets = try Hex.parse(words.joined(separator: " "))
      if !octets.isEmpty {
        (name, source) = ("the hex given", .octets(octets))
        return
      }
    } catch { if error != .notHex { throw Failure(.usage, "\(error)") } }
    if words.count > 1 {
      let wrong = words.first { $0 != "-" && Hex.decode($0) == nil } ?? words[1]
      throw Failure(.usage, "\(DisplayText.quote(wrong)) is not hex; of files decode takes one")
    }
    guard let word = words.first ?? (context.shell == nil && StandardInput.isFed ? "-" : nil) else {
      throw Failure(.usage, "there is nothing to decode: give octets in hex, a file, or - for standard input")
    }
    name = word == "-" ? "standard input" : DisplayText.quote(word)
    let isStream = word == "-" && !StandardInput.isFile
    let contents: [UInt8]
    if isStream {
      try context.refuseInput()
      contents = try await StandardInput.beginning { [output = context.output] in Self.tellOfWaiting(word, output) }
    } else {
      contents = try await Self.file(word, limit, context)
    }
    if Self.isText(contents, isCut: isStream) {
      // Without octets it has ended: on a terminal nobody says so twice.
      source = isStream && !contents.isEmpty ? .stream(LineReader(limit: Self.lineLimit, beginning: contents)) : .text(contents[...])
      return
    }
    if TraceReader.isTrace(contents) { throw Failure(.usage, "\(name) is a trace: decode trace reads it") }
    let rest = isStream ? try await InputFile.read("-", limit: limit - contents.count) : []
    source = .octets(contents + rest)
  }

  /// - Returns: nil at the end.
  /// - Throws: FileError; CancellationError.
  mutating func next() async throws -> Item? {
    switch source {
    case .octets(let octets):
      source = .octets(nil)
      return octets.map { .octets($0) }
    case .text(let text):
      guard !text.isEmpty else { return nil }
      // Of many lines nothing may come that waits for anybody.
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
      let line = text.prefix { $0 != UInt8(ascii: "\n") }
      source = .text(text[line.endIndex...].dropFirst())
      return item(Array(line))
    case .stream(let reader):
      switch try await reader.next() {
      case .octets(let line): return item(line)
      case .tooLong:
        number += 1
        return .unreadable(number, reason: "is longer than 1 MiB")
      case nil: return nil
      }
    }
  }

  private mutating func item(_ line: [UInt8]) -> Item {
    number += 1
    return Self.isText(line, isCut: false)
      ? .line(number, text: String(decoding: line, as: UTF8.self)) : .unreadable(number, reason: "is no text")
  }

  /// The octets of a file, or of standard input.
  static func file(_ word: String, _ limit: Int, isTrace: Bool = false, _ context: Context) async throws -> [UInt8] {
    if word == "-" { try context.refuseInput() }
    let path = word.after("@") ?? word
    if path != "-", !InputFile.exists(path) {
      throw Failure(
        .input, "\(DisplayText.quote(word)) \(isTrace ? "is no file" : "is neither hex nor a file; octets are written like 020106")")
    }
    return try await InputFile.read(path, limit: limit) { [output = context.output] in tellOfWaiting(path, output) }
  }

  private static func tellOfWaiting(_ path: String, _ output: Output) {
    output.note("waiting for \(path == "-" ? "standard input" : DisplayText.quote(path)); Ctrl-C ends")
  }

  /// - Parameter isCut: its last character may not be whole.
  private static func isText(_ octets: [UInt8], isCut: Bool) -> Bool {
    let ends = isCut ? (0...3).map { octets.count - $0 } : [octets.count]
    return ends.contains { $0 >= 0 && DisplayText.isUTF8(Array(octets[..<$0])) }
      && !octets.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) }
  }
}
