import BluetoothLEFirmware
import BluetoothLELinux
import CommandLine
import Traces

/// The input of `decode`, which is hex arguments, a file or standard input. A line of standard input is available as soon as it arrives.
@LoopActor
struct DecodedInput {
  enum Item {
    /// The whole input, if it is hex arguments or binary data.
    case bytes([UInt8])
    case line(Int, text: String)
    /// A line that is not text. The number counts lines from 1. `reason` completes an error message, such as `is longer than 1 MiB`.
    case unreadable(Int, reason: String)
  }

  /// The name of the input for error messages.
  let name: String
  private var source: Source
  private var number = 0
  /// Whether the input is a log of `-vv`, with progress messages among the packets.
  fileprivate var isLog = false

  private enum Source {
    case bytes([UInt8]?)
    case text(ArraySlice<UInt8>)
    case stream(LineReader)
  }

  private static let lineLimit = 1 << 20

  /// Opens the input.
  /// - Parameters:
  ///   - words: Hex, the name of a file, or `-`. Empty for standard input, unless it is a terminal.
  ///   - limit: The maximum number of bytes of a file or of binary data.
  ///   - read: The contents of a file, or the beginning of standard input, if the caller has read them.
  /// - Throws: Failure(.usage) for invalid words; FileError; CancellationError.
  init(_ words: [String], limit: Int, read: [UInt8]? = nil, _ context: Context) async throws {
    do throws(HexError) {
      if let typed = try Self.typed(words) {
        (name, source) = ("the hex", typed)
        return
      }
    } catch { throw Failure(.usage, "\(error)") }
    if words.count > 1 {
      let wrong = words.first { $0 != "-" && Hex.decode($0) == nil } ?? words[1]
      throw Failure(.usage, "Invalid hex \(DisplayText.quote(wrong)). Give hex or a single file.")
    }
    guard let word = words.first ?? (context.isInputFed ? "-" : nil) else { throw Self.nothing }
    name = word == "-" ? "standard input" : DisplayText.quote(word)
    let isStream = word == "-" && !StandardInput.isFile
    let contents =
      if let read { read } else if isStream { try await Self.beginning(context) } else { try await Self.file(word, limit, context) }
    if Self.isText(contents, isCut: isStream) {
      isLog = DecodedBytes.isLog(contents)
      // Without bytes, standard input has ended. On a terminal, the user would have to end it twice.
      source = isStream && !contents.isEmpty ? .stream(LineReader(limit: Self.lineLimit, beginning: contents)) : .text(contents[...])
      return
    }
    if try await TraceReader.isTrace(contents) { throw Failure(.usage, "\(name) is a trace. To decode it, use: decode trace") }
    let rest = isStream ? try await InputFile.read("-", limit: limit - contents.count) : []
    source = .bytes(contents + rest)
  }

  /// Reads the next item. Returns nil at the end of the input.
  /// - Throws: FileError; CancellationError.
  mutating func next() async throws -> Item? {
    switch source {
    case .bytes(let bytes):
      source = .bytes(nil)
      return bytes.map { .bytes($0) }
    case .text(let text):
      guard !text.isEmpty else { return nil }
      // Decoding many lines may produce no output that suspends.
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
      let line = text.prefix { $0 != UInt8(ascii: "\n") }
      source = .text(text[line.endIndex...].dropFirst())
      return line.count > Self.lineLimit ? tooLong() : item(Array(line))
    case .stream(let reader):
      switch try await reader.next() {
      case .bytes(let line): return item(line)
      case .tooLong: return tooLong()
      case nil: return nil
      }
    }
  }

  private mutating func tooLong() -> Item {
    number += 1
    return .unreadable(number, reason: "is longer than 1 MiB")
  }

  private mutating func item(_ line: [UInt8]) -> Item {
    number += 1
    return Self.isText(line, isCut: false)
      ? .line(number, text: String(decoding: line, as: UTF8.self)) : .unreadable(number, reason: "is not text")
  }

  /// Reads the first input on standard input.
  private static func beginning(_ context: Context) async throws -> [UInt8] {
    try context.refuseInput()
    return try await StandardInput.beginning { [output = context.output] in tellOfWaiting("-", output) }
  }

  /// Returns the hex or the line of a log that the words are. Returns nil for a file, standard input, and all other words.
  /// - Throws: HexError for hex that lacks a digit.
  private static func typed(_ words: [String]) throws(HexError) -> Source? {
    let line = words.joined(separator: " ")
    do throws(HexError) {
      let bytes = try Hex.parse(line, loneDigits: false)
      if !bytes.isEmpty { return .bytes(bytes) }
    } catch { if error != .notHex { throw error } }
    guard words.count > 1 || words.first.map({ $0 != "-" && !InputFile.exists($0) }) == true else { return nil }
    if let bytes = Hex.decode(DecodedBytes.hex(line)), !bytes.isEmpty { return .bytes(bytes) }
    return (try? OfflineAdvertisement.parse(line.utf8, number: 1)) == nil ? nil : .text(Array(line.utf8)[...])
  }

  /// Reads as much of an input as tells its kind: the first line with content of a stream, or everything if this line is not hex.
  /// Returns the words themselves if they are hex or a line of a log. `read` is the bytes that were read. Nil if none were.
  static func sample(_ words: [String], _ context: Context) async throws -> (sample: [UInt8], read: [UInt8]?) {
    let typed: Source?
    do throws(HexError) { typed = try Self.typed(words) } catch {
      guard words.count == 1, InputFile.exists(words[0]) else { throw Failure(.usage, "\(error)") }
      typed = nil
    }
    switch typed {
    case .bytes(let bytes?): return (Array(Hex.encode(bytes).utf8), nil)
    case .text(let line): return (Array(line), nil)
    default: if words.count > 1 { return ([], nil) }
    }
    guard let word = words.first ?? (context.isInputFed ? "-" : nil) else { throw nothing }
    guard word == "-", !StandardInput.isFile else {
      let bytes = try await file(word, TraceReader.largestFile, context)
      return (bytes, bytes)
    }
    var bytes = try await beginning(context)
    if !isText(bytes, isCut: true) || FirmwareFile.isFirmware(bytes)
      || DecodeDetection.kinds(inLinesOf: bytes, isCut: true)?.isEmpty != false
    {
      bytes += try await InputFile.read("-", limit: TraceReader.largestFile) { [output = context.output] in tellOfWaiting("-", output) }
    }
    return (bytes, bytes)
  }

  private static let nothing = Failure(.usage, "Nothing to decode. Give hex, a file, or - for standard input.")

  /// Reads a whole file, or standard input if `word` is `-`. `limit` is the maximum number of bytes.
  static func file(_ word: String, _ limit: Int, isTrace: Bool = false, _ context: Context) async throws -> [UInt8] {
    if word == "-" { try context.refuseInput() }
    let path = word.after("@") ?? word
    if path != "-", !isTrace, !InputFile.exists(path) {
      throw Failure(.input, "\(DisplayText.quote(word)) is neither hex nor a file. Write bytes in hex, such as 020106.")
    }
    return try await InputFile.read(path, limit: limit) { [output = context.output] in tellOfWaiting(path, output) }
  }

  private static func tellOfWaiting(_ path: String, _ output: Output) {
    output.note("Waiting for \(path == "-" ? "standard input" : DisplayText.quote(path)). Press Ctrl-C to cancel.")
  }

  /// Returns whether bytes are printable UTF-8.
  /// - Parameter isCut: Whether the last character may be incomplete.
  static func isText(_ bytes: [UInt8], isCut: Bool) -> Bool {
    let ends = isCut ? (0...3).map { bytes.count - $0 } : [bytes.count]
    return ends.contains { $0 >= 0 && DisplayText.isUTF8(Array(bytes[..<$0])) }
      && !bytes.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) }
  }
}

/// A reader of the packets or values in the input of `decode`.
///
/// The input is plain hex, lines of `-vv` such as `< Read Request 0a1200`, or lines of `hcidump --raw` such as `> 04 0E 04 …`. A packet of
/// hcidump has 20 bytes per line and continues on indented lines.
@LoopActor
struct DecodedBytes {
  private var input: DecodedInput
  private let isHCI: Bool
  /// The next item, if the reader has read it in search of a continuation line. Nil otherwise.
  private var ahead: DecodedInput.Item?
  private var isBehindDump = false

  /// Creates a reader. If `isHCI` is true, the length field of a packet limits the number of continuation lines.
  init(_ input: DecodedInput, isHCI: Bool = false) { (self.input, self.isHCI) = (input, isHCI) }

  /// Reads the next packet. Returns nil at the end of the input. `line` counts from 1, and is nil for binary data.
  /// - Throws: FileError; CancellationError.
  mutating func next(_ problems: inout DecodeProblems) async throws -> (bytes: [UInt8], line: Int?)? {
    while let item = try await take() {
      guard case .line(let line, let whole) = item else {
        if let bytes = problems.bytes(item) { return (bytes, nil) }
        continue
      }
      let text = whole.trimmed
      isBehindDump = isBehindDump && Self.isIndented(whole)
      if Self.isComment(text) { continue }
      let hex = Self.hex(text)
      if input.isLog, !Self.isPacket(text), !hex.allSatisfy({ $0.isHexDigit || $0 == " " }) {
        problems.passed += 1
        continue
      }
      guard let bytes = problems.bytes(hex, line, text) else { continue }
      guard !isBehindDump else {
        problems.refuse("Line \(line) of \(input.name) continues a complete packet: \(DisplayText.quote(text))")
        continue
      }
      isBehindDump = String(text.dropFirst(2)).trimmed == hex
      return (isBehindDump ? try await joined(bytes) : bytes, line)
    }
    return nil
  }

  private mutating func take() async throws -> DecodedInput.Item? {
    if let item = ahead.take() { return item }
    return try await input.next()
  }

  /// Returns a packet from its first line and the continuation lines that follow.
  private mutating func joined(_ beginning: [UInt8]) async throws -> [UInt8] {
    var bytes = beginning
    while goesOn(bytes), let item = try await take() {
      guard case .line(_, let text) = item, Self.isIndented(text), let more = try? Hex.parse(text, loneDigits: false), !more.isEmpty else {
        ahead = item
        break
      }
      bytes += more
    }
    return bytes
  }

  private static func isIndented(_ line: String) -> Bool { line.first == " " || line.first == "\t" }

  /// Returns whether a packet may continue on the next line.
  private func goesOn(_ bytes: [UInt8]) -> Bool {
    guard isHCI else { return bytes.count % 20 == 0 && bytes.count < 1 << 16 }
    var framer = H4Framer(bytes.first == Packet.eventIndicator ? .controllerToHost : .hostToController)
    framer.append(bytes)
    do { return try framer.next() == nil } catch { return false }
  }

  /// Returns whether a text is a log of `-vv`: one of its lines has an arrow, the name of an opcode and a PDU.
  static func isLog(_ text: [UInt8]) -> Bool {
    text.prefix(1 << 16).split(separator: UInt8(ascii: "\n")).contains { line in
      (line.first == UInt8(ascii: "<") || line.first == UInt8(ascii: ">")) && isPacket(String(decoding: line, as: UTF8.self).trimmed)
    }
  }

  /// Returns whether a line has an arrow, the name of an ATT opcode and a PDU, as lines of `-vv` have.
  private static func isPacket(_ line: String) -> Bool {
    guard line.hasPrefix("< ") || line.hasPrefix("> "), let space = line.lastIndex(of: " "), space > line.index(after: line.startIndex),
      let first = Hex.decode(String(line[space...]))?.first
    else { return false }
    return line[..<space].dropFirst(2) == ATTOpcode(rawValue: first).description
  }

  /// Returns whether a line has no packet. hcidump starts with a banner and the name of the adapter.
  static func isComment(_ text: String) -> Bool {
    text.isEmpty || ["#", "HCI sniffer - ", "device: hci"].contains { text.hasPrefix($0) }
  }

  /// Returns the hex at the end of a line of a log: after an arrow and perhaps the name of the opcode, or after a label with a colon.
  /// Commas and brackets may separate the bytes, as in source code. Returns other lines unchanged.
  static func hex(_ line: String) -> String {
    let rest = line.hasPrefix("< ") || line.hasPrefix("> ") ? String(line.dropFirst(2)).trimmed : line
    if rest.allSatisfy({ $0.isHexDigit || $0 == " " }) { return rest }
    if isPacket(line) { return String(rest.split(separator: " ").last ?? "") }
    let words = (rest.split(separator: ": ").last ?? "").split { ", []{}()".contains($0) }.map { String($0) }
    return words.allSatisfy { (try? Hex.parse($0, loneDigits: false)) != nil } ? words.joined(separator: " ") : line
  }

  /// Returns the words of the label before the bytes, in lower case: `acl`, `data` and `rx` for `ACL Data RX: 02 0b 20`.
  static func words(ofLabel line: String) -> [String] {
    guard let colon = line.ranges(of: ": ").last else { return [] }
    return line[..<colon.lowerBound].lowercased().split { !$0.isLetter }.map(String.init)
  }
}
