import BluetoothLECompression
import TestSupport

@testable import Traces

/// Captures in the files of phones and sniffers give the same packets as btsnoop files.
@Suite(.timeLimit(.minutes(15))) struct PackedCaptureTests {
  static let records = TraceReaderTests.records
  private static let packets = records.map { ($0.packet, $0.direction, $0.wallClock / 1000) }
  static let snoop = Snoop.header + records.flatMap(\.encoded)

  private func expectSame(_ file: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let (isTrace, unpacked) = try await onLoop { (try await TraceReader.isTrace(file), try await PackedCapture.unpack(file)) }
    #expect(isTrace, sourceLocation: sourceLocation)
    var reader = try TraceReader(unpacked)
    var found: [Snoop.Record] = []
    while let record = try reader.next() { found.append(record) }
    #expect(found == Self.records, sourceLocation: sourceLocation)
  }

  private func error(_ file: [UInt8], _ change: (inout PackedCapture.Limits) -> Void = { _ in }) async throws -> String {
    var limits = PackedCapture.Limits(file.count)
    change(&limits)
    do { _ = try await onLoop { [limits] in try await PackedCapture.unpack(file, limits) } } catch let error as MalformedPacket {
      return error.reason
    }
    return ""
  }

  @Test func everyForm() async throws {
    for isLittle in [false, true] { try await expectSame(PackedFiles.packetLogger(Self.packets, isLittle: isLittle)) }
    for version in [1, 2] as [UInt8] { try await expectSame(PackedFiles.report(Self.packets, version: version)) }
    let zip = PackedFiles.zip([("a", [1, 2, 3]), ("b", Array("text\n".utf8)), ("log", Self.snoop)])
    for file in [
      PackedFiles.gzip(Self.snoop), PackedFiles.gzip(TraceReaderTests.pcap(201, isLittle: true, nanoseconds: true)), zip,
      PackedFiles.gzip(zip),
      // Several parts, of which one is empty, and padding.
      PackedFiles.gzip([]) + PackedFiles.gzip(Array(Self.snoop.prefix(50))) + PackedFiles.gzip(Array(Self.snoop.dropFirst(50))) + [0, 0],
      PackedFiles.zip([
        ("small", [0, 1, 2]), ("report.txt", PackedFiles.report(Self.packets, version: 2)), ("other.txt", Array("longer text".utf8)),
      ]),
      // The longer capture.
      PackedFiles.zip([("old", Array(Self.snoop.prefix(16 + 28))), ("new", Self.snoop)]),
    ] { try await expectSame(file) }
  }

  /// The numbers of `compressedStreams`, as zlib compressed them with codes of their own.
  private static let numbers: [String] = [
    "3593d79523410c0353e910e84dfe895d71b4a71fbd69031260b5bc5edde75a5dafd55a9f5ab5c4d3eded7c362913cf67c4f5a5d468bd0a0ddfefaac8",
    "db1cdd7daa21eef5d47d5cd1c93435847ab44f49acade299cde4eab3acecacab309d7f3d20e7b166cdf7387ff5426735f545967ac48b8d75f4d2d38d",
    "efecb665bf8c46395f953bdcffdca0d7a5a2e88fca0af5a6cce9fc211a4e3fdb22d79f8a95cb358c8eea39c065ca593289e8f3f86583282655870cd4",
    "b756c944a3c2cccff7b7874e89e76588b1acba4c9bd6e5321e8b74222740f56402bfb85136e18eb3621a6acb19336c06b7cc6575d031df8c6f3a31ee",
    "4b2dcb2656aa5b159bf4635f4d3afc4df094372e1b92c58d14be1c83923825482fca3cf7204f9449fa6458c9a408797915fd13a0778bf94dec83e246",
    "b69050641e2a6972433313dc333590a07bc616197173a34088de4a51a1ef0c809cc08d9626d0f9718632d18009b56ed6ed54cfc8bc7a2fc1a6081d00",
    "88ea7acec99ac505261d686042bf6b4071ec71ed0f5d9451051cf261a2607954830f9bdcda6d280d100a045186b0d124790210e852a8920cb947035f",
    "e0f2ff35a03c72c4b3324617c619e23f72f4d1208ed09976a9531ef47ba8b552b8a1fa9a178eea6d08e7e9f0f7c0eea531d3e5f7f0c7008e4c01d4ee",
    "83550ca2fde33780e187342e47eac734b3da83fab34b92aae4264bb8ff00",
  ]

  /// Streams of zlib: numbers with codes of their own, and a text with the fixed codes.
  @Test func compressedStreams() throws {
    let numbers = Hex.decode(Self.numbers.joined()) ?? []
    let (digits, end) = try inflate(numbers)
    #expect(String(decoding: digits, as: UTF8.self) == (0..<120).map { "\($0 * $0 * 7919) " }.joined())
    #expect(end == numbers.count)
    let text = try #require(Hex.decode("4b54c8cb2fc94ccb4c4e2cc9cccfd3514844e7e7a500717e49466a91427e5e2a00"))
    let (words, last) = try inflate(text + [1, 2, 3])
    #expect(words == Array("a notification, a notification, and another one".utf8))
    #expect(last == text.count)
    // Each changed byte gives other bytes or an error.
    for index in numbers.indices {
      for value in [0, 0x55, 0xFF] as [UInt8] {
        var changed = numbers
        changed[index] = value
        _ = try? inflate(changed)
      }
    }
  }

  /// Decompresses in steps, each of which is small. Returns the contents and the number of bytes that they took.
  private func inflate(_ data: [UInt8]) throws -> ([UInt8], Int) {
    let inflate = Inflate(.raw)
    var (contents, rest): ([UInt8], ArraySlice<UInt8>) = ([], data[...])
    while !inflate.isAtEnd {
      let (taken, more) = try inflate.step(rest)
      #expect(taken <= 4096 && more.count <= 16_384 && taken + more.count > 0)
      rest = rest.dropFirst(taken)
      contents += more
    }
    return (contents, rest.startIndex)
  }

  @Test func hostileFiles() async throws {
    let gzip = PackedFiles.gzip(Self.snoop)
    for length in 3..<gzip.count { #expect(try await !error(Array(gzip.prefix(length))).isEmpty, "\(length)") }
    var wrong = gzip
    wrong[wrong.count - 6] ^= 1
    #expect(try await error(wrong) == "compressed data: incorrect data check")
    let zip = PackedFiles.zip([("a", Self.snoop)])
    wrong = zip
    wrong[zip.count / 2] ^= 1
    #expect(try await error(wrong) == "compressed data: wrong checksum")
    // Fixed codes: a zero, then 258 zeros for each 13 bits.
    var bits: [UInt8] = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    for _ in 0..<70_000 { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0] }
    let bomb = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].enumerated().reduce(UInt8(0)) { $0 | $1.element << UInt8($1.offset) }
    }
    #expect(try await error(PackedFiles.gzip([], stream: bomb)) == "compressed data: they expand to more than 16 MiB")
    #expect(try await error(PackedFiles.zip([("a", [1]), ("b", [2])])) == "a ZIP archive without a Bluetooth capture")
    #expect(try await error([0x50, 0x4B, 3, 4]) == "a ZIP archive that is cut, encrypted or damaged")
    for (bytes, mention) in [
      ([3] + [UInt8](repeating: 0, count: 20), "btsnooz header: unsupported version 3"),
      ([2, 1], "btsnooz header: needs 8 bytes, has 1"),
      ([2] + [UInt8](repeating: 0, count: 8) + [0, 0], "btsnooz header: no zlib data"),
      ([2] + [UInt8](repeating: 0, count: 8) + [0x78, 1, 7], "compressed data: invalid block type"),
      (
        [2] + [UInt8](repeating: 0, count: 8) + [0x78, 1] + PackedFiles.stored([9, 0, 9, 0, 0, 0, 0, 0, 0x10]),
        "btsnooz record: needs 8 bytes, has 0"
      ),
    ] as [([UInt8], String)] { #expect(try await error(PackedFiles.report(bytes)) == mention) }
    #expect(try await error(Array("--- BEGIN:BTSNOOP_LOG_SUMMARY\n?".utf8)) == "btsnooz: invalid base64")
  }

  /// A file of which each part is small, but all parts together are too much.
  @Test func limitsOfAWholeFile() async throws {
    // An empty block that is not the last, with the fixed codes: 10 bits.
    let blocks = (0..<60_000).flatMap { _ in [0x02, 0x08, 0x20, 0x80, 0x00] as [UInt8] }
    let empty = Array(PackedFiles.gzip([], stream: blocks).dropLast(8))
    #expect(try await error(empty) { $0.steps = 80 } == "compressed data: they end early")
    #expect(try await error(empty) { $0.steps = 70 } == "compressed data: they take more than 70 steps")
    #expect(try await error(empty) { $0.input = 100_000 } == "compressed data: they have more than 0 MiB")
    let part = PackedFiles.gzip([UInt8](repeating: 0, count: 1 << 19))
    #expect(try await error(part + part) { $0.output = 1 << 20 } == "")
    #expect(try await error(part + part + part) { $0.output = 1 << 20 } == "compressed data: they expand to more than 1 MiB")
    let parts = (0..<20).flatMap { _ in PackedFiles.gzip([]) } + PackedFiles.gzip(Self.snoop)
    #expect(try await error(parts) { $0.steps = 30 } == "")
    #expect(try await error(parts) { $0.steps = 20 } == "compressed data: they take more than 20 steps")
    // The limits do not begin anew with each entry, and an entry that exceeds them does not give way to the next.
    let zip = PackedFiles.zip([("a", [1]), ("b", Self.snoop), ("c", [2]), ("d", Array(Self.snoop.dropLast()))])
    #expect(try await error(zip) { $0.entries = 4 } == "")
    #expect(try await error(zip) { $0.entries = 3 } == "a ZIP archive with more than 3 entries")
    #expect(try await error(PackedFiles.gzip(zip)) { $0.output = zip.count } == "compressed data: they expand to more than 0 MiB")
    // 9 bytes of a log become 25.
    let log = (0..<1000).flatMap { _ in [1, 0, 1, 0, 0, 0, 0, 0, 0x10] as [UInt8] }
    let report = PackedFiles.report([2] + [UInt8](repeating: 0, count: 8) + [0x78, 1] + PackedFiles.stored(log))
    #expect(try await error(report) { $0.output = 35_000 } == "")
    #expect(try await error(report) { $0.output = 33_000 } == "compressed data: they expand to more than 0 MiB")
    #expect(try await error(report) { $0.text = 12_000 } == "btsnooz: it has more than 0 MiB of base64")
  }

  @Test func overlappingEntries() async throws {
    let zip = PackedFiles.zip([("a", Self.snoop), ("b", [1]), ("c", [2])])
    let entries = zip.indices.filter { zip[$0...].starts(with: [0x50, 0x4B, 1, 2]) }
    // The data of the second entry contain the header of the third. The second entry begins where the first does.
    for (place, value, problem) in [
      (entries[1] + 20, PackedFiles.stored([1]).count + 30, "a ZIP archive whose entries overlap"),
      (entries[1] + 42, 0, "a ZIP archive that is cut, encrypted or damaged"),
    ] {
      var wrong = zip
      wrong.replaceSubrange(place..<place + 4, with: PackedFiles.number(value, 4))
      #expect(try await error(wrong) == problem, "\(place)")
    }
  }

  /// An entry that is encrypted or has an unknown method does not hide the capture beside it.
  @Test(arguments: [(8, 1), (10, 14)]) func entriesThatCannotBeRead(_ place: Int, _ value: UInt8) async throws {
    var zip = PackedFiles.zip([("a", [UInt8](repeating: 0, count: 9999)), ("b", Self.snoop)])
    let entries = zip.indices.filter { zip[$0...].starts(with: [0x50, 0x4B, 1, 2]) }
    zip[entries[0] + place] = value
    try await expectSame(zip)
    zip[entries[1] + place] = value
    #expect(try await error(zip) == "a ZIP archive that is cut, encrypted or damaged")
  }

  /// Between two steps, other jobs run, such as the one that Ctrl-C starts.
  @Test func cancellation() async throws {
    let log = [UInt8](repeating: 0x20, count: 1 << 20)
    let blocks = (0..<60_000).flatMap { _ in [0x02, 0x08, 0x20, 0x80, 0x00] as [UInt8] }
    for file in [PackedFiles.gzip([], stream: blocks), log, PackedFiles.zip([("a", Self.snoop + log)])] {
      let outcome = try await onLoop {
        let task = EventLoop.shared.spawn { () -> String in
          do { return "\(try await PackedCapture.unpack(file).count)" } catch { return "\(error)" }
        }
        for _ in 0..<3 { await Task.yield() }
        task.cancel()
        return await task.value
      }
      #expect(outcome == "\(CancellationError())")
    }
  }

  /// A log keeps the beginning of each packet, and records of unknown types are skipped.
  @Test func cutPacketsOfALog() async throws {
    let log: [UInt8] = [4, 0, 4, 0, 0, 0, 0, 0, 0x99, 1, 2, 3, 3, 0, 20, 0, 5, 0, 0, 0, 0x11, 0x40, 0x20]
    let report = PackedFiles.report([2] + PackedFiles.number(1_000_000, 8) + [0x78, 1] + PackedFiles.stored(log))
    let records = try Snoop.parse(try await onLoop { try await PackedCapture.unpack(report) })
    var record = Snoop.Record(packet: [2, 0x40, 0x20], direction: .controllerToHost, wallClock: 1_000_000_000)
    record.missing = 17
    #expect(records == [record])
  }

  @Test func recordsOfPacketLogger() async throws {
    let other: [UInt8] = [0, 0, 0, 11, 0x65, 0x53, 0xF1, 0, 0, 0, 0, 0, 0xFC, 1, 2]
    let length = other.count + PackedFiles.packetLogger(Self.packets, isLittle: false).count
    var reader = try TraceReader(other + PackedFiles.packetLogger(Self.packets, isLittle: false) + [0, 0, 0, 1])
    var count = 0
    #expect(throws: MalformedPacket("PacketLogger record: invalid length 1", at: length)) {
      while try reader.next() != nil { count += 1 }
    }
    #expect(count == 5)
    let wrong: [[UInt8]] = [
      [], [0, 0, 0, 12], other.dropLast(3) + [0x40, 1, 2], [0, 0, 0, 3] + other.dropFirst(4),
      [0x7F, 0xFF, 0xFF, 0xFF] + other.dropFirst(4),
    ]
    for file in wrong {
      let isTrace = try await onLoop { try await TraceReader.isTrace(file) }
      #expect(PacketLoggerReader.isLittle(file) == nil && !isTrace, "\(file)")
    }
  }

  /// A PPI header has channel and signal, and other fields around them.
  @Test(arguments: [0, 1] as [UInt8]) func headersOfOlderSniffers(_ flags: UInt8) throws {
    func file(_ type: UInt8, _ packet: [UInt8]) -> [UInt8] {
      var fields: [UInt8] = [9, 0, 1, 0, 7] + (flags == 1 ? [0, 0, 0] : [])
      fields += [0x36, 0x75, 12, 0] + [0, 0x7A, 0x09, 0, 1, 2, 3, 4, 0xCE, 0xA6, 0xBA, 3]
      let packet = [0, flags, UInt8(fields.count + 8), 0, type, 0, 0, 0] + fields + packet
      return [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 0, 0, 192, 0, 0, 0]
        + [UInt8](repeating: 0, count: 8) + PackedFiles.number(packet.count, 4) + PackedFiles.number(packet.count, 4) + packet
    }
    var reader = try TraceReader(file(251, [0xD6, 0xBE, 0x89, 0x8E, 0x02, 2, 6, 5, 1, 2, 3]))
    let air = try #require(try reader.next()?.air)
    #expect(air.channel == 38 && air.rssi == -70 && air.isAdvertising && air.pdu == [0x02, 2, 6, 5])
    #expect(try reader.next() == nil)
    var hci = try TraceReader(file(187, [1, 3, 0x0C, 0]))
    #expect(try hci.next()?.packet == [1, 3, 0x0C, 0])
    #expect(throws: MalformedPacket("link type 105 is Wi-Fi without Bluetooth. Record with btmon -w", at: 44)) {
      try TraceReader(file(105, [0]))
    }
  }
}
