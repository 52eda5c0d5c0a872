import ATT
package import Bluetooth
import Captures
import EventLoop
import HCI

/// What a trace tells about the devices around an adapter: what they advertised, how links to them were made, and what went over these.
/// Times are nanoseconds since its first record, and never go back.
package struct Recording: Sendable {
  /// Nanoseconds since 1970-01-01T00:00:00Z of the first record.
  package internal(set) var start: Int64 = 0
  /// Packets that the recording lacks, of all adapters in it; and those of which it has only the beginning.
  package internal(set) var drops = 0
  package internal(set) var cut = 0
  /// Commands that concern no link, by opcode, in order.
  var commands: [UInt16: [Command]] = [:]
  var scans: [Scan] = []
  /// Each try to make a link, in order.
  package internal(set) var attempts: [Attempt] = []
  package internal(set) var links: [Link] = []
  /// Whom the host waited for, without having to say so in a command of its own.
  var awaited: Set<PeerAddress> = []
  /// The host is seen from its start, so that its packets were as long as ours would be.
  var isWhole: Bool { commands[Reset.opcode.rawValue] != nil }

  /// Devices that were asked for their services.
  package var discoveredPeers: Set<PeerAddress> {
    Set(links.lazy.filter { $0.requests.contains { $0.pdu.first == RequestOpcode.readByGroupType.rawValue } }.compactMap(\.peer))
  }

  /// From the controller.
  package struct Packet: Sendable, Equatable {
    package var time: Int64
    /// H4 form.
    package var octets: [UInt8]
  }

  struct Command: Sendable {
    var packet: CommandPacket
    var time: Int64
    /// Command Complete or Command Status.
    var answer: Packet?
    /// The event that said how it went.
    var outcome: Packet?
    /// The recording ends before it was over.
    var isCut = false
  }

  struct Scan: Sendable {
    /// When it was begun; when it ended, or its last report came.
    var time: Int64
    var end: Int64
    var isActive: Bool
    var isOver = false
    var reports: [Packet] = []
  }

  package struct Attempt: Sendable {
    /// The peer. Nil when the host named none and no link came of it, and for a link from before the recording.
    package var peer: PeerAddress?
    /// The command that made the link. Nil when the host had told the controller earlier which peers to connect to.
    var command: Command?
    /// LE Connection Complete.
    package var complete: Packet?
    /// When the host gave up.
    var cancelled: Int64?
    package var link: Int?
    /// The recording ends before it was decided.
    package var isCut = false
  }

  package struct Link: Sendable {
    package var peer: PeerAddress?
    var handle: ConnectionHandle
    /// Until the first PDU of the host.
    var opening: [Happening] = []
    package var requests: [Request] = []
    /// About the link, by opcode, in order. The handle is part of their parameters.
    var commands: [UInt16: [Command]] = [:]
    /// When the host began to take it down, else the end of the recording.
    var end: Int64 = 0
    /// Whether the recording ends before the connection does.
    package var isCut = false

    mutating func add(_ happening: Happening) {
      if let last = requests.indices.last { requests[last].following.append(happening) } else { opening.append(happening) }
    }
  }

  /// An ATT PDU of the host, and what the device did until the next one.
  package struct Request: Sendable {
    package var pdu: [UInt8]
    /// The time of its last fragment.
    var time: Int64
    /// ATT_MTU when it was sent.
    package var mtu: Int
    package var response: [UInt8]?
    var following: [Happening] = []
    /// The number of the packet in the file that has its last fragment, counted from 1.
    var packet = 0
    /// A notification or an indication is complete in what follows.
    var bringsValue = false

    var isRequest: Bool { pdu.first.map { if case .request = ATT.Opcode(rawValue: $0) { true } else { false } } ?? false }
  }

  /// What the controller said about a link.
  struct Happening: Sendable {
    enum Kind: Sendable {
      /// - Parameter isResponse: a fragment of the response to the request before.
      case packet([UInt8], isResponse: Bool)
      case completed(Int)
    }
    var time: Int64
    var kind: Kind
  }
}

extension Recording {
  /// - Parameter file: btsnoop, pcap or pcapng. Of several adapters, the one that is most of a central is taken.
  /// - Throws: MalformedPacket with the offset in the file. What the packets hold is never an error: what cannot be read is left out.
  package init(parsing file: [UInt8]) throws(MalformedPacket) {
    var reader = try FileReader(file)
    while try reader.takeRecord() {}
    self = reader.finished()
  }

  /// Reads a recording in turns with other work on the loop: a long file takes seconds.
  /// - Throws: MalformedPacket; CancellationError.
  @LoopActor
  package static func read(_ file: [UInt8]) async throws -> Recording {
    var reader = try FileReader(file)
    while try reader.takeRecord() {
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
    }
    return reader.finished()
  }

  /// Gives the packets of each adapter to a reader of its own.
  private struct FileReader {
    private var trace: TraceReader
    private var number = 0
    private var readers: [UInt16: RecordingReader] = [:]

    init(_ file: [UInt8]) throws(MalformedPacket) { trace = try TraceReader(file) }

    /// - Returns: false at the end of the file.
    mutating func takeRecord() throws(MalformedPacket) -> Bool {
      guard let record = try trace.next() else { return false }
      number += 1
      guard record.air == nil else { throw MalformedPacket("this is a sniffer capture, without HCI packets of a host", at: 0) }
      // A monitor numbers adapters from 0; a file that names thousands was not made by one.
      guard readers[record.adapter] != nil || readers.count < 64 else { return true }
      readers[record.adapter, default: RecordingReader()].add(record, number: number, isWhole: trace.drops == 0)
      return true
    }

    consuming func finished() -> Recording {
      let best = readers.sorted { $0.key < $1.key }.max { $0.value.weight < $1.value.weight }
      var recording = best?.value.finished() ?? Recording()
      recording.drops = trace.drops
      return recording
    }
  }

  /// A device that the host connected, and whose advertisements are not in the recording: its connection tells the type of its address.
  package func unheardPeer(_ address: Address) -> PeerAddress? {
    let fitting = attempts.filter { $0.peer?.address == address }
    guard let attempt = fitting.first(where: { $0.link != nil }) ?? fitting.first else { return nil }
    return scans.contains { $0.reports.contains { Self.reports($0.octets, address) } } ? nil : attempt.peer
  }

  private static func reports(_ octets: [UInt8], _ address: Address) -> Bool {
    switch try? HCI.Packet(octets) {
    case .event(.leAdvertisingReports(let list))?: list.reports.contains { $0.address == address }
    case .event(.leExtendedAdvertisingReports(let list))?: list.reports.contains { $0.address == address }
    case .event(.leDirectedAdvertisingReports(let list))?: list.reports.contains { $0.address == address }
    default: false
    }
  }
}
