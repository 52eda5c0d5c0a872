/// Files that people take for a trace because one is in them, or because another program reads them.
enum ForeignFile {
  /// - Returns: what the file is and what to do with it, in sentences; nil where nobody knows.
  static func explain(_ file: [UInt8]) -> String? {
    for (magic, text) in magics where file.starts(with: magic) { return text }
    let head = file.prefix(1 << 20)
    if head.contains("BEGIN:BTSNOOP_LOG_SUMMARY".utf8) || head.prefix(256).contains("== dumpstate".utf8) {
      return "it is a bug report of Android. Take the log out of it with btsnooz.py of Android's sources: btsnooz.py FILE > trace.btsnoop"
    }
    guard isPacketLogger(file, { $0 << 8 | Int($1) }) || isPacketLogger(file, { $0 >> 8 | Int($1) << 24 }) else { return nil }
    return
      "it is a log of Apple's PacketLogger, which blectl does not read. Show it with tshark -V -r FILE, or record a pcap with idevicebtlogger -f pcap"
  }

  private static let magics: [([UInt8], String)] = [
    ([0x1F, 0x8B], "it is compressed. Unpack it first: gzip -d FILE"),
    ([0xFD, 0x37, 0x7A], "it is compressed. Unpack it first: xz -d FILE"),
    ([0x42, 0x5A, 0x68], "it is compressed. Unpack it first: bzip2 -d FILE"),
    ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed. Unpack it first: zstd -d FILE"),
    (
      [0x50, 0x4B, 3, 4],
      "it is a ZIP archive, as bug reports of Android are. Unpack it, and take FS/data/misc/bluetooth/logs/btsnoop_hci.log, or the text in it"
    ),
  ]

  /// There is no magic: each record has its length, seconds, microseconds, and a known type. The last one may be cut.
  /// - Parameter add: the next octet of a length to those before.
  private static func isPacketLogger(_ file: [UInt8], _ add: (Int, UInt8) -> Int) -> Bool {
    var (offset, count) = (0, 0)
    while count < 8, offset + 13 <= file.count {
      let length = file[offset..<offset + 4].reduce(0, add)
      // HCI, LMP and what the system says.
      let isKnown = [0x00...0x03, 0x08...0x0D, 0xF7...0xFE].contains { $0.contains(file[offset + 12]) }
      guard isKnown, (9...0x1_0010).contains(length) else { return false }
      (offset, count) = (offset + 4 + length, count + 1)
    }
    return count > 0
  }
}
