import BluetoothLE

extension DecodedPacket {
  /// Decodes an HCI packet that starts with its H4 indicator byte.
  /// - Parameters:
  ///   - isVendorData: Whether the handle of the packet belongs to no link, so that the packet contains no L2CAP.
  ///   - missing: The number of bytes at the end that the recorder cut.
  package init(hci bytes: [UInt8], isVendorData: Bool = false, missing: Int = 0) {
    var reader = ByteReader(bytes)
    guard let indicator = try? reader.uint8("indicator") else {
      self.init("HCI packet", problem: missing > 0 ? nil : MalformedPacket("empty packet", at: 0), missing: missing)
      return
    }
    switch indicator {
    case Packet.commandIndicator: self.init(command: &reader, missing)
    case Packet.eventIndicator: self.init(event: &reader, missing)
    case Packet.aclIndicator: self.init(data: &reader, isVendorData, missing)
    case Packet.synchronousIndicator: self.init("Synchronous Data", [PacketField("octets", .bytes(reader.rest()))])
    case Packet.isochronousIndicator: self.init("ISO Data", [PacketField("octets", .bytes(reader.rest()))])
    default:
      self.init(
        "HCI packet", [PacketField("octets", .bytes(reader.rest()))],
        problem: MalformedPacket("unknown H4 packet type 0x\(Hex.encode([indicator])): use 01 command, 02 ACL data or 04 event", at: 0))
    }
    // What the recorder cut may be the header.
    if missing > 0, bytes.count < 5 { (problem, self.missing) = (nil, missing) }
  }

  private init(command reader: inout ByteReader, _ missing: Int) {
    let what = "HCI command"
    guard let opcode = try? reader.uint16("opcode"), let length = try? reader.uint8("length") else {
      self.init(what, problem: MalformedPacket("\(what): truncated header", at: 1))
      return
    }
    let known = HCITable.commands[opcode]
    self.init(known?.name ?? Self.unknown(opcode), [PacketField("opcode", .mask(UInt64(opcode), bytes: 2))])
    self.missing = missing
    if reader.remaining + missing == Int(length) {
      read(known?.parameters, &reader, else: "parameters")
    } else {
      fail(length: Int(length), &reader)
    }
  }

  private static func unknown(_ opcode: UInt16) -> String {
    let name = opcode >> 10 == 0x3F ? "Vendor Specific command" : "Unknown command"
    return "\(name) 0x\(Hex.encode([UInt8(opcode >> 8), UInt8(truncatingIfNeeded: opcode)]))"
  }

  private init(event reader: inout ByteReader, _ missing: Int) {
    guard let code = try? reader.uint8("code"), let length = try? reader.uint8("length") else {
      self.init("HCI event", problem: MalformedPacket("HCI event: truncated header", at: 1))
      return
    }
    let there = reader.remaining
    let isLength = there + missing == Int(length)
    switch code {
    case 0x0E:
      self.init("Command Complete", missing: missing)
      if isLength { complete(&reader) }
    case 0x0F:
      self.init("Command Status", missing: missing)
      if isLength { read(PacketFormat("status credits:u8 command:opcode"), &reader, else: "parameters") }
    case 0x3E:
      guard let subevent = try? reader.uint8("subevent") else {
        self.init("LE Meta event", problem: MalformedPacket("LE Meta event: no subevent", at: reader.offset))
        return
      }
      self.init(HCITable.subevents[subevent]?.name ?? "LE subevent 0x\(Hex.encode([subevent]))", missing: missing)
      if isLength { read(HCITable.subevents[subevent]?.format, &reader, else: "parameters") }
    default:
      self.init(HCITable.events[code]?.name ?? "Event 0x\(Hex.encode([code]))", missing: missing)
      if isLength { read(HCITable.events[code]?.format, &reader, else: "parameters") }
    }
    if !isLength { fail(length: Int(length), there: there, &reader) }
  }

  private mutating func complete(_ reader: inout ByteReader) {
    var head: [PacketField] = []
    let isCut = missing > 0
    problem = PacketFormat("credits:u8 command:opcode").read(&reader, name, into: &head, isCut: isCut)
    fields += head
    guard problem == nil, let opcode = head.last?.value.number, opcode != 0 else { return rest(&reader, "octets") }
    var status: [PacketField] = []
    problem = PacketFormat("status").read(&reader, name, into: &status, isCut: isCut)
    fields += status
    guard problem == nil else { return }
    // Return parameters after an error have no meaning, whatever their length. Later versions may return more, which is valid.
    let format = UInt16(exactly: opcode).flatMap { HCITable.commands[$0]?.returned }
    if let format, status.first?.value == .status(.success) { problem = format.read(&reader, name, into: &fields, isCut: isCut) }
    if problem == nil { rest(&reader, "returned") }
  }

  /// Decodes an ACL packet with an L2CAP frame, with a fragment of a frame, or with vendor data on a handle without a link.
  private init(data reader: inout ByteReader, _ isVendorData: Bool, _ missing: Int) {
    guard let word = try? reader.uint16("handle"), let length = try? reader.uint16("length") else {
      self.init("ACL Data", problem: MalformedPacket("ACL Data: truncated header", at: 1))
      return
    }
    let boundaries = ["first_non_flushable", "continuing", "first_flushable", "complete"]
    let boundary = UInt8(truncatingIfNeeded: word >> 12) & 3
    let isVendorData = isVendorData || ConnectionHandle(word).isReserved
    self.init(
      isVendorData ? "Vendor Data" : "ACL Data",
      [
        PacketField("handle", .mask(UInt64(word & 0x0FFF), bytes: 2)),
        PacketField("boundary", .choice(boundary, boundaries[Int(boundary)])),
      ])
    if word >> 14 != 0 { fields.append(PacketField("broadcast", .number(Int64(word >> 14)))) }
    fields.append(PacketField("length", .number(Int64(length))))
    self.missing = missing
    if reader.remaining + missing == Int(length) {
      carry(reader.rest(), isStart: boundary != 1, isVendorData)
    } else {
      fail(length: Int(length), &reader)
    }
  }

  private mutating func carry(_ bytes: [UInt8], isStart: Bool, _ isVendorData: Bool) {
    guard !isVendorData else { return fields.append(PacketField("octets", .bytes(bytes))) }
    var recombination = Recombination()
    if isStart, let frame = recombination.add(bytes, isStart: true) {
      let (layer, packet) = Self.carried(by: frame)
      fields.append(PacketField("payload", .packet(packet, layer, frame.payload)))
    } else if !bytes.isEmpty {
      fields.append(PacketField("fragment", .bytes(bytes)))
      if recombination.dropped > 0 { problem = MalformedPacket("\(name): longer than its L2CAP frame", at: 5) }
    }
  }
}

/// The names and formats of HCI commands and events. The program parses the tables on first use.
package enum HCITable {
  package struct Command: Sendable {
    package let name: String
    /// The format of the command's parameters. Nil if the table lacks the format.
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

  /// Parses lines of the form `CODE; NAME; FORMAT` with the code in hex. Returns the names and formats by code.
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
