import TestSupport
import Traces

/// Every trace format gives the same packets.
@Suite(.timeLimit(.minutes(15))) struct TraceReaderTests {
  private static let start: Int64 = 1_767_225_600_123_456_000
  static let records: [Snoop.Record] = [
    Snoop.Record(packet: [1, 3, 0x0C, 0], direction: .hostToController, wallClock: start),
    Snoop.Record(packet: [4, 0x0E, 4, 1, 3, 0x0C, 0], direction: .controllerToHost, wallClock: start + 1_000_000),
    Snoop.Record(packet: [2, 0x40, 0x00, 2, 0, 7, 0], direction: .hostToController, wallClock: start + 2_000_000),
    Snoop.Record(packet: [2, 0x40, 0x20, 2, 0, 7, 0], direction: .controllerToHost, wallClock: start + 3_000_000),
    Snoop.Record(packet: [2, 0x40, 0x10, 1, 0, 7], direction: .controllerToHost, wallClock: start + 4_000_000),
  ]

  private static func number(_ value: UInt64, _ bytes: Int, _ isLittle: Bool) -> [UInt8] {
    let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    return isLittle ? little : little.reversed()
  }

  /// Returns the packet in the form of a link type.
  private static func payload(_ record: Snoop.Record, _ type: UInt64) -> [UInt8] {
    let isSent = record.direction == .hostToController
    switch type {
    case 201: return [0, 0, 0, isSent ? 0 : 1] + record.packet
    case 254:
      let opcode: UInt8 = record.packet[0] == 1 ? 2 : record.packet[0] == 4 ? 3 : isSent ? 4 : 5
      return [0, 3, 0, opcode] + record.packet.dropFirst()
    default: return record.packet
    }
  }

  static func pcap(_ type: UInt64, isLittle: Bool, nanoseconds: Bool) -> [UInt8] {
    var file = number(nanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4, 4, isLittle) + number(2, 2, isLittle) + number(4, 2, isLittle)
    file += number(0, 8, isLittle) + number(65_535, 4, isLittle) + number(type, 4, isLittle)
    for record in records {
      let bytes = payload(record, type)
      let fraction = UInt64(record.wallClock % 1_000_000_000)
      file += number(UInt64(record.wallClock / 1_000_000_000), 4, isLittle) + number(nanoseconds ? fraction : fraction / 1000, 4, isLittle)
      file += number(UInt64(bytes.count), 4, isLittle) + number(UInt64(bytes.count), 4, isLittle) + bytes
    }
    return file
  }

  /// - Parameter resolution: The byte of the option. Nil omits the option, which means microseconds.
  static func pcapng(_ type: UInt64, isLittle: Bool, resolution: UInt8?) -> [UInt8] {
    func block(_ kind: UInt64, _ body: [UInt8]) -> [UInt8] {
      let length = number(UInt64(body.count + 12), 4, isLittle)
      return number(kind, 4, isLittle) + length + body + length
    }
    let options: [UInt8] =
      resolution.map { number(9, 2, isLittle) + number(1, 2, isLittle) + [$0, 0, 0, 0] + number(0, 4, isLittle) } ?? []
    var file = block(
      0x0A0D_0D0A, number(0x1A2B_3C4D, 4, isLittle) + number(1, 2, isLittle) + number(0, 2, isLittle) + number(.max, 8, isLittle))
    // An interface other than HCI, with a packet.
    file += block(1, number(1, 2, isLittle) + number(0, 6, isLittle))
    file += block(1, number(type, 2, isLittle) + number(0, 6, isLittle) + options)
    file += block(6, number(0, 16, isLittle) + number(0, 4, isLittle)) + block(5, [1, 2, 3, 4])
    for record in records {
      let bytes = payload(record, type)
      let time = resolution == 9 ? UInt64(record.wallClock) : UInt64(record.wallClock / 1000)
      let flags = number(2, 2, isLittle) + number(4, 2, isLittle) + number(record.direction == .hostToController ? 2 : 1, 4, isLittle)
      file += block(
        6,
        number(1, 4, isLittle) + number(time >> 32, 4, isLittle) + number(time & 0xFFFF_FFFF, 4, isLittle)
          + number(UInt64(bytes.count), 4, isLittle) + number(UInt64(bytes.count), 4, isLittle) + bytes
          + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4) + flags + number(0, 4, isLittle))
    }
    return file
  }

  private static func read(_ file: [UInt8]) throws(MalformedPacket) -> [Snoop.Record] {
    var reader = try TraceReader(file)
    var records: [Snoop.Record] = []
    while let record = try reader.next() { records.append(record) }
    return records
  }

  @Test func theSamePacketsInEveryFormat() throws {
    #expect(try Self.read(Snoop.header + Self.records.flatMap(\.encoded)) == Self.records)
    for isLittle in [true, false] {
      for type: UInt64 in [187, 201, 254] {
        var wanted = Self.records
        if type == 254 { for index in wanted.indices { wanted[index].adapter = 3 } }
        for nanoseconds in [true, false] {
          #expect(try Self.read(Self.pcap(type, isLittle: isLittle, nanoseconds: nanoseconds)) == wanted, "pcap \(type) \(isLittle)")
        }
        for resolution: UInt8? in [nil, 6, 9] {
          #expect(try Self.read(Self.pcapng(type, isLittle: isLittle, resolution: resolution)) == wanted, "pcapng \(type) \(isLittle)")
        }
      }
    }
    let ours = Pcapng.header + Self.records.flatMap { Pcapng.packet($0) }
    #expect(try Self.read(ours) == Self.records)
  }

  /// Packet comments are read in both byte orders; other data are not taken for options.
  @Test func commentsOfPackets() throws {
    for isLittle in [true, false] {
      func option(_ code: UInt64, _ value: [UInt8]) -> [UInt8] {
        Self.number(code, 2, isLittle) + Self.number(UInt64(value.count), 2, isLittle) + value
          + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
      }
      let flags = option(2, Self.number(1, 4, isLittle))
      for (options, comments) in [
        (flags, []), (option(1, [0x61]) + flags + option(1, [0x1B, 0xFF]), [[0x61], [0x1B, 0xFF]]), (option(1, []), [[]]),
        ([1, 2, 3, 4, 5], []),
      ] as [([UInt8], [[UInt8]])] {
        let body =
          Self.number(1, 4, isLittle) + Self.number(0, 8, isLittle) + Self.number(4, 4, isLittle) + Self.number(4, 4, isLittle)
          + [1, 3, 0x0C, 0] + options + [UInt8](repeating: 0, count: (4 - options.count % 4) % 4)
        let length = Self.number(UInt64(body.count + 12), 4, isLittle)
        let header = Self.pcapng(187, isLittle: isLittle, resolution: nil)
        let records = try Self.read(header + Self.number(6, 4, isLittle) + length + body + length)
        #expect(records.last?.comments == comments && records.dropLast().allSatisfy(\.comments.isEmpty), "\(options)")
      }
    }
  }

  @Test func refusesWhatHasNoHCI() {
    let types: [(UInt64, String)] = [
      (255, "BR/EDR from a sniffer"), (1, "a network"), (220, "USB"), (99, "unsupported link type 99. Record"),
      (127, "Wi-Fi"), (195, "802.15.4"),
    ]
    for (type, mention) in types {
      let error = #expect(throws: MalformedPacket.self) { try Self.read(Self.pcap(type, isLittle: true, nanoseconds: false)) }
      #expect(error?.reason.contains(mention) ?? false, "\(type): \(String(describing: error))")
      #expect(throws: MalformedPacket.self) { try Self.read(Self.pcapng(type, isLittle: true, resolution: nil)) }
    }
    #expect(throws: MalformedPacket.self) { try Self.read(Array("text".utf8)) }
    // A resolution finer than 64 bits can hold.
    #expect(throws: MalformedPacket.self) { try Self.read(Self.pcapng(187, isLittle: true, resolution: 20)) }
    #expect(throws: Never.self) { try Self.read(Self.pcapng(187, isLittle: true, resolution: 0xBF)) }
  }

  /// Builds a block of a little-endian file.
  private static func block(_ kind: UInt64, _ body: [UInt8]) -> [UInt8] {
    let length = number(UInt64(body.count + 12), 4, true)
    return number(kind, 4, true) + length + body + length
  }

  private static func section(_ interfaces: [(type: UInt64, longest: UInt64)]) -> [UInt8] {
    block(0x0A0D_0D0A, number(0x1A2B_3C4D, 4, true) + [1, 0, 0, 0] + number(.max, 8, true))
      + interfaces.flatMap { block(1, number($0.type, 2, true) + [0, 0] + number($0.longest, 4, true)) }
  }

  private static func packet(_ interface: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    let length = number(UInt64(bytes.count), 4, true)
    return block(
      6,
      number(interface, 4, true) + number(0, 8, true) + length + length + bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4))
  }

  /// Two adapters may share connection handles, even with a network interface between them.
  @Test func eachInterfaceIsAnAdapter() throws {
    let reset: [UInt8] = [0, 0, 0, 0, 1, 3, 0x0C, 0]
    let file = Self.section([(201, 0), (1, 0), (201, 0)]) + Self.packet(0, reset) + Self.packet(1, [1, 2, 3]) + Self.packet(2, reset)
    var reader = try TraceReader(file)
    #expect(try [reader.next()?.adapter, reader.next()?.adapter, reader.next()?.adapter] == [0, 1, nil])
    #expect(reader.leftOut == 1)
    // Only a network.
    var network = try TraceReader(Self.section([(1, 0)]) + Self.packet(0, [1, 2, 3]))
    let error = #expect(throws: MalformedPacket.self) { try network.next() }
    #expect(error?.offset == 36 && error?.reason.contains("a network") == true, "\(String(describing: error))")
  }

  /// A simple packet is cut to its interface's snapshot length. The bytes after that are padding.
  @Test func aSimplePacketEndsWhereItsInterfaceSays() throws {
    let file = Self.section([(187, 3)]) + Self.block(3, Self.number(4, 4, true) + [1, 3, 0x0C, 0xEE])
    var reader = try TraceReader(file)
    let record = try #require(try reader.next())
    #expect(record.packet == [1, 3, 0x0C] && record.missing == 1)
  }

  /// The upper bits of a link type give the length of a frame check sequence. They are ignored.
  @Test func theUpperBitsOfALinkTypeAreNone() throws {
    var file = Self.pcap(187, isLittle: true, nanoseconds: false)
    file[23] = 0x44
    #expect(try Self.read(file) == Self.records)
  }

  /// The monitor format also holds synchronous and isochronous data.
  @Test func theMonitorHasOtherData() throws {
    for (opcode, indicator, direction) in [
      (6, 3, .hostToController), (7, 3, .controllerToHost), (18, 5, .hostToController), (19, 5, .controllerToHost),
    ]
      as [(UInt8, UInt8, Direction)]
    {
      var reader = try TraceReader(Self.section([(254, 0)]) + Self.packet(0, [0, 1, 0, opcode, 0x40, 0, 1, 0xAA]))
      #expect(try reader.next()?.packet == [indicator, 0x40, 0, 1, 0xAA])
      var again = try TraceReader(Self.section([(254, 0)]) + Self.packet(0, [0, 1, 0, opcode, 0x40, 0, 1, 0xAA]))
      #expect(try again.next()?.direction == direction)
    }
  }

  /// Records of the monitor that are no packets are read on request.
  @Test func notesOfTheMonitor() throws {
    let packets = Self.packet(0, [0, 3, 0, 12] + Array("Linux".utf8) + [0]) + Self.packet(0, [0, 3, 0, 2, 3, 0x0C, 0])
    let file = Self.section([(254, 0)]) + packets
    for notes in [false, true] {
      var reader = try TraceReader(file)
      if notes {
        let record = try #require(try reader.next(notes: true))
        #expect(record.note?.kind == "system_note" && record.note?.text == Array("Linux".utf8))
        #expect(record.packet.isEmpty && record.adapter == 3)
      }
      #expect(try reader.next(notes: notes)?.packet == [1, 3, 0x0C, 0])
      #expect(try reader.next(notes: notes) == nil)
    }
  }

  /// Without directions, a continuation belongs to the side whose frame is incomplete.
  @Test func whatGoesOnIsOfWhoHasNotFinished() throws {
    let packets: [[UInt8]] = [
      [2, 0x40, 0x00, 6, 0, 4, 0, 4, 0, 0x52, 0x06], [2, 0x40, 0x20, 8, 0, 4, 0, 4, 0, 0x1B, 6, 0, 0xAA], [2, 0x40, 0x10, 2, 0, 0, 0x01],
    ]
    var reader = try TraceReader(Self.section([(187, 0)]) + packets.flatMap { Self.packet(0, $0) })
    let directions = try packets.map { _ in try reader.next()?.direction }
    #expect(directions == [.hostToController, .controllerToHost, .hostToController])
  }

  /// A cut file gives its whole packets, then the error.
  @Test func survivesHostileBytes() throws {
    let seeds = [
      Self.pcap(187, isLittle: true, nanoseconds: true), Self.pcap(254, isLittle: false, nanoseconds: false),
      Self.pcapng(201, isLittle: true, resolution: 9), Self.pcapng(254, isLittle: false, resolution: nil),
      Snoop.header + Self.records.flatMap(\.encoded),
    ]
    hostile(seeds, mutations: 20_000) { _ = try? Self.read($0) }
    for seed in seeds {
      var reader = try TraceReader(Array(seed.dropLast()))
      var count = 0
      #expect(throws: MalformedPacket.self) { while try reader.next() != nil { count += 1 } }
      #expect(count == Self.records.count - 1)
    }
  }
}
