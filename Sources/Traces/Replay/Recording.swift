package import BluetoothLE

/// The devices around an adapter, as a trace shows them: their advertisements, the attempts to connect, and the data of links.
/// All times are nanoseconds since the first record and never decrease.
package struct Recording: Sendable {
  /// The time of the first record, in nanoseconds since 1970-01-01T00:00:00Z.
  package internal(set) var start: Int64 = 0
  /// The number of packets of all adapters that the recorder lost. `cut` is the number of packets that the recorder truncated.
  package internal(set) var drops = 0
  package internal(set) var cut = 0
  /// The error at which the file becomes invalid. Nil for a whole file.
  package internal(set) var end: MalformedPacket?
  /// The commands that concern no link, by opcode, each list in recorded order.
  var commands: [Opcode: [Command]] = [:]
  var scans: [Scan] = []
  /// The attempts to connect, in recorded order.
  package internal(set) var attempts: [Attempt] = []
  package internal(set) var links: [Link] = []
  /// The peers that the host added to the filter accept list.
  var awaited: Set<PeerAddress> = []
  /// Whether the recording contains the host's Reset command, and so the start of the host.
  var isWhole: Bool { commands[Reset.opcode] != nil }

  /// The peers whose services the host discovered with Read By Group Type Requests.
  package var discoveredPeers: Set<PeerAddress> {
    Set(links.lazy.filter { $0.requests.contains { $0.pdu.first == RequestOpcode.readByGroupType.rawValue } }.compactMap(\.peer))
  }

  /// A packet from the controller.
  package struct Packet: Sendable, Equatable {
    package var time: Int64
    /// The packet in H4 form.
    package var bytes: [UInt8]
  }

  struct Command: Sendable {
    var packet: CommandPacket
    var time: Int64
    /// The Command Complete or Command Status event. Nil if the recording has none.
    var answer: Packet?
    /// The event that reports the outcome of the command's procedure. Nil if the recording has none.
    var outcome: Packet?
    /// Whether the recording ends before the answer or the outcome of the command.
    var isCut = false
  }

  struct Scan: Sendable {
    /// The time at which the scan starts, in nanoseconds. `end` is the time at which the scan or the recording ends.
    var time: Int64
    var end: Int64
    var isOver = false
    var reports: [Packet] = []
  }

  package struct Attempt: Sendable {
    /// The peer of the attempt. Nil if the host named none and no link followed, or for a link from before the recording.
    package var peer: PeerAddress?
    /// The host's command to connect. Nil if the recording has no such command.
    var command: Command?
    /// The LE Connection Complete event. Nil if the recording has none.
    package var complete: Packet?
    /// The time of the host's LE Create Connection Cancel, in nanoseconds. Nil if the host did not cancel.
    var cancelled: Int64?
    package var link: Int?
    /// Whether the recording ends before the outcome of the attempt.
    package var isCut = false
  }

  package struct Link: Sendable {
    package var peer: PeerAddress?
    var handle: ConnectionHandle
    /// The controller's messages about the link before the host's first ATT PDU.
    var opening: [Happening] = []
    package var requests: [Request] = []
    /// The commands about the link, by opcode, each list in recorded order. Their parameters start with the connection handle.
    var commands: [Opcode: [Command]] = [:]
    /// The time at which the host started to disconnect, or the recording ends, in nanoseconds.
    var end: Int64 = 0
    /// Whether the recording ends before the connection ends.
    package var isCut = false

    /// Whether the device ended the connection during discovery, so that the connection shows no value.
    var endedInDiscovery: Bool {
      let isEnded = commands[Disconnect.opcode] == nil && requests.last?.following.contains { $0.kind.isDisconnection } == true
      return isEnded
        && requests.allSatisfy { request in
          switch request.pdu.first {
          case 0x02, 0x04, 0x06, 0x10: !request.bringsValue
          // Declarations of included services and characteristics.
          case 0x08: [[0x02, 0x28], [0x03, 0x28]].contains(Array(request.pdu.dropFirst(5))) && !request.bringsValue
          default: false
          }
        }
    }

    mutating func add(_ happening: Happening) {
      if let last = requests.indices.last { requests[last].following.append(happening) } else { opening.append(happening) }
    }
  }

  /// An ATT PDU of the host, and the controller's messages until the host's next ATT PDU.
  package struct Request: Sendable {
    package var pdu: [UInt8]
    /// The time of the PDU's last fragment, in nanoseconds.
    var time: Int64
    /// The ATT_MTU, in bytes, when the host sent the PDU.
    package var mtu: Int
    package var response: [UInt8]?
    var following: [Happening] = []
    /// The number of the file's packet that has the PDU's last fragment, counted from 1.
    var packet = 0
    /// Whether a complete notification or indication follows before the host's next ATT PDU.
    var bringsValue = false

    var isRequest: Bool { pdu.first.map { if case .request = ATTOpcode(rawValue: $0) { true } else { false } } ?? false }
  }

  /// A message of the controller about a link.
  struct Happening: Sendable {
    enum Kind: Sendable {
      /// A packet in H4 form.
      /// - Parameter isResponse: Whether the packet is a fragment of the response to the preceding request.
      case packet([UInt8], isResponse: Bool)
      case completed(Int)
    }
    var time: Int64
    var kind: Kind
  }
}

extension Recording.Happening.Kind {
  var isResponse: Bool { if case .packet(_, true) = self { true } else { false } }
  /// Whether the message is a response that the recording does not relate to the preceding request.
  var isOtherResponse: Bool {
    // After the headers of H4, ACL data and L2CAP.
    guard case .packet(let bytes, false) = self, bytes.count > 9, bytes[0] == BluetoothLE.Packet.aclIndicator, bytes[7...8] == [4, 0]
    else {
      return false
    }
    return switch ATTOpcode(rawValue: bytes[9]) {
    case .response, .error: true
    case .request, .command, .unsolicited, .confirmation, .unknown: false
    }
  }
  var isDisconnection: Bool {
    if case .packet(let bytes, _) = self { RecordedEvent.kind(bytes) == .disconnectionComplete } else { false }
  }
}

extension Recording {
  /// Parses a btsnoop, pcap or pcapng file. If it has packets of several adapters, takes the adapter that most likely is a central.
  /// - Throws: MalformedPacket with the offset in the file. The parser omits packets with invalid contents.
  package init(parsing file: [UInt8]) throws(MalformedPacket) {
    var reader = try FileReader(file)
    while try reader.takeRecord() {}
    self = reader.finished()
  }

  /// Unpacks and parses a trace file in small steps, between which the event loop does other work.
  /// - Parameters:
  ///   - isStrict: Whether a file that becomes invalid after its first packet is an error. Otherwise `end` has the error.
  ///   - convert: A function that converts a sniffer's packet to the HCI packets of a host. Nil if a sniffer's packet is an error.
  /// - Throws: `MalformedPacket` for an invalid file, `CancellationError` after the cancellation of the task.
  @LoopActor
  package static func read(
    _ file: [UInt8], isStrict: Bool = true, converting convert: ((Snoop.Record) -> [Snoop.Record])? = nil
  ) async throws -> Recording {
    var reader = try FileReader(try await PackedCapture.unpack(file))
    var end: MalformedPacket?
    do {
      while try reader.takeRecord(convert) {
        EventLoop.shared.spendStep()
        if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
      }
    } catch let error as MalformedPacket {
      guard !isStrict, reader.number > 0 else { throw error }
      end = error
    }
    var recording = reader.finished()
    recording.end = end
    return recording
  }

  /// A reader of a trace file, which gives the packets of each adapter to a `RecordingReader` of its own.
  private struct FileReader {
    private var trace: TraceReader
    private(set) var number = 0
    private var readers: [UInt16: RecordingReader] = [:]

    init(_ file: [UInt8]) throws(MalformedPacket) { trace = try TraceReader(file) }

    /// Reads the next record. Returns false at the end of the file.
    mutating func takeRecord(_ convert: ((Snoop.Record) -> [Snoop.Record])? = nil) throws(MalformedPacket) -> Bool {
      guard let record = try trace.next() else { return false }
      guard record.air == nil || convert != nil else {
        throw MalformedPacket("this is a sniffer capture, without HCI packets of a host", at: 0)
      }
      number += 1
      // A monitor numbers adapters from 0. It did not make a file with thousands of them.
      guard readers[record.adapter] != nil || readers.count < 64 else { return true }
      for record in record.air == nil ? [record] : convert?(record) ?? [] {
        readers[record.adapter, default: RecordingReader()].add(record, number: number, isWhole: trace.drops == 0)
      }
      return true
    }

    consuming func finished() -> Recording {
      let best = readers.sorted { $0.key < $1.key }.max { $0.value.weight < $1.value.weight }
      var recording = best?.value.finished() ?? Recording()
      recording.drops = trace.drops
      return recording
    }
  }

  /// Returns the device with this address if the host connected to it without a recorded advertisement. If the recording lacks the address
  /// of a connected device, any unknown address belongs to it. Otherwise returns nil.
  package func unheardPeer(_ address: Address) -> PeerAddress? {
    let fitting = attempts.filter { $0.peer?.address == address }
    let isHeard = firstHeard[address] != nil
    guard let attempt = fitting.first(where: { $0.link != nil }) ?? fitting.first else {
      return isHeard || !hasUnnamedPeer ? nil : PeerAddress(address, address.rawValue >> 46 == 3 ? .random : .public)
    }
    return isHeard ? nil : attempt.peer
  }

  /// The devices to which the host connected, but which the first ten seconds of the recorded scans do not show. In recorded order.
  package var unheardPeers: [PeerAddress] {
    let (firstHeard, limit) = (self.firstHeard, 10_000_000_000 as Int64)
    var peers: [PeerAddress] = []
    for case (let peer?, _?) in attempts.lazy.map({ ($0.peer, $0.link) }) where firstHeard[peer.address] ?? limit >= limit {
      if peers.count < 256, !peers.contains(peer) { peers.append(peer) }
    }
    return peers
  }

  /// Whether the host used the attributes of a device whose address the recording lacks.
  package var hasUnnamedPeer: Bool { attempts.contains { $0.peer == nil && $0.link.map { !links[$0].requests.isEmpty } ?? false } }

  /// The time of each device's first advertisement, in nanoseconds since the start of the first scan, without the pauses between scans.
  private var firstHeard: [Address: Int64] {
    var (times, passed): ([Address: Int64], Int64) = ([:], 0)
    for scan in scans {
      for report in scan.reports {
        for address in Self.senders(report.bytes) where times[address] == nil { times[address] = passed + report.time - scan.time }
      }
      passed += scan.end - scan.time
    }
    return times
  }

  /// The address that a replay gives to a device whose address the recording lacks.
  static let unnamedPeer = PeerAddress(Address(rawValue: 1), .public)

  private static func senders(_ bytes: [UInt8]) -> [Address] {
    switch try? BluetoothLE.Packet(bytes) {
    case .event(.leAdvertisingReports(let list))?: list.reports.map(\.address)
    case .event(.leExtendedAdvertisingReports(let list))?: list.reports.map(\.address)
    case .event(.leDirectedAdvertisingReports(let list))?: list.reports.map(\.address)
    default: []
    }
  }
}

/// A fact about a recording that the user should know, although the replay continues.
package enum ReplayNote: Sendable, Equatable {
  /// The recording lacks this request or command. The device answers with the error, or not at all.
  case notRecorded(ReplayError.Asked, ErrorCode?)
  /// The recording has no discovery of services. It names only these handles.
  case undiscovered([Int])
  /// The recording lacks this part of the discovery, and perhaps others.
  case partlyDiscovered(ReplayError.Asked)
  /// The recording has a connection to this device, but no advertisement in time.
  case unheard(PeerAddress)
  /// The recording lacks the address of a device. The replay uses this address.
  case unnamed(PeerAddress)
  /// The device ended its next recorded connections during discovery. The replay uses the connection with this number, counted from 1.
  case endedInDiscovery(PeerAddress, number: Int)
  /// A connection attempt in the recording took longer than ten seconds. The replay shortens it to ten.
  case slowAttempt
  /// The file is invalid from here on.
  case cut(MalformedPacket)
  /// The replay has more notes, which it omits.
  case more

  /// Whether the note is about the discovery. One such note is enough.
  var isOfDiscovery: Bool {
    switch self {
    case .undiscovered, .partlyDiscovered: true
    case .notRecorded, .unheard, .unnamed, .endedInDiscovery, .slowAttempt, .cut, .more: false
    }
  }
}

/// The reason why a replay cannot continue.
package enum ReplayError: NoDeviceError, Sendable, Equatable {
  /// The recording lacks this request.
  /// - Parameter next: The host's next action in the recording. Nil at the end of the recording.
  case notRecorded(Asked, next: Asked?)
  /// The recording has the request, but ends before the answer.
  case cut(Asked)
  /// The recording has no further notifications or indications for the connection.
  case ended
  /// The connection has no further values until the host repeats an action from the recording.
  /// - Parameter packet: The number of the action's packet in the file, counted from 1.
  case unasked(Asked, packet: Int)

  /// An ATT PDU, a connection or an HCI command that the host requested.
  package enum Asked: Sendable, Equatable {
    /// An ATT PDU, with the attribute that it names. The attribute is nil if the PDU names none, or if the recording does not show it.
    case attribute([UInt8], Attribute?)
    case connection(PeerAddress)
    case command(CommandPacket)
  }

  /// An attribute in the recording.
  package struct Attribute: Sendable, Equatable {
    package var type: UUID
    /// The characteristic to which a descriptor belongs. Nil for other attributes.
    package var characteristic: UUID?

    package init(type: UUID, characteristic: UUID? = nil) { (self.type, self.characteristic) = (type, characteristic) }
  }
}
