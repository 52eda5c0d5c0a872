import ATT
import EventLoop
import HCI
import Terminal
import Text

/// The packets or values of an input: one per line of hex, or the packets of a log.
///
/// `-vv` writes `< Read Request 0a1200`. `hcidump --raw` writes `> 04 0E 04 …` with 20 bytes per line, and indents continuation lines.
@LoopActor
struct DecodedOctets {
  private var input: DecodedInput
  private let isHCI: Bool
  /// The next item, if the reader already read it in search of a continuation line.
  private var ahead: DecodedInput.Item?
  private var isBehindDump = false

  /// Creates a reader. HCI packets contain their length, which limits continuation lines.
  init(_ input: DecodedInput, isHCI: Bool = false) { (self.input, self.isHCI) = (input, isHCI) }

  /// Reads the next packet. Returns nil at the end.
  /// - Throws: FileError; CancellationError.
  mutating func next(_ problems: inout DecodeProblems) async throws -> (octets: [UInt8], line: Int?)? {
    while let item = try await take() {
      guard case .line(let line, let whole) = item else {
        if let octets = problems.octets(item) { return (octets, nil) }
        continue
      }
      let text = whole.trimmed
      isBehindDump = isBehindDump && Self.isIndented(whole)
      // hcidump starts with a banner and the name of the adapter.
      if text.isEmpty || ["#", "HCI sniffer - ", "device: hci"].contains(where: { text.hasPrefix($0) }) { continue }
      let hex = Self.hex(text)
      guard let octets = problems.octets(hex, line, text) else { continue }
      guard !isBehindDump else {
        problems.refuse("Line \(line) of \(input.name) continues a complete packet: \(DisplayText.quote(text))")
        continue
      }
      isBehindDump = String(text.dropFirst(2)).trimmed == hex
      return (isBehindDump ? try await joined(octets) : octets, line)
    }
    return nil
  }

  private mutating func take() async throws -> DecodedInput.Item? {
    if let item = ahead.take() { return item }
    return try await input.next()
  }

  /// Appends the continuation lines to the first line of a packet.
  private mutating func joined(_ beginning: [UInt8]) async throws -> [UInt8] {
    var octets = beginning
    while goesOn(octets), let item = try await take() {
      guard case .line(_, let text) = item, Self.isIndented(text), let more = try? Hex.parse(text, loneDigits: false), !more.isEmpty else {
        ahead = item
        break
      }
      octets += more
    }
    return octets
  }

  private static func isIndented(_ line: String) -> Bool { line.first == " " || line.first == "\t" }

  /// Whether a packet may continue on the next line. `decode` shows a complete packet before the next line arrives.
  private func goesOn(_ octets: [UInt8]) -> Bool {
    guard isHCI else { return octets.count % 20 == 0 && octets.count < 1 << 16 }
    var framer = H4Framer(octets.first == Packet.eventIndicator ? .controllerToHost : .hostToController)
    framer.append(octets)
    do { return try framer.next() == nil } catch { return false }
  }

  /// Returns the hex after an arrow, or after an arrow and the name of its opcode. Returns other lines unchanged.
  private static func hex(_ line: String) -> String {
    guard line.hasPrefix("< ") || line.hasPrefix("> ") else { return line }
    let rest = String(line.dropFirst(2)).trimmed
    if rest.allSatisfy({ $0.isHexDigit || $0 == " " }) { return rest }
    guard let space = rest.lastIndex(of: " "), let first = Hex.decode(String(rest[space...]))?.first else { return line }
    return rest[..<space] == ATT.Opcode(rawValue: first).description ? String(rest[space...].dropFirst()) : line
  }
}
