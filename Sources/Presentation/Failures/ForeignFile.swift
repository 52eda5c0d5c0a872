/// The recognition of files that look like traces to a user but have a format that blectl cannot read.
package enum ForeignFile {
  /// Returns the format of a file and advice on what to do with the file. Returns nil for an unknown format.
  package static func explain(_ file: [UInt8]) -> String? {
    for (magic, text) in magics where file.starts(with: magic) { return text }
    let head = file.prefix(1 << 20)
    if head.contains("BEGIN:BTSNOOP_LOG_SUMMARY".utf8) || head.prefix(256).contains("== dumpstate".utf8) {
      return "it is an Android bug report. Extract the log with btsnooz.py from Android's sources: btsnooz.py FILE > trace.btsnoop"
    }
    guard isPacketLogger(file, { $0 << 8 | Int($1) }) || isPacketLogger(file, { $0 >> 8 | Int($1) << 24 }) else { return nil }
    return
      "it is an Apple PacketLogger file. Show it with tshark -V -r FILE, or record a pcap file instead: idevicebtlogger -f pcap"
  }

  private static let magics: [([UInt8], String)] = [
    ([0x1F, 0x8B], "it is compressed. Run: gzip -d FILE"),
    ([0xFD, 0x37, 0x7A], "it is compressed. Run: xz -d FILE"),
    ([0x42, 0x5A, 0x68], "it is compressed. Run: bzip2 -d FILE"),
    ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed. Run: zstd -d FILE"),
    (
      [0x50, 0x4B, 3, 4],
      "it is a ZIP archive, such as an Android bug report. Unpack it and use FS/data/misc/bluetooth/logs/btsnoop_hci.log, or the text file."
    ),
  ]

  /// Returns whether the file consists of PacketLogger records: length, seconds, microseconds and type. Checks up to 8 records.
  /// - Parameter add: A function that adds the next byte to a length, in the byte order to try.
  private static func isPacketLogger(_ file: [UInt8], _ add: (Int, UInt8) -> Int) -> Bool {
    var (offset, count) = (0, 0)
    while count < 8, offset + 13 <= file.count {
      let length = file[offset..<offset + 4].reduce(0, add)
      // HCI, LMP and system messages.
      let isKnown = [0x00...0x03, 0x08...0x0D, 0xF7...0xFE].contains { $0.contains(file[offset + 12]) }
      guard isKnown, (9...0x1_0010).contains(length) else { return false }
      (offset, count) = (offset + 4 + length, count + 1)
    }
    return count > 0
  }
}
