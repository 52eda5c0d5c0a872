package import BluetoothLE

/// A reader for the packets of a btsnoop, pcap, pcapng or PacketLogger file. `PackedCapture` unpacks these from other files.
package struct TraceReader: Sendable {
  /// The maximum length of a file with a trace, in bytes.
  package static let largestFile = 256 << 20

  // One of them is set. An enumeration would copy the reader's state with each packet.
  private var snoop: SnoopReader?
  private var pcap: PcapReader?
  private var pcapng: PcapngReader?
  private var packetLogger: PacketLoggerReader?

  /// Detects the format of a file and reads the file's header.
  /// - Throws: `MalformedPacket` for other formats, and for packets that are not Bluetooth packets.
  package init(_ file: [UInt8]) throws(MalformedPacket) {
    if PcapngReader.isFile(file) {
      pcapng = try PcapngReader(file)
    } else if PcapReader.isFile(file) {
      pcap = try PcapReader(file)
    } else if file.starts(with: Snoop.magic) {
      snoop = try SnoopReader(file)
    } else if let reader = PacketLoggerReader(file) {
      packetLogger = reader
    } else {
      throw MalformedPacket("not a btsnoop, pcap, pcapng or PacketLogger file", at: 0)
    }
  }

  /// Reads the next packet. Returns nil at the end of the file.
  /// - Parameter notes: Whether to read also the records that are not packets.
  /// - Throws: MalformedPacket with the offset in the file, in bytes.
  package mutating func next(notes: Bool = false) throws(MalformedPacket) -> Snoop.Record? {
    if snoop != nil { return try snoop?.next(notes: notes) }
    if pcap != nil { return try pcap?.next(notes: notes) }
    return pcapng != nil ? try pcapng?.next(notes: notes) : try packetLogger?.next(notes: notes)
  }

  /// The number of packets that the recorder lost, up to the last record read.
  package var drops: Int { snoop?.drops ?? 0 }

  /// The number of packets on interfaces without Bluetooth packets, up to the last record read.
  package var leftOut: Int { pcapng?.leftOut ?? 0 }
}
