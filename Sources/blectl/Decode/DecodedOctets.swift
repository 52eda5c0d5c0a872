import ATT
import EventLoop
import HCI
import Terminal
import Text

/// The octets of an input, one packet or value after the other: a line of hex each, or of a log. `-vv` writes `< Read Request 0a1200`, `hcidump --raw`
/// `> 04 0E 04 …` with 20 octets to a line, the rest indented below it.
@LoopActor
struct DecodedOctets {
  private var input: DecodedInput
  private let isHCI: Bool
  /// Read, and not part of the packet before it.
  private var ahead: DecodedInput.Item?
  private var isBehindDump = false

  /// - Parameter isHCI: packets of HCI say themselves how long they are.
  init(_ input: DecodedInput, isHCI: Bool = false) { (self.input, self.isHCI) = (input, isHCI) }

  /// - Returns: nil at the end.
  /// - Throws: FileError; CancellationError.
  mutating func next(_ problems: inout DecodeProblems) async throws -> (octets: [UInt8], line: Int?)? {
    while let item = try await take() {
      guard case .line(let line, let whole) = item else {
        if let octets = problems.octets(item) { return (octets, nil) }
        continue
      }
      let text = whole.trimmed
      isBehindDump = isBehindDump && Self.isIndented(whole)
      // hcidump begins with what it is, and which adapter it listens to.
      if text.isEmpty || ["#", "HCI sniffer - ", "device: hci"].contains(where: { text.hasPrefix($0) }) { continue }
      let hex = Self.hex(text)
      guard let octets = problems.octets(hex, line, text) else { continue }
      guard !isBehindDump else {
        problems.refuse("line \(line) of \(input.name) goes on with a packet that is complete before it: \(DisplayText.quote(text))")
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

  /// A packet with the indented lines below its first.
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

  /// What is complete is shown before the next line has come.
  private func goesOn(_ octets: [UInt8]) -> Bool {
    guard isHCI else { return octets.count % 20 == 0 && octets.count < 1 << 16 }
    var framer = H4Framer(octets.first == Packet.eventIndicator ? .controllerToHost : .hostToController)
    framer.append(octets)
    do { return try framer.next() == nil } catch { return false }
  }

  /// The hex behind an arrow, or behind the name that its opcode has; any other line as it is.
  private static func hex(_ line: String) -> String {
    guard line.hasPrefix("< ") || line.hasPrefix("> ") else { return line }
    let rest = String(line.dropFirst(2)).trimmed
    if rest.allSatisfy({ $0.isHexDigit || $0 == " " }) { return rest }
    guard let space = rest.lastIndex(of: " "), let first = Hex.decode(String(rest[space...]))?.first else { return line }
    return rest[..<space] == ATT.Opcode(rawValue: first).description ? String(rest[space...].dropFirst()) : line
  }
}
