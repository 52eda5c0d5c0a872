import CommandLine
import Foundation
import Presentation
import Program
import TestSupport
import Traces
import blectl

/// `decode trace` reads files from `--trace` and from other programs.
@Suite(.timeLimit(.minutes(15))) struct DecodeTraceTests {
  private static func trace(_ arguments: String...) throws -> TemporaryPath {
    let path = TemporaryPath()
    let result = try Blectl.run(arguments + ["--trace", path.path])
    #expect([0, 2, 5].contains(result.status), "\(result.errors)")
    return path
  }

  /// Names replace handles, also before the trace reveals the names.
  @Test func attributesHaveNames() throws {
    let trace = try Self.trace("-e", "read 2a19; read 2a37@2902", "name:Band-7")
    let result = try Blectl.run("decode", "trace", trace.path)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    for mention in [
      "< Reset\n", "type 2a19 Battery Level", "> 0x0040 Read By Type Response  0x0011 2a19 Battery Level, value 3c  60 %  (after ",
      "0x0016 2a37 Heart Rate Measurement@2902 Client Characteristic Configuration", "declares 180f Battery Service",
      "Connection 0x0040 with C0:FF:EE:00:00:07/public, as central, ", "MTU 185, ended: Connection Terminated By Local Host (0x16)",
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
  }

  @Test func recordsSayWhoAskedWhatAndWhatFailed() throws {
    let trace = try Self.trace("-e", "read 2a19; read ff02", "name:Band-7", "-k")
    let records = try Blectl.run("decode", "trace", trace.path, "--json").records
    let packets = records.filter { $0.string("event") == "packet" }
    #expect(packets.map { $0.int("number") } == Array(1...packets.count))
    let read = try #require(packets.first { $0.string("name") == "Read By Type Response" })
    #expect(read.string("layer") == "att" && read.string("address") == "C0:FF:EE:00:00:07" && read.string("direction") == "received")
    let item = try #require(read["fields"]?.records("items").first)
    #expect(item.string("uuid") == "2a19" && item["decoded"]?["battery_level"]?.int("value") == 60)
    let asked = try #require(packets.first { $0.int("number") == read.int("answers") })
    #expect(asked.string("name") == "Read By Type Request" && read.double("after_ms") ?? 0 > 0)
    let whole = try #require(records.first { $0.string("event") == "trace" })
    #expect(whole.int("packets") == packets.count && whole.int("malformed") == 0 && whole.int("left_out") == 0)
    // As exactly as the file: times in JSON have milliseconds.
    let seconds = packets.compactMap { $0.double("seconds") }
    #expect(seconds.count == packets.count && seconds.first == 0 && seconds == seconds.sorted())
    #expect(seconds.contains { ($0 * 1000).rounded() != $0 * 1000 })
    let link = try #require(records.first { $0.string("event") == "link" })
    #expect(link.string("role") == "central" && link.int("mtu") == 185)
    let first = try #require(link.records("conversations").first { $0.string("type") == "2a19" })
    #expect(first.int("octets") == 1, "\(first)")
    #expect(first.int("unanswered") == 0 && first.double("mean_ms") ?? 0 > 0)
    #expect(first.records("errors").first?.string("name") == "attribute_not_found")
    #expect(try Blectl.run("decode", "trace", trace.path, "--summary", "--json").records.map { $0.string("event") } == ["trace", "link"])
  }

  /// On a narrow terminal, the text of a row moves to the line below.
  @Test func theSummaryFitsATerminal() throws {
    let trace = try Self.trace("-e", "read 2a37@2902; read ff01", "name:Band-7", "-k")
    let command = [Blectl.path, "decode", "trace", "--summary", trace.path]
    for (columns, isFolded) in [(200, false), (80, true), (40, true)] {
      let lines = try PseudoTerminal(command, columns: columns, rows: 40).finish().text.split(whereSeparator: \.isNewline)
      #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
      #expect(lines.contains { $0.hasPrefix("        0x0016 2a37@2902 ") } == isFolded, "\(lines)")
      #expect(lines.contains { $0.contains("× Read Not Permitted (0x02)") }, "\(lines)")
      // At any width, no number is cut off.
      #expect(lines.contains { $0.contains("count 1, bytes ") } == (columns < 60), "\(lines)")
      #expect(!lines.contains { $0.contains("…") }, "\(lines)")
    }
  }

  /// A clock that was never set, or set during the recording: the trace lasts from its first packet to the latest one.
  @Test(
    arguments: [
      (-2_000_000_000, 1_000_000, ["0.000000", "0.001000"], "in 0.001000 s"),
      (5_000_000_000, -7_000_000_000, ["0.000000", "-7.000000"], "in 0.000000 s"),
    ] as [(Int64, Int64, [String], String)])
  func beginsWithItsFirstPacket(_ first: Int64, _ later: Int64, _ times: [String], _ whole: String) throws {
    let records = [first, first + later].map { Snoop.Record(packet: Reset().encoded, direction: .hostToController, wallClock: $0).encoded }
    let result = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + records.flatMap { $0 })
    let lines = result.text.split(whereSeparator: \.isNewline)
    #expect(lines.prefix(2).map { $0.split(separator: " ").dropFirst().first.map(String.init) } == times, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("2 packets \(whole): ") }, "\(lines)")
  }

  /// Nanoseconds are rounded, as for numbers in JSON.
  @Test(
    arguments: [(286_000, "0.29 ms"), (318_000, "0.32 ms"), (91_418_000, "91.42 ms"), (0, "0 ms"), (4_999, "0 ms")] as [(Int64, String)])
  func durationsAreRounded(_ nanoseconds: Int64, _ text: String) { #expect(PacketText.milliseconds(nanoseconds) == text) }

  /// A network capture is refused before any output.
  @Test func aCaptureOfANetworkIsNoTrace() throws {
    var file: [UInt8] =
      [0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [28, 0, 0, 0]
    file += [1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0]
    let result = try Blectl.run(["decode", "trace", "-"], input: file)
    #expect(
      result.status == 66 && result.text.isEmpty
        && result.errors.contains("cannot be read as a trace: link type 1 is a network capture"),
      "\(result.errors)")
  }

  /// Captures of phones and older sniffers, which `decode` recognizes by their contents.
  @Test(arguments: [
    ("own.btsnoop.gz", "4 packets in 0.003000 s: 1 command, 1 event, 2 data packets"),
    ("own.pklg", "4 packets in 0.003000 s: 1 command, 1 event, 2 data packets"),
    ("bugreport.txt", "2 packets in 0.001000 s: 1 command, 1 event, 0 data packets"),
    ("own-ppi.pcap", "1 packet in 0.000000 s: 1 advertising, 0 connection"),
  ]) func capturesOfOtherPrograms(_ file: String, _ mention: String) throws {
    for words in [["trace", Vectors.path(file)], [Vectors.path(file)]] {
      let decoded = try Blectl.run(["decode"] + words)
      #expect(decoded.status == 0 && decoded.text.contains(mention), "\(decoded.text)\(decoded.errors)")
    }
    let input = try Blectl.run(["decode", "trace", "-", "--summary"], input: Array(try Vectors.own(file)))
    #expect(input.status == 0 && input.text.contains(mention), "\(input.text)\(input.errors)")
    let replayed = try Blectl.run(["scan", "-d", "1"], adapter: "replay:\(Vectors.path(file))")
    #expect(replayed.status == 0, "\(replayed.errors)")
  }

  @Test func kindsOfForeignFiles() {
    for (file, mention) in [
      ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz"), (Array("BZh9".utf8), "bzip2"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd"),
      (Array("=====\n== dumpstate: 2026-01-01\n=====\n".utf8), "HCI snoop log"), ([], nil), (Array("text that nobody knows".utf8), nil),
    ] as [([UInt8], String?)] {
      let text = ForeignFile.explain(file, named: "FILE")
      #expect(mention.map { text?.contains($0) == true } ?? (text == nil), "\(file.prefix(20)): \(text ?? "nil")")
    }
  }

  /// Comments come from anyone, so they are escaped.
  @Test func commentsAreShown() throws {
    let comment = Array("odd\u{1B}[31m\n\u{202E}ü".utf8)
    var file = Pcapng.header
    let packet = Pcapng.packet(Snoop.Record(packet: Reset().encoded, direction: .hostToController, wallClock: 0))
    let option = [1, 0, UInt8(comment.count), 0] + comment + [UInt8](repeating: 0, count: (4 - comment.count % 4) % 4)
    let length = UInt8(packet.count + option.count)
    file += packet[..<4] + [length, 0, 0, 0] + packet[8..<packet.count - 4] + option + [length, 0, 0, 0]
    let text = try Blectl.run(["decode", "trace", "-"], input: file)
    #expect(text.status == 0 && text.text.contains("< Reset\n                  # odd\\x1b[31m\\x0a\\u{202e}ü\n"), "\(text.text)")
    #expect(!text.text.unicodeScalars.contains("\u{1B}") && !text.text.unicodeScalars.contains("\u{202E}"), "\(text.text)")
    let json = try Blectl.run(["decode", "trace", "-", "--json"], input: file)
    #expect(try json.records.first?.strings("comments") == [String(decoding: comment, as: UTF8.self)])
    #expect(!json.output.contains(0x1B), "\(json.text)")
  }

  /// Malformed packets are errors, for rigs that check firmware.
  @Test func whatDoesNotFollowItsFormatIsAnError() throws {
    let records = [Reset().encoded, [4, 0x0E, 5, 1, 3, 0x0C, 0]].map {
      Snoop.Record(packet: $0, direction: .hostToController, wallClock: 0).encoded
    }
    for words in [[], ["--summary"], ["--json"]] {
      let result = try Blectl.run(["decode", "trace", "-"] + words, input: Snoop.header(.h4) + records.flatMap { $0 })
      #expect(result.status == 5 && result.errors.contains("standard input has 1 malformed packet."), "\(result.errors)")
    }
  }

  /// Logs of Android phones contain diagnostic data of their controllers.
  @Test func dataOfVendorsIsCounted() throws {
    let path = Vectors.path("vendor-handle.btsnoop")
    let result = try Blectl.run("decode", "trace", path)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(result.text.contains("> Vendor Data  handle 0x0edc, boundary first flushable, length 16, octets "), "\(result.text)")
    #expect(result.text.contains("2 vendor-specific data packets") && !result.text.contains("Connection 0x"), "\(result.text)")
    let records = try Blectl.run("decode", "trace", path, "--json", "--summary").records
    #expect(records.count == 1 && records[0].int("vendor") == 2 && records[0].int("data") == 2 && records[0].int("malformed") == 0)
    // In a single packet, only an impossible handle shows that there is no link.
    for (packet, name, status) in [("02f12f0200ffff", "Vendor Data", 0), ("02dc2e0200ffff", "ACL Data", 0)] as [(String, String, Int32)] {
      let one = try Blectl.run("decode", "hci", packet)
      #expect(one.status == status && one.text.hasPrefix(name), "\(one.text)\(one.errors)")
    }
  }

  /// A file truncated by a crash is shown as far as it goes.
  @Test func showsWhatIsThereOfACutFile() throws {
    let trace = try Self.trace("adapters")
    let file = try Array(Data(contentsOf: URL(fileURLWithPath: trace.path)))
    let whole = try Blectl.run(["decode", "trace", "-", "--json"], input: file).records.count
    let cut = try Blectl.run(["decode", "trace", "-", "--json"], input: Array(file.dropLast()))
    #expect(try cut.status == 66 && cut.records.count == whole - 1)
    #expect(cut.errors.contains("standard input cannot be read to its end"), "\(cut.errors)")
    for (words, status, mention) in [
      (["/nowhere"], 66, "no such file"), ([], 64, "takes one file"), (["a", "b"], 64, "takes one file"),
    ] as [([String], Int32, String)] {
      let result = try Blectl.run(["decode", "trace"] + words)
      #expect(result.status == status && result.errors.contains(mention), "\(words): \(result.errors)")
    }
    let text = try Blectl.run(["decode", "trace", "-"], input: Array("text\n".utf8))
    #expect(text.status == 66 && text.errors.contains("not a btsnoop, pcap, pcapng or PacketLogger file"), "\(text.errors)")
    #expect(try Blectl.run("decode", "att", "--summary", "0a1200").status == 64)
  }

  // MARK: --trace -

  /// Standard output has only the trace. The command's own output goes to standard error.
  @Test func theTraceMayBeTheOutput() throws {
    let command = ["read", "name:Band-7", "2a19"]
    let file = try Self.trace(command[0], command[1], command[2])
    let streamed = try Blectl.run(command + ["--trace", "-"])
    #expect(streamed.status == 0 && streamed.errors.contains("3c  60 %"), "\(streamed.errors)")
    let piped = try Blectl.run(["decode", "trace", "-"], input: streamed.output)
    #expect(try piped.status == 0 && piped.text == Blectl.run("decode", "trace", file.path).text, "\(piped.errors)")
    // The capture can be replayed too.
    let capture = try TemporaryFolder.file(streamed.output)
    #expect(try Blectl.run(command, adapter: "replay:\(capture)").text == "3c  60 %\n")
  }

  /// The command exits quietly when Wireshark is closed.
  @Test func endsWithItsReader() throws {
    let result = try Shell.run(
      "export BLECTL_CLOCK=virtual; { \(Blectl.path) -i sim scan -d 0 --trace -; echo status $? >&2; } | head -c 100 | wc -c")
    #expect(result.output == "100\n" && result.errors.hasSuffix("status 74\n"), "\(result.output) \(result.errors.suffix(300))")
  }
}
