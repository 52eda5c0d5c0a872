import EventLoop
import LinuxIO
import Terminal
import Text

/// What `decode` is to read: octets in hex as arguments; else a file or standard input with lines of hex, or one that is no text, which is taken as it is.
struct DecodedInput {
  struct Item {
    var octets: [UInt8]
    /// Of the file, from 1; nil for what is no text.
    var line: Int?
  }

  /// As it was on the command line, for errors.
  let name: String
  private let contents: [UInt8]
  private let isHex: Bool

  /// - Parameter words: HEX…, a file's name, or `-`; none is standard input where somebody feeds it.
  /// - Throws: Failure(.usage); FileError; CancellationError.
  @LoopActor
  static func read(_ words: [String], limit: Int, _ context: Context) async throws -> DecodedInput {
    if let octets = Hex.decode(words.joined(separator: " ")), !octets.isEmpty {
      if let odd = words.first(where: lacksDigit) {
        throw Failure(.usage, "\(DisplayText.quote(odd)) has an odd number of digits: one is missing")
      }
      return DecodedInput(hex: octets)
    }
    if words.count > 1 {
      let wrong = words.first { $0 != "-" && Hex.decode($0) == nil } ?? words[1]
      throw Failure(.usage, "\(DisplayText.quote(wrong)) is not hex; of files decode takes one")
    }
    let word: String
    if let first = words.first {
      word = first
    } else {
      guard context.shell == nil, StandardInput.isFed else {
        throw Failure(.usage, "there is nothing to decode: give octets in hex, a file, or - for standard input")
      }
      word = "-"
    }
    return DecodedInput(name: word, contents: try await file(word, limit, context))
  }

  /// The octets of a file, or of standard input.
  @LoopActor
  static func file(_ word: String, _ limit: Int, isTrace: Bool = false, _ context: Context) async throws -> [UInt8] {
    if word == "-" { try context.refuseInput() }
    let path = word.after("@") ?? word
    if path != "-", !InputFile.exists(path) {
      throw Failure(
        .input, "\(DisplayText.quote(word)) \(isTrace ? "is no file" : "is neither hex nor a file; octets are written like 020106")")
    }
    return try await InputFile.read(path, limit: limit) { [output = context.output] in
      output.note("waiting for \(path == "-" ? "standard input" : DisplayText.quote(path)); Ctrl-C ends")
    }
  }

  private init(hex octets: [UInt8]) {
    (name, contents, isHex) = ("the hex given", octets, true)
  }

  private init(name: String, contents: [UInt8]) {
    self.name = name == "-" ? "standard input" : DisplayText.quote(name)
    (self.contents, isHex) = (contents, false)
  }

  private var isText: Bool {
    DisplayText.isUTF8(contents) && !contents.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) }
  }

  /// The lines of what is text, with numbers from 1.
  var lines: [(number: Int, text: String)]? {
    guard !isHex, isText else { return nil }
    return contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().map {
      ($0.offset + 1, String(decoding: $0.element, as: UTF8.self).trimmed)
    }
  }

  /// What is not a text as it is, of a text each line; empty ones and comments (`#`) are left out.
  /// - Throws: Failure(.input) for a line that is not hex, or a trace.
  func items() throws -> [Item] {
    guard let lines else {
      if !isHex, Self.isTrace(contents) { throw Failure(.usage, "\(name) is a trace: decode trace reads it") }
      return [Item(octets: contents)]
    }
    return try lines.compactMap { number, text in
      if text.isEmpty || text.hasPrefix("#") { return nil }
      guard let octets = Hex.decode(Self.withoutLog(text)) else {
        throw Failure(.input, "line \(number) of \(name) is not hex: \(DisplayText.quote(text))")
      }
      if Self.lacksDigit(Self.withoutLog(text)) {
        throw Failure(.input, "line \(number) of \(name) has an odd number of digits, so one is missing: \(DisplayText.quote(text))")
      }
      return Item(octets: octets, line: number)
    }
  }

  /// Of octets that belong together no leading zero is left out: it is one that was lost, and all behind it would be another octet.
  private static func lacksDigit(_ text: String) -> Bool {
    text.split(whereSeparator: \.isWhitespace).contains { word in
      !word.contains { ":-,".contains($0) } && word.utf8.count % 2 != 0
    }
  }

  /// The hex of a line that `-vv` has written: `< Read Request 0a1200`.
  private static func withoutLog(_ line: String) -> String {
    guard line.hasPrefix("< ") || line.hasPrefix("> ") else { return line }
    return line.split(separator: " ").last.map { String($0) } ?? line
  }

  static func isTrace(_ octets: [UInt8]) -> Bool {
    let magics: [[UInt8]] = [
      Array("btsnoop\0".utf8), [0x0A, 0x0D, 0x0D, 0x0A], [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4], [0x4D, 0x3C, 0xB2, 0xA1],
      [0xA1, 0xB2, 0x3C, 0x4D],
    ]
    return magics.contains { octets.starts(with: $0) }
  }
}
