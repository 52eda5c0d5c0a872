package import Bluetooth

/// Reads a trace packet by packet, whatever the format of its file: btsnoop, pcap or pcapng.
package struct TraceReader: Sendable {
  // One of them; not an enumeration, of which each packet would copy what the reader knows.
  private var snoop: SnoopReader?
  private var pcap: PcapReader?
  private var pcapng: PcapngReader?

  package static func isTrace(_ file: [UInt8]) -> Bool {
    PcapngReader.isFile(file) || PcapReader.isFile(file) || file.starts(with: Snoop.magic)
  }

  /// - Throws: MalformedPacket, for what is none of these, and for packets that are not HCI's.
  package init(_ file: [UInt8]) throws(MalformedPacket) {
    if PcapngReader.isFile(file) {
      pcapng = try PcapngReader(file)
    } else if PcapReader.isFile(file) {
      pcap = try PcapReader(file)
    } else if file.starts(with: Snoop.magic) {
      snoop = try SnoopReader(file)
    } else {
      throw MalformedPacket("not a btsnoop, pcap or pcapng file", at: 0)
    }
  }

  /// - Returns: nil at the end of the file.
  /// - Throws: MalformedPacket with the offset in the file.
  package mutating func next() throws(MalformedPacket) -> Snoop.Record? {
    if snoop != nil { return try snoop?.next() }
    if pcap != nil { return try pcap?.next() }
    return try pcapng?.next()
  }

  /// Packets that whoever recorded has lost, up to the last record that was read.
  package var drops: Int { snoop?.drops ?? 0 }

  /// Packets of a capture's other interfaces, which are not Bluetooth's, or not readable, up to there.
  package var leftOut: Int { pcapng?.leftOut ?? 0 }
}
