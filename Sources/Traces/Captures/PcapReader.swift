import BluetoothLE
import BluetoothLEText

/// A reader for pcap files (the format of libpcap) of either byte order, with times in microseconds or nanoseconds.
struct PcapReader: Sendable {
  private var reader: ByteReader
  private let isLittle: Bool
  /// The unit of the fraction of a second in a packet's time, in nanoseconds.
  private let unit: Int64
  private let link: CaptureLink
  private var guess = DirectionGuess()

  static func isFile(_ file: [UInt8]) -> Bool { magic(file) != nil }

  private static func magic(_ file: [UInt8]) -> (isLittle: Bool, unit: Int64)? {
    switch Array(file.prefix(4)) {
    case [0xD4, 0xC3, 0xB2, 0xA1]: (true, 1000)
    case [0xA1, 0xB2, 0xC3, 0xD4]: (false, 1000)
    case [0x4D, 0x3C, 0xB2, 0xA1]: (true, 1)
    case [0xA1, 0xB2, 0x3C, 0x4D]: (false, 1)
    default: nil
    }
  }

  /// Reads the file's header.
  /// - Throws: `MalformedPacket` for an invalid header, and for packets that are not Bluetooth packets.
  init(_ file: [UInt8]) throws(MalformedPacket) {
    guard let (isLittle, unit) = Self.magic(file) else { throw MalformedPacket("not a pcap file", at: 0) }
    (self.isLittle, self.unit) = (isLittle, unit)
    reader = ByteReader(file)
    _ = try reader.slice(20, "pcap header")
    // The upper bits tell the length of frame check sequences.
    link = try CaptureLink(UInt32(try reader.number(4, isLittle, "pcap header")) & 0x03FF_FFFF, at: 20)
    // The first packet tells whether the file has Bluetooth packets.
    var ahead = reader
    if link == .perPacket, (try? ahead.slice(20, "pcap packet")) != nil, let type = try? ahead.uint32("link type") {
      if CaptureLink(perPacket: type) == nil { _ = try CaptureLink(type, at: 44) }
    }
  }

  /// Reads the next packet, or with `notes` the next record. Returns nil at the end of the file.
  mutating func next(notes: Bool = false) throws(MalformedPacket) -> Snoop.Record? {
    while !reader.isAtEnd {
      let seconds = Int64(try reader.number(4, isLittle, "pcap packet"))
      let fraction = Int64(try reader.number(4, isLittle, "pcap packet"))
      let position = reader.offset
      let included = try reader.number(4, isLittle, "pcap packet")
      let original = try reader.number(4, isLittle, "pcap packet")
      guard included <= original, included <= Snoop.longest else {
        throw MalformedPacket("pcap packet: invalid length \(included)", at: position)
      }
      let bytes = try reader.slice(Int(included), "pcap packet")
      // Both have 32 bits: no overflow.
      guard var record = link.record(bytes, at: seconds * 1_000_000_000 + fraction * unit, direction: nil, guess: &guess, notes: notes)
      else { continue }
      record.missing = Int(original - included)
      return record
    }
    return nil
  }
}

extension ByteReader {
  /// Reads an unsigned number.
  /// - Parameter bytes: The length in bytes, 0–8.
  mutating func number(_ bytes: Int, _ isLittle: Bool, _ what: StaticString) throws(MalformedPacket) -> UInt64 {
    (isLittle ? ByteOrder.little : .big).number(try slice(bytes, what))
  }
}
