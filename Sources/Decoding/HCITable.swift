/// The tables of HCI packets, parsed on first use.
package enum HCITable {
  package struct Command: Sendable {
    package let name: String
    /// The format of the command's parameters. Nil if it is unknown.
    let parameters: PacketFormat?
    let returned: PacketFormat?
  }

  struct Event: Sendable {
    let name: String
    let format: PacketFormat?
  }

  package static let commands: [UInt16: Command] = {
    var table: [UInt16: Command] = [:]
    for line in lines(HCICommandTable.text) {
      guard line.count >= 2, let opcode = UInt16(line[0], radix: 16) else { continue }
      table[opcode] = Command(name: line[1], parameters: format(line, 2), returned: format(line, 3))
    }
    return table
  }()

  static let events = table(HCIEventTable.events)
  static let subevents = table(HCIEventTable.subevents)

  /// Parses lines of code, name and format.
  static func table(_ text: String) -> [UInt8: Event] {
    var table: [UInt8: Event] = [:]
    for line in lines(text) {
      guard line.count >= 2, let code = UInt8(line[0], radix: 16) else { continue }
      table[code] = Event(name: line[1], format: format(line, 2))
    }
    return table
  }

  private static func lines(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { line in
      line.split(separator: ";", omittingEmptySubsequences: false).map { part in String(part.drop { $0 == " " }) }
    }
  }

  private static func format(_ line: [String], _ index: Int) -> PacketFormat? {
    let text = index < line.count ? line[index] : ""
    return text == "?" ? nil : PacketFormat(text)
  }
}
