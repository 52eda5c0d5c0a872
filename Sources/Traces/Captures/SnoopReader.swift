package import BluetoothLE

/// A reader for the packets of a btsnoop file, and on request for the monitor's records that are not packets (system notes, management).
package struct SnoopReader: Sendable {
  private var reader: ByteReader
  private let datalink: Snoop.Datalink
  /// The number of packets that the recorder lost, up to the last record read.
  package private(set) var drops = 0

  /// Reads the file's header.
  /// - Throws: MalformedPacket for files other than btsnoop version 1, and for an unknown datalink.
  package init(_ file: [UInt8]) throws(MalformedPacket) {
    reader = ByteReader(file)
    guard try reader.slice(8, "btsnoop header") == Snoop.magic[...] else { throw MalformedPacket("not a btsnoop file", at: 0) }
    guard try reader.bigEndian(4, "btsnoop header") == 1 else { throw MalformedPacket("btsnoop header: not version 1", at: 8) }
    let number = try reader.bigEndian(4, "btsnoop header")
    guard let datalink = UInt32(exactly: number).flatMap(Snoop.Datalink.init) else {
      throw MalformedPacket("btsnoop header: unsupported datalink \(number) (supported: 1001, 1002, 2001)", at: 12)
    }
    self.datalink = datalink
  }

  /// Reads the next packet, or with `notes` the next record. Returns nil at the end of the file.
  /// - Throws: MalformedPacket with the offset in the file, in bytes.
  package mutating func next(notes: Bool = false) throws(MalformedPacket) -> Snoop.Record? {
    while !reader.isAtEnd {
      let original = try reader.bigEndian(4, "btsnoop record")
      let position = reader.offset
      let included = try reader.bigEndian(4, "btsnoop record")
      guard included <= original, included <= Snoop.longest else {
        throw MalformedPacket("btsnoop record: invalid length \(included)", at: position)
      }
      let flags = UInt32(truncatingIfNeeded: try reader.bigEndian(4, "btsnoop record"))
      // The count is cumulative, but some recorders restart it.
      drops = max(drops, Int(try reader.bigEndian(4, "btsnoop record")))
      let time = try reader.bigEndian(8, "btsnoop record")
      let (sinceEpoch, overflow) = Int64(bitPattern: time).subtractingReportingOverflow(Snoop.epoch)
      let (wallClock, tooFar) = sinceEpoch.multipliedReportingOverflow(by: 1000)
      guard !overflow, !tooFar else { throw MalformedPacket("btsnoop record: time out of range", at: reader.offset - 8) }
      let bytes = try reader.slice(Int(included), "btsnoop record")
      guard let (prefix, direction) = kind(flags) else {
        guard notes else { continue }
        var record = Snoop.monitorNote(flags & 0xFFFF, bytes).record(at: wallClock)
        record.adapter = UInt16(truncatingIfNeeded: flags >> 16)
        return record
      }
      var record = Snoop.Record(packet: prefix + bytes, direction: direction, wallClock: wallClock)
      record.missing = Int(original - included)
      if datalink == .monitor { record.adapter = UInt16(truncatingIfNeeded: flags >> 16) }
      return record
    }
    return nil
  }

  /// Returns the H4 indicator that the record lacks (empty if none) and the direction. Returns nil if the record is not a packet.
  private func kind(_ flags: UInt32) -> ([UInt8], Direction)? {
    let direction: Direction = flags & 1 == 0 ? .hostToController : .controllerToHost
    switch datalink {
    case .h4: return ([], direction)
    case .unencapsulated:
      guard flags & 2 != 0 else { return ([Packet.aclIndicator], direction) }
      return ([direction == .hostToController ? Packet.commandIndicator : Packet.eventIndicator], direction)
    case .monitor: return Snoop.monitorKind(flags & 0xFFFF).map { ([$0], $1) }
    }
  }
}

extension Snoop {
  /// The maximum length of a record's packet in bytes: the H4 indicator, the longest header and 65,535 bytes.
  static let longest: UInt64 = 0x1_0010

  /// Returns the H4 indicator and the direction of a monitor opcode (Linux, net/bluetooth/hci_mon.h). Nil for records other than packets.
  static func monitorKind(_ opcode: UInt32) -> (indicator: UInt8, direction: Direction)? {
    switch opcode {
    case 2: (Packet.commandIndicator, .hostToController)
    case 3: (Packet.eventIndicator, .controllerToHost)
    case 4: (Packet.aclIndicator, .hostToController)
    case 5: (Packet.aclIndicator, .controllerToHost)
    case 6: (Packet.synchronousIndicator, .hostToController)
    case 7: (Packet.synchronousIndicator, .controllerToHost)
    case 18: (Packet.isochronousIndicator, .hostToController)
    case 19: (Packet.isochronousIndicator, .controllerToHost)
    default: nil
    }
  }

  /// Returns the note in a monitor record other than a packet. A user's log entry has a priority, and a program's name of a given length.
  static func monitorNote(_ opcode: UInt32, _ bytes: ArraySlice<UInt8>) -> Note {
    let kinds: [UInt32: String] = [
      0: "new_index", 1: "delete_index", 8: "open_index", 9: "close_index", 10: "index_info", 11: "vendor_diagnostics", 12: "system_note",
      13: "user_logging", 14: "control_open", 15: "control_close", 16: "control_command", 17: "control_event",
    ]
    let text = opcode == 12 ? bytes : opcode == 13 ? bytes.dropFirst(2) : []
    let parts = text.split(separator: 0).map { Array($0) }
    return Note(kind: kinds[opcode] ?? "opcode_\(opcode)", text: Array(parts.joined(separator: Array(": ".utf8))))
  }
}

extension ByteReader {
  fileprivate mutating func bigEndian(_ bytes: Int, _ what: StaticString) throws(MalformedPacket) -> UInt64 {
    try slice(bytes, what).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
