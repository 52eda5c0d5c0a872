import BluetoothLE

/// A reader for files of Apple's PacketLogger (`.pklg`), in either byte order. On request, it also reads the records that are not HCI packets.
struct PacketLoggerReader: Sendable {
  private var reader: ByteReader
  private let isLittle: Bool

  /// Creates a reader. Returns nil for a file of another format.
  init?(_ file: [UInt8]) {
    guard let isLittle = Self.isLittle(file) else { return nil }
    (reader, self.isLittle) = (ByteReader(file), isLittle)
  }

  /// Returns the byte order of a file that starts with PacketLogger records. Returns nil for other files. Checks up to 8 records.
  static func isLittle(_ file: [UInt8]) -> Bool? {
    [false, true].first { isLittle in
      var reader = ByteReader(file)
      var count = 0
      while count < 8, reader.remaining >= 13, let length = try? reader.number(4, isLittle, "length"), lengths.contains(length),
        (try? reader.slice(8, "time")) != nil, let type = try? reader.uint8("type")
      {
        // HCI, LMP and system messages.
        guard [0x00...0x03, 0x08...0x0D, 0xF7...0xFE].contains(where: { $0.contains(type) }) else { return false }
        _ = try? reader.slice(min(reader.remaining, Int(length) - 9), "contents")
        count += 1
      }
      return count == 8 || count > 0 && reader.remaining < 13
    }
  }

  /// The length of a record, which counts 8 bytes of time, the type and the contents.
  private static let lengths = 9...Snoop.longest + 8

  /// Reads the next packet, or with `notes` the next record. Returns nil at the end of the file.
  mutating func next(notes: Bool = false) throws(MalformedPacket) -> Snoop.Record? {
    while !reader.isAtEnd {
      let length = try reader.number(4, isLittle, "PacketLogger record")
      guard Self.lengths.contains(length) else {
        throw MalformedPacket("PacketLogger record: invalid length \(length)", at: reader.offset - 4)
      }
      let seconds = Int64(try reader.number(4, isLittle, "PacketLogger record"))
      let microseconds = Int64(try reader.number(4, isLittle, "PacketLogger record"))
      let type = try reader.uint8("PacketLogger record")
      let bytes = try reader.slice(Int(length) - 9, "PacketLogger record")
      // Both have 32 bits: no overflow.
      let wallClock = (seconds * 1_000_000 + microseconds) * 1000
      if let (indicator, direction) = Self.kind(type) {
        return Snoop.Record(packet: [indicator] + bytes, direction: direction, wallClock: wallClock)
      }
      let text = type >= 0xF7 ? bytes.prefix { $0 != 0 } : []
      if notes { return Snoop.Note(kind: Self.notes[type] ?? "type_\(type)", text: Array(text)).record(at: wallClock) }
    }
    return nil
  }

  /// The kinds of records that are not HCI packets. Those from 0xF7 on are texts.
  private static let notes: [UInt8: String] = [
    0x0A: "lmp_sent", 0x0B: "lmp_received", 0xF7: "system_log", 0xF8: "kernel", 0xF9: "kernel_debug", 0xFA: "error", 0xFB: "power",
    0xFC: "note", 0xFD: "config", 0xFE: "new_controller",
  ]

  private static func kind(_ type: UInt8) -> (indicator: UInt8, direction: Direction)? {
    switch type {
    case 0: (Packet.commandIndicator, .hostToController)
    case 1: (Packet.eventIndicator, .controllerToHost)
    case 2: (Packet.aclIndicator, .hostToController)
    case 3: (Packet.aclIndicator, .controllerToHost)
    case 8: (Packet.synchronousIndicator, .hostToController)
    case 9: (Packet.synchronousIndicator, .controllerToHost)
    default: nil
    }
  }
}
