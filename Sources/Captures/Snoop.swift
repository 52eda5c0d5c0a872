package import Bluetooth
package import HCI

/// The btsnoop file format, as `btmon` and Wireshark read and write it. All fields are big-endian. `SnoopReader` reads it; what is written here
/// has H4 records (datalink 1002).
package enum Snoop {
  package struct Record: Sendable, Equatable {
    /// H4 form.
    package var packet: [UInt8]
    package var direction: Direction
    /// Nanoseconds since 1970-01-01T00:00:00Z; the file holds microseconds.
    package var wallClock: Int64
    /// Of a file with the packets of several adapters (datalink 2001), the index of the one.
    package var adapter: UInt16 = 0
    /// Octets of its end that were not recorded.
    package var missing = 0
    /// Of what a sniffer has heard, which is no packet of HCI's: `packet` is empty then.
    package var air: AirPacket?
    /// What people have written about it, in a pcapng file: text that may be anything.
    package var comments: [[UInt8]] = []

    package init(packet: [UInt8], direction: Direction, wallClock: Int64) {
      self.packet = packet
      self.direction = direction
      self.wallClock = wallClock
    }

    package var encoded: [UInt8] {
      var octets: [UInt8] = []
      octets.reserveCapacity(24 + packet.count)
      Snoop.append(UInt64(UInt32(clamping: packet.count + missing)), 4, to: &octets)
      Snoop.append(UInt64(UInt32(clamping: packet.count)), 4, to: &octets)
      // Bit 0: received by the host. Bit 1: command or event.
      let isControl = packet.first == Packet.commandIndicator || packet.first == Packet.eventIndicator
      Snoop.append((direction == .controllerToHost ? 1 : 0) | (isControl ? 2 : 0), 4, to: &octets)
      Snoop.append(0, 4, to: &octets)
      Snoop.append(UInt64(bitPattern: wallClock / 1000 &+ Snoop.epoch), 8, to: &octets)
      return octets + packet
    }
  }

  /// What a packet of a file is, and how its flags say so.
  package enum Datalink: UInt32, Sendable {
    /// Without an indicator: the flags tell commands and events from data.
    case unencapsulated = 1001
    case h4 = 1002
    /// The Linux monitor's: the flags hold the adapter's index and an opcode.
    case monitor = 2001
  }

  /// What a file starts with.
  package static let header = header(.h4)

  package static func header(_ datalink: Datalink) -> [UInt8] {
    var octets = magic
    append(1, 4, to: &octets)
    append(UInt64(datalink.rawValue), 4, to: &octets)
    return octets
  }

  static let magic = Array("btsnoop".utf8) + [0]

  /// Microseconds from the format's epoch, the year 0, to 1970.
  static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  /// Reads a whole file.
  /// - Throws: for a datalink that is not known, lengths that cannot be, and a cut record.
  package static func parse(_ file: [UInt8]) throws(MalformedPacket) -> [Record] {
    var reader = try SnoopReader(file)
    var records: [Record] = []
    while let record = try reader.next() { records.append(record) }
    return records
  }

  private static func append(_ value: UInt64, _ octets: Int, to bytes: inout [UInt8]) {
    for index in (0..<octets).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }
}
