import BluetoothLE

/// The pcapng output: one section in little-endian byte order, with one interface of HCI packets and times in nanoseconds.
package enum Pcapng {
  /// The section header and the interface description that start a file.
  package static let header: [UInt8] =
    // Byte order, version 1.0, unknown length of the section.
    block(0x0A0D_0D0A, [0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
    // Link type, no limit of length, resolution of 1 ns.
    + block(1, little(UInt64(CaptureLink.h4WithDirection.rawValue), 2) + [0, 0, 0, 0, 0, 0] + [9, 0, 1, 0, 9, 0, 0, 0] + [0, 0, 0, 0])

  /// Returns an Enhanced Packet Block with the record's packet.
  package static func packet(_ record: Snoop.Record) -> [UInt8] {
    let time = UInt64(max(0, record.wallClock))
    let bytes = [0, 0, 0, record.direction == .hostToController ? 0 : 1] + record.packet
    let padding = [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    return block(
      6,
      little(0, 4) + little(time >> 32, 4) + little(time, 4) + little(UInt64(bytes.count), 4)
        + little(UInt64(bytes.count + record.missing), 4) + bytes + padding)
  }

  private static func block(_ type: UInt64, _ body: [UInt8]) -> [UInt8] {
    let length = little(UInt64(body.count + 12), 4)
    return little(type, 4) + length + body + length
  }

  private static func little(_ number: UInt64, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }
}
