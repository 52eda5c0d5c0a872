import Foundation
import TestSupport

/// `decode trace` reads recordings of sniffers.
@Suite(.timeLimit(.minutes(15))) struct SnifferTraceTests {
  /// Returns a connection from advertising to encryption, with two repeated packets and two with a wrong CRC. Its link type is 256.
  private static func file() throws -> [UInt8] { try Array(Vectors.own("sniffer.pcap")) }

  /// Returns the same packets with another link type. - Parameter change: Converts a packet. Nil leaves it out.
  private static func pcap(_ type: UInt16, _ change: ([UInt8]) -> [UInt8]?) throws -> [UInt8] {
    let file = try file()
    var made = file.prefix(20) + [UInt8(truncatingIfNeeded: type), UInt8(type >> 8), 0, 0]
    var rest = file.dropFirst(24)
    while rest.count >= 16 {
      let (time, length) = (rest.prefix(8), Int(rest[rest.startIndex + 8]))
      let packet = Array(rest.dropFirst(16).prefix(length))
      rest = rest.dropFirst(16 + length)
      if let packet = change(packet) { made += time + [UInt8(packet.count), 0, 0, 0, UInt8(packet.count), 0, 0, 0] + packet }
    }
    return Array(made)
  }

  private static func flags(_ packet: [UInt8]) -> UInt16 { UInt16(packet[8]) | UInt16(packet[9]) << 8 }

  /// Converts to link type 272: board, length, version 3, counter, kind; length, flags, channel, RSSI, event, time.
  private static func nordic(_ packet: [UInt8]) -> [UInt8] {
    let isAdvertising = packet[10...].starts(with: [0xD6, 0xBE, 0x89, 0x8E])
    let (flags, rf) = (Self.flags(packet), packet[0])
    let channel = rf == 0 ? 37 : rf == 12 ? 38 : rf == 39 ? 39 : rf < 12 ? rf - 1 : rf - 2
    let byte = UInt8(flags & 0x0800 == 0 ? 0 : 1) | (flags >> 7 & 7 == 2 ? 2 : 0)
    let event: [UInt8] = [10, byte, channel, 60, 0, 0, 0, 0, 0, 0] + packet[10...]
    return [1, UInt8(event.count), 0, 3, 0, 0, isAdvertising ? 2 : 6] + event
  }

  private static func whatIsSaid(_ file: [UInt8]) throws -> [String] {
    let result = try Blectl.run(["decode", "trace", "-"], input: file)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    return result.text.split(separator: "\n").compactMap { line in
      // Ignore numbers, channels and signal strengths. Damaged packets are not in every file.
      if line.contains("crc wrong") || line.contains("Empty PDU") { return nil }
      if line.contains("ADV") || line.contains("SCAN") || line.contains(" packets in ") { return nil }
      return line.range(of: "0x50654321").map { String(line[$0.lowerBound...]) } ?? String(line)
    }
  }

  @Test func aSniffersTraceReadsLikeAHosts() throws {
    let result = try Blectl.run(["decode", "trace", "-"], input: Self.file())
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    for mention in [
      "    1     0.000000 > ch 37 -60 dBm ADV_IND  advertiser address type public, advertiser address C0:FF:EE:00:00:07, data Flags",
      "ADV_NONCONN_IND  advertiser address type public", ", crc wrong\n", " > ch 12 -60 dBm AUX_ADV_IND  mode neither",
      "< ch 19 -60 dBm 0x50654321 Read Request  0x0006 ffe1\n", "LL Data PDU  kind continuation, nesn 1, sn 0, md off\n",
      "> ch 3 -60 dBm 0x50654321 Read Response  0x0006 ffe1, value 010203",
      "Error Response  request Read Request, 0x0003 2a00 Device Name, error Read",
      "> ch 29 -60 dBm 0x50654321 LL_START_ENC_REQ", "< ch 13 -60 dBm 0x50654321 Encrypted PDU  kind control",
      "53 packets in 0.708974 s: 8 advertising, 43 connection, 2 with a wrong CRC\n",
      "Connection 0x50654321 with C0:FF:EE:00:00:07/public as peripheral, 11:22:33:44:55:66/random as central, ",
      "MTU 100, encrypted, end not captured",
      "  central     Read Request                0x0006 ffe1              1      60 ",
      "  peripheral  Handle Value Notification   0x0006 ffe1              1      2 ",
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
    // A repeated packet counts once.
    #expect(result.text.components(separatedBy: ", repeated on\n").count == 3)
    #expect(result.text.components(separatedBy: "Write Response").count == 2)
  }

  /// The sniffer's flags, or the timing, show the direction.
  @Test func theFormatMakesNoDifference() throws {
    let wanted = try Self.whatIsSaid(Self.file())
    #expect(wanted.count > 30)
    let files = [
      try Self.pcap(256) { packet in
        var packet = packet
        if [2, 3].contains(Self.flags(packet) >> 7 & 7) { (packet[8], packet[9]) = (packet[8] & 0x7F, packet[9] & 0xFC) }
        return packet
      }, try Self.pcap(251) { Self.flags($0) & 0x0800 == 0 ? nil : Array($0[10...]) }, try Self.pcap(272, Self.nordic),
    ]
    for file in files { #expect(try Self.whatIsSaid(file) == wanted) }
  }

  /// Version 3 of the nRF Sniffer marks advertising packets by kind, also on another access address.
  @Test func theKindTellsPeriodicAdvertising() throws {
    let event: [UInt8] = [10, 0x05, 4, 60, 0, 0, 0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12, 7, 6, 2, 0, 2, 1, 5, 0xFF, 1, 2, 3]
    let file = try Self.pcap(272) { _ in [1, UInt8(event.count), 0, 3, 0, 0, 2] + event }
    let result = try Blectl.run(["decode", "trace", "--summary", "-"], input: file)
    #expect(result.text.contains(": 53 advertising, 0 connection,") && !result.text.contains("Connection 0x"), "\(result.text)")
  }

  @Test func recordsSayWhatTheSnifferSays() throws {
    let records = try Blectl.run(["decode", "trace", "-", "--json"], input: Self.file()).records
    let first = try #require(records.first)
    #expect(first.string("layer") == "ll" && first.string("name") == "ADV_IND" && first.string("access_address") == "0x8e89bed6")
    #expect(first.int("channel") == 37 && first.int("rssi") == -60 && first.string("phy") == "1m" && first.string("sender") == nil)
    let read = try #require(records.first { $0.string("name") == "Read Response" })
    #expect(read.string("layer") == "att" && read.string("sender") == "peripheral" && read.string("address") == "C0:FF:EE:00:00:07")
    let whole = try #require(records.first { $0.string("event") == "trace" })
    #expect(whole.int("packets") == 53 && whole.int("air") == 53 && whole.int("advertising") == 8 && whole.int("damaged") == 2)
    #expect(whole.int("malformed") == 0)
    let link = try #require(records.first { $0.string("event") == "link" })
    #expect(link.string("central_address") == "11:22:33:44:55:66" && link.bool("encrypted") == true && link.int("mtu") == 100)
    #expect(link.records("conversations").map { $0.string("from") }.contains("central"))
  }

  @Test func whatIsOfNoConnectionMakesNone() throws {
    // RF channel 4; the flags mean whole. AUX_SYNC_IND, CIS PDU of the central, and BIS PDU with bit 5 in its header.
    let others: [(flags: UInt16, pdu: String)] = [
      (0x2C81, "07060020020105ff"), (0x0E01, "0902abcd"), (0x0F01, "2a0201ff"),
    ]
    var file = try Self.file()
    for (flags, pdu) in others {
      let header: [UInt8] = [4, 0xC4, 0x80, 0, 0x78, 0x56, 0x34, 0x12, UInt8(truncatingIfNeeded: flags), UInt8(flags >> 8)]
      let packet = header + [0x78, 0x56, 0x34, 0x12] + (try #require(Hex.decode(pdu))) + [1, 2, 3]
      file += [UInt8](repeating: 0, count: 8) + [UInt8(packet.count), 0, 0, 0, UInt8(packet.count), 0, 0, 0] + packet
    }
    let records = try Blectl.run(["decode", "trace", "-", "--json"], input: file).records
    let packets = records.filter { $0.string("access_address") == "0x12345678" }
    #expect(packets.map { $0.string("name") } == ["AUX_SYNC_IND", "CIS PDU", "BIS PDU"])
    #expect(packets.map { $0.string("sender") } == [nil, "central", nil])
    let whole = try #require(records.first { $0.string("event") == "trace" })
    #expect(whole.int("advertising") == 9 && whole.int("isochronous") == 2 && whole.int("malformed") == 0, "\(whole)")
    #expect(records.filter { $0.string("event") == "link" }.count == 1)
    let text = try Blectl.run(["decode", "trace", "--summary", "-"], input: file).text
    #expect(text.contains("9 advertising, 43 connection, 2 isochronous, 2 with a wrong CRC\n"), "\(text)")
  }

  /// A replay shows its advertisements.
  @Test func itIsARecording() throws {
    let path = TemporaryPath()
    try Data(Self.file()).write(to: URL(fileURLWithPath: path.path))
    let result = try Blectl.run("scan", "-i", "replay:\(path.path)", "-d", "5", "--json")
    #expect(try result.status == 0 && !result.records.isEmpty, "\(result.errors)")
  }
}
