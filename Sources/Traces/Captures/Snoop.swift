package import BluetoothLE

/// The btsnoop file format of `btmon` and Wireshark. All fields are big-endian.
/// `SnoopReader` reads such files. This type writes H4 records (datalink 1002).
package enum Snoop {
  package struct Record: Sendable, Equatable {
    /// The packet in H4 form. Empty for a sniffer's packet.
    package var packet: [UInt8]
    package var direction: Direction
    /// The time in nanoseconds since 1970-01-01T00:00:00Z. The file has microseconds.
    package var wallClock: Int64
    /// The index of the adapter, from 0, in a file with several adapters (datalink 2001, pcapng).
    package var adapter: UInt16 = 0
    /// The number of bytes at the end of the packet that the recorder did not keep.
    package var missing = 0
    /// The Link Layer packet of a sniffer. Nil for an HCI packet, which is in `packet`.
    package var air: AirPacket?
    /// The comments on the packet in a pcapng file, as untrusted bytes.
    package var comments: [[UInt8]] = []
    /// The note of the recorder that the file has in place of a packet. Nil for a packet.
    package var note: Note?

    package init(packet: [UInt8], direction: Direction, wallClock: Int64) {
      (self.packet, self.direction, self.wallClock) = (packet, direction, wallClock)
    }

    package var encoded: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(24 + packet.count)
      Snoop.append(UInt64(UInt32(clamping: packet.count + missing)), 4, to: &bytes)
      Snoop.append(UInt64(UInt32(clamping: packet.count)), 4, to: &bytes)
      // Bit 0: received by the host. Bit 1: command or event.
      let isControl = packet.first == Packet.commandIndicator || packet.first == Packet.eventIndicator
      Snoop.append((direction == .controllerToHost ? 1 : 0) | (isControl ? 2 : 0), 4, to: &bytes)
      Snoop.append(0, 4, to: &bytes)
      Snoop.append(UInt64(bitPattern: wallClock / 1000 &+ Snoop.epoch), 8, to: &bytes)
      return bytes + packet
    }
  }

  /// A record that is no packet, such as a user's note or a change of an adapter.
  package struct Note: Sendable, Equatable {
    /// The name of its kind in snake case, such as `system_note`.
    package let kind: String
    /// The text of the note, as untrusted bytes. Empty if the record has no text.
    package let text: [UInt8]

    func record(at wallClock: Int64) -> Record {
      var record = Record(packet: [], direction: .hostToController, wallClock: wallClock)
      record.note = self
      return record
    }
  }

  /// The form of the packets and of their flags in a btsnoop file.
  package enum Datalink: UInt32, Sendable {
    /// HCI packets without an indicator. The flags distinguish commands and events from data.
    case unencapsulated = 1001
    case h4 = 1002
    /// Packets in the form of the Linux monitor. The flags have the adapter's index and an opcode.
    case monitor = 2001
  }

  /// The header of a btsnoop file with H4 records.
  package static let header = header(.h4)

  package static func header(_ datalink: Datalink) -> [UInt8] {
    var bytes = magic
    append(1, 4, to: &bytes)
    append(UInt64(datalink.rawValue), 4, to: &bytes)
    return bytes
  }

  static let magic = Array("btsnoop".utf8) + [0]

  /// The microseconds from the year 0, the epoch of btsnoop, to 1970-01-01.
  static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  private static func append(_ value: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }
}
