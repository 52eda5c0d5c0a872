package import Bluetooth

/// Reads a trace packet by packet, whatever the format of its file: btsnoop, pcap or pcapng.
package struct TraceReader: Sendable {
  private enum Format: Sendable {
    case snoop(SnoopReader)
    case pcap(PcapReader)
    case pcapng(PcapngReader)
  }

  private var format: Format

  /// - Throws: MalformedPacket, for what is none of these, and for packets that are not HCI's.
  package init(_ file: [UInt8]) throws(MalformedPacket) {
    if PcapngReader.isFile(file) {
      format = .pcapng(try PcapngReader(file))
    } else if PcapReader.isFile(file) {
      format = .pcap(try PcapReader(file))
    } else if file.starts(with: Snoop.magic) {
      format = .snoop(try SnoopReader(file))
    } else {
      throw MalformedPacket("neither a btsnoop, a pcap nor a pcapng file", at: 0)
    }
  }

  /// - Returns: nil at the end of the file.
  /// - Throws: MalformedPacket with the offset in the file.
  package mutating func next() throws(MalformedPacket) -> Snoop.Record? {
    switch format {
    case .snoop(var reader):
      defer { format = .snoop(reader) }
      return try reader.next()
    case .pcap(var reader):
      defer { format = .pcap(reader) }
      return try reader.next()
    case .pcapng(var reader):
      defer { format = .pcapng(reader) }
      return try reader.next()
    }
  }

  /// Packets that whoever recorded has lost, up to the last record that was read.
  package var drops: Int { if case .snoop(let reader) = format { reader.drops } else { 0 } }
}
