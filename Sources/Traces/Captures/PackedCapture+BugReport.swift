import BluetoothLE

extension PackedCapture {
  private static let (sectionStart, sectionEnd) = (Array("BEGIN:BTSNOOP_LOG_SUMMARY".utf8), Array("END:BTSNOOP_LOG_SUMMARY".utf8))

  /// Returns the range of the base64 text in a bug report. Returns nil without a log.
  mutating func section(_ file: [UInt8]) async throws -> Range<Int>? {
    guard let line = try await find(Self.sectionStart, in: file[...]), let start = file[line...].firstIndex(of: 0x0A) else { return nil }
    let end = try await find(Self.sectionEnd, in: file[start...]) ?? file.count
    // The line of the end starts with dashes.
    return start..<(file[start..<end].lastIndex { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") } ?? start) + 1
  }

  private mutating func find(_ text: [UInt8], in file: ArraySlice<UInt8>) async throws -> Int? {
    var index = file.startIndex
    while file.endIndex - index >= text.count {
      if file[index] == text[0], file[index...].starts(with: text) { return index }
      index += 1
      if index % 65_536 == 0 { try await step() }
    }
    return nil
  }

  /// Converts the log of a bug report to a btsnoop file. Android keeps the end of each log in this form, with all times relative to the last.
  mutating func btsnooz(_ text: ArraySlice<UInt8>) async throws -> [UInt8] {
    try Self.take(text.count, from: &left.text, "btsnooz: it has", limits.text >> 20, "MiB of base64")
    guard let bytes = Base64.decode(String(decoding: text, as: UTF8.self)) else { throw MalformedPacket("btsnooz: invalid base64", at: 0) }
    var reader = ByteReader(bytes)
    let version = try reader.uint8("btsnooz header")
    guard version == 1 || version == 2 else { throw MalformedPacket("btsnooz header: unsupported version \(version)", at: 0) }
    let last = Int64(clamping: try reader.uint64("btsnooz header"))
    // The header of zlib (RFC 1950). Some logs lack its checksum at the end.
    guard try reader.uint8("btsnooz header") & 15 == 8, try reader.uint8("btsnooz header") & 32 == 0 else {
      throw MalformedPacket("btsnooz header: no zlib data", at: 9)
    }
    let log = try await inflate(bytes[reader.offset...]).contents
    var (file, duration) = (Snoop.header, Int64(0))
    // The first pass only adds up the times.
    for isConverting in [false, true] {
      var elapsed: Int64 = 0
      reader = ByteReader(log)
      while !reader.isAtEnd {
        EventLoop.shared.spendStep()
        if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
        let kept = Int(try reader.uint16("btsnooz record"))
        let length = version == 1 ? kept : Int(try reader.uint16("btsnooz record"))
        elapsed += Int64(try reader.uint32("btsnooz record"))
        let type = try reader.uint8("btsnooz record")
        // The lengths count the H4 indicator.
        let packet = try reader.slice(kept - 1, "btsnooz record")
        guard isConverting, let (indicator, direction) = Self.kind(type) else { continue }
        // The times of the log are microseconds.
        let time = min(max(0, last - duration + elapsed), .max / 1000) * 1000
        var record = Snoop.Record(packet: [indicator] + packet, direction: direction, wallClock: time)
        record.missing = max(0, length - kept)
        let encoded = record.encoded
        try count(output: encoded.count)
        file += encoded
      }
      duration = elapsed
    }
    return file
  }

  private static func kind(_ type: UInt8) -> (indicator: UInt8, direction: Direction)? {
    switch type {
    case 0x10: (Packet.eventIndicator, .controllerToHost)
    case 0x11: (Packet.aclIndicator, .controllerToHost)
    case 0x12: (Packet.synchronousIndicator, .controllerToHost)
    case 0x17: (Packet.isochronousIndicator, .controllerToHost)
    case 0x20: (Packet.commandIndicator, .hostToController)
    case 0x21: (Packet.aclIndicator, .hostToController)
    case 0x22: (Packet.synchronousIndicator, .hostToController)
    case 0x2D: (Packet.isochronousIndicator, .hostToController)
    default: nil
    }
  }
}
