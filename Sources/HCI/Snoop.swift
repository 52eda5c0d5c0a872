package import Bluetooth

/// The btsnoop file format with H4 records (datalink 1002), as `btmon -r` and Wireshark read it. All fields are big-endian.
package enum Snoop {
  package struct Record: Sendable, Equatable {
    /// H4 form.
    package var packet: [UInt8]
    package var direction: Direction
    /// Nanoseconds since 1970-01-01T00:00:00Z; the file holds microseconds.
    package var wallClock: Int64

    package init(packet: [UInt8], direction: Direction, wallClock: Int64) {
      self.packet = packet
      self.direction = direction
      self.wallClock = wallClock
    }

    package var encoded: [UInt8] {
      var octets: [UInt8] = []
      octets.reserveCapacity(24 + packet.count)
      let length = UInt64(UInt32(clamping: packet.count))
      Snoop.append(length, 4, to: &octets)
      Snoop.append(length, 4, to: &octets)
      // Bit 0: received by the host. Bit 1: command or event.
      let isControl = packet.first == Packet.commandIndicator || packet.first == Packet.eventIndicator
      Snoop.append((direction == .controllerToHost ? 1 : 0) | (isControl ? 2 : 0), 4, to: &octets)
      Snoop.append(0, 4, to: &octets)
      Snoop.append(UInt64(bitPattern: wallClock / 1000 &+ Snoop.epoch), 8, to: &octets)
      return octets + packet
    }
  }

  /// What a file starts with.
  package static let header: [UInt8] = {
    var octets = Array("btsnoop".utf8) + [0]
    append(1, 4, to: &octets)
    append(1002, 4, to: &octets)
    return octets
  }()

  /// Microseconds from the format's epoch, the year 0, to 1970.
  private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  /// Reads a whole file.
  /// - Throws: for another datalink, lengths that cannot be, and a cut record.
  package static func parse(_ file: [UInt8]) throws(MalformedPacket) -> [Record] {
    var reader = ByteReader(file)
    guard try reader.bytes(header.count, "btsnoop header") == header else {
      throw MalformedPacket("btsnoop header: not version 1, H4", at: 0)
    }
    var records: [Record] = []
    while !reader.isAtEnd {
      let original = try bigEndian(4, &reader)
      let position = reader.offset
      let included = try bigEndian(4, &reader)
      guard included <= original, included <= 0x1_0010 else { throw MalformedPacket("btsnoop record: length \(included)", at: position) }
      let flags = try bigEndian(4, &reader)
      _ = try bigEndian(4, &reader)
      let (time, overflow) = Int64(bitPattern: try bigEndian(8, &reader)).subtractingReportingOverflow(epoch)
      let (wallClock, tooFar) = time.multipliedReportingOverflow(by: 1000)
      guard !overflow, !tooFar else { throw MalformedPacket("btsnoop record: time out of range", at: reader.offset - 8) }
      records.append(
        Record(
          packet: try reader.bytes(Int(included), "btsnoop record"), direction: flags & 1 == 0 ? .hostToController : .controllerToHost,
          wallClock: wallClock))
    }
    return records
  }

  private static func bigEndian(_ octets: Int, _ reader: inout ByteReader) throws(MalformedPacket) -> UInt64 {
    try reader.slice(octets, "btsnoop record").reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate static func append(_ value: UInt64, _ octets: Int, to bytes: inout [UInt8]) {
    for index in (0..<octets).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }
}
