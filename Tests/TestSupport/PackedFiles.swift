package import BluetoothLE
import BluetoothLEText

/// Files of other programs with HCI packets, built without compression.
package enum PackedFiles {
  package typealias Packet = (bytes: [UInt8], direction: Direction, microseconds: Int64)

  package static func number(_ value: some BinaryInteger, _ bytes: Int, isLittle: Bool = true) -> [UInt8] {
    let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return isLittle ? little : little.reversed()
  }

  /// Returns a PacketLogger file.
  package static func packetLogger(_ packets: [Packet], isLittle: Bool) -> [UInt8] {
    packets.flatMap { packet -> [UInt8] in
      let type: UInt8 = packet.bytes[0] == 1 ? 0 : packet.bytes[0] == 4 ? 1 : packet.direction == .hostToController ? 2 : 3
      return number(packet.bytes.count + 8, 4, isLittle: isLittle) + number(packet.microseconds / 1_000_000, 4, isLittle: isLittle)
        + number(packet.microseconds % 1_000_000, 4, isLittle: isLittle) + [type] + packet.bytes.dropFirst()
    }
  }

  /// Returns a DEFLATE stream of stored blocks.
  package static func stored(_ contents: [UInt8]) -> [UInt8] {
    var (stream, rest): ([UInt8], ArraySlice<UInt8>) = ([], contents[...])
    repeat {
      let part = rest.prefix(0xFFFF)
      rest = rest.dropFirst(part.count)
      stream += [rest.isEmpty ? 1 : 0] + number(part.count, 2) + number(~part.count, 2) + part
    } while !rest.isEmpty
    return stream
  }

  private static func checksum(_ contents: [UInt8]) -> [UInt8] {
    var crc = CRC32()
    crc.add(contents[...])
    return number(crc.value, 4)
  }

  /// Returns a gzip file with optional fields: an extra field, a name, a comment and a checksum of the header.
  package static func gzip(_ contents: [UInt8], stream: [UInt8]? = nil) -> [UInt8] {
    let header = [0x1F, 0x8B, 8, 0x1E, 0, 0, 0, 0, 0, 3, 2, 0, 7, 7] + Array("name\0comment\0".utf8)
    return header + checksum(header)[..<2] + (stream ?? stored(contents)) + checksum(contents) + number(contents.count, 4)
  }

  /// Returns a ZIP archive. The local headers have extra fields that the directory lacks.
  package static func zip(_ entries: [(name: String, contents: [UInt8])]) -> [UInt8] {
    var (file, directory): ([UInt8], [UInt8]) = ([], [])
    for (index, entry) in entries.enumerated() {
      let data = index % 2 == 0 ? entry.contents : stored(entry.contents)
      let fields =
        [0, 0, index % 2 == 0 ? 0 : 8, 0, 0, 0, 0, 0] + checksum(entry.contents) + number(data.count, 4) + number(entry.contents.count, 4)
        + number(entry.name.utf8.count, 2)
      directory += [0x50, 0x4B, 1, 2, 20, 0, 20, 0] + fields + number(0, 4) + number(0, 8) + number(file.count, 4) + Array(entry.name.utf8)
      file += [0x50, 0x4B, 3, 4, 20, 0] + fields + [3, 0] + Array(entry.name.utf8) + [1, 2, 3] + data
    }
    return file + directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + number(entries.count, 2) + number(entries.count, 2)
      + number(directory.count, 4) + number(file.count, 4) + [0, 0]
  }

  /// Returns an Android bug report with a log of these packets.
  package static func report(_ packets: [Packet], version: UInt8) -> [UInt8] {
    var (log, last): ([UInt8], Int64) = ([], packets.first?.microseconds ?? 0)
    for packet in packets {
      let type: UInt8 = packet.bytes[0] == 1 ? 0x20 : packet.bytes[0] == 4 ? 0x10 : packet.direction == .hostToController ? 0x21 : 0x11
      log += number(packet.bytes.count, 2) + (version == 1 ? [] : number(packet.bytes.count, 2)) + number(packet.microseconds - last, 4)
      log += [type] + packet.bytes.dropFirst()
      last = packet.microseconds
    }
    return report([version] + number(last, 8) + [0x78, 1] + stored(log) + adler(log))
  }

  /// Returns an Android bug report with the base64 text of these bytes.
  package static func report(_ bytes: [UInt8]) -> [UInt8] {
    let text = Base64.encode(bytes)
    var lines: [Substring] = []
    var rest = text[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(76))
      rest = rest.dropFirst(76)
    }
    return Array(
      "== dumpstate\n-- other --\n--- BEGIN:BTSNOOP_LOG_SUMMARY (1 bytes in) ---\n\(lines.joined(separator: "\r\n"))\n--- END:BTSNOOP_LOG_SUMMARY ---\n--\n"
        .utf8)
  }

  private static func adler(_ contents: [UInt8]) -> [UInt8] {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in contents {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return number(high << 16 | low, 4, isLittle: false)
  }
}
