import BluetoothLE

/// A reader that builds a `Recording` from the captured packets of one adapter.
struct RecordingReader {
  private(set) var recording = Recording()
  private var isEmpty = true
  private var time: Int64 = 0
  /// The number of the current packet in the file, counted from 1.
  private var number = 0

  /// The places of the commands that the controller has not answered, by opcode, each list in recorded order.
  private var unanswered: [Opcode: [Place]] = [:]
  /// The commands whose procedures have not ended, by the zero-based index of the link.
  private var procedures: [Int: [(opcode: Opcode, index: Int)]] = [:]
  private var openAttempt: Int?
  /// The zero-based indices of open links, by connection handle. `ended` has the last closed link of each handle.
  private var live: [ConnectionHandle: Int] = [:]
  private var ended: [ConnectionHandle: Int] = [:]
  private var classic: Set<ConnectionHandle> = []
  private var vendorHandles = VendorHandles()
  private var streams: [Int: LinkStream] = [:]
  private var reports = 0

  /// The maximum number of unanswered commands per opcode. The reader forgets older commands.
  private static let mostUnanswered = 64

  private enum Place {
    case common(Opcode, Int)
    case attempt(Int)
    case link(Int, Opcode, Int)
  }

  /// A score that is higher for an adapter that was more likely a central.
  var weight: Int { recording.links.count * 1000 + recording.attempts.count * 100 + min(reports, 99) }

  private static let day: Int64 = 86_400_000_000_000

  /// Adds the next captured packet of the adapter to the recording.
  /// - Parameter isWhole: Whether the file lacks no packet before this one.
  mutating func add(_ record: Snoop.Record, number: Int, isWhole: Bool) {
    self.number = number
    vendorHandles.note(record)
    vendorHandles.isWhole = isWhole
    // A truncated packet cannot be read.
    guard record.missing == 0 else { return recording.cut += 1 }
    if isEmpty {
      recording.start = record.wallClock
      isEmpty = false
    }
    // Clocks are set, and files are forged: allow no step back, at most a month forward, and no overflow.
    let (elapsed, overflow) = record.wallClock.subtractingReportingOverflow(recording.start)
    time = min(max(time, overflow ? time : elapsed), time + 30 * Self.day, .max / 4)
    switch (record.packet.first, record.direction) {
    case (Packet.commandIndicator, .hostToController): if case .command(let command)? = try? Packet(record.packet) { add(command) }
    case (Packet.eventIndicator, .controllerToHost): add(event: record.packet)
    case (Packet.aclIndicator, let direction):
      if case .acl(let data)? = try? Packet(record.packet) { add(data, record, direction) }
    default: break
    }
  }

  consuming func finished() -> Recording {
    for index in recording.scans.indices where !recording.scans[index].isOver { recording.scans[index].end = time }
    let disconnect = Disconnect.opcode
    for index in recording.links.indices { recording.links[index].end = recording.links[index].commands[disconnect]?.first?.time ?? time }
    cut()
    return recording
  }

  /// Marks everything in progress at the end of the recording as cut.
  private mutating func cut() {
    if let openAttempt, recording.attempts[openAttempt].cancelled == nil { recording.attempts[openAttempt].isCut = true }
    for index in live.values where recording.links[index].commands[Disconnect.opcode] == nil {
      recording.links[index].isCut = true
      for (opcode, command) in procedures[index] ?? [] { recording.links[index].commands[opcode]?[command].isCut = true }
    }
    for case .common(let opcode, let index) in unanswered.values.joined() {
      // A host does not wait longer. It knew then that no answer would arrive.
      guard let since = recording.commands[opcode]?[index].time, time - since < Self.patience else { continue }
      recording.commands[opcode]?[index].isCut = true
    }
  }

  /// The longest time that a host waits for the answer to a command, in nanoseconds.
  private static let patience: Int64 = 4_000_000_000

  // MARK: Commands

  private static let extendedCreateConnectionV2 = Opcode(rawValue: 0x2085)

  private mutating func add(_ command: CommandPacket) {
    let opcode = command.opcode
    let entry = Recording.Command(packet: command, time: time)
    switch opcode {
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode, Self.extendedCreateConnectionV2:
      recording.attempts.append(Recording.Attempt(peer: Self.peer(command), command: entry))
      openAttempt = recording.attempts.count - 1
      wait(opcode, .attempt(recording.attempts.count - 1))
      return
    case LECreateConnectionCancel.opcode: if let openAttempt { recording.attempts[openAttempt].cancelled = time }
    // LE Add Device To Filter Accept List.
    case Opcode(rawValue: 0x2011):
      if let peer = Self.address(command.parameters) { recording.awaited.insert(peer) }
    case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode:
      if let last = recording.scans.indices.last, !recording.scans[last].isOver {
        recording.scans[last].isOver = true
        recording.scans[last].end = time
      }
      if command.parameters.first == 1 { recording.scans.append(Recording.Scan(time: time, end: time)) }
    default:
      guard LinkPacket.commands.contains(opcode), command.parameters.count >= 2 else { break }
      let handle = ConnectionHandle(command.parameters.uint16(at: 0))
      guard let link = live[handle] ?? ended[handle] else { break }
      recording.links[link].commands[opcode, default: []].append(entry)
      let index = (recording.links[link].commands[opcode]?.count ?? 1) - 1
      wait(opcode, .link(link, opcode, index))
      procedures[link, default: []].append((opcode, index))
      if procedures[link, default: []].count > Self.mostUnanswered { procedures[link]?.removeFirst() }
      return
    }
    recording.commands[opcode, default: []].append(entry)
    wait(opcode, .common(opcode, (recording.commands[opcode]?.count ?? 1) - 1))
  }

  private mutating func wait(_ opcode: Opcode, _ place: Place) {
    unanswered[opcode, default: []].append(place)
    if unanswered[opcode, default: []].count > Self.mostUnanswered { unanswered[opcode]?.removeFirst() }
  }

  /// Returns the peer that a command connects to. Nil for any peer on the filter accept list.
  private static func peer(_ command: CommandPacket) -> PeerAddress? {
    if let create = LECreateConnection(command) { return create.filterPolicy == 0 ? create.peer : nil }
    if let create = LEExtendedCreateConnection(command) { return create.filterPolicy == 0 ? create.peer : nil }
    guard command.opcode == extendedCreateConnectionV2, command.parameters.first == 0 else { return nil }
    // LE Extended Create Connection v2: advertising handle, subevent, then as before.
    return address(Array(command.parameters.dropFirst(4)))
  }

  private static func address(_ bytes: [UInt8]) -> PeerAddress? {
    var reader = ByteReader(bytes)
    guard let type = try? reader.uint8("peer address type"), let address = try? reader.address("peer address") else { return nil }
    return PeerAddress(hciType: type, address)
  }

  // MARK: Events

  private mutating func add(event bytes: [UInt8]) {
    let packet = Recording.Packet(time: time, bytes: bytes)
    switch RecordedEvent.kind(bytes) {
    case .answer(let opcode): answer(opcode, packet)
    case .report: report(packet)
    case .connectionComplete: if case .event(.leConnectionComplete(let complete))? = try? Packet(bytes) { connected(complete, packet) }
    case .disconnectionComplete:
      guard case .event(.disconnectionComplete(.success, let handle, _))? = try? Packet(bytes) else { return }
      classic.remove(handle)
      guard let link = live.removeValue(forKey: handle) else { return }
      ended[handle] = link
      happened(packet, link)
    case .completedPackets:
      guard case .event(.numberOfCompletedPackets(let entries))? = try? Packet(bytes) else { return }
      for entry in entries {
        guard let link = live[entry.handle] else { continue }
        recording.links[link].add(Recording.Happening(time: time, kind: .completed(Int(entry.count))))
      }
    case .other:
      // Connection Complete of BR/EDR: ignore the data of this link.
      if bytes.count >= 6, bytes[1] == 0x03, bytes[3] == 0 { classic.insert(ConnectionHandle(bytes.uint16(at: 4))) }
      guard let handle = LinkPacket.handle(bytes), let link = live[handle] else { return }
      happened(packet, link)
    }
  }

  private mutating func answer(_ opcode: Opcode, _ packet: Recording.Packet) {
    guard let place = unanswered[opcode]?.first else { return }
    unanswered[opcode]?.removeFirst()
    // Nothing follows a Command Status with an error.
    let isRefused = packet.bytes[1] == 0x0F && packet.bytes.count > 3 && packet.bytes[3] != 0
    switch place {
    case .common(let opcode, let index): recording.commands[opcode]?[index].answer = packet
    case .attempt(let index):
      recording.attempts[index].command?.answer = packet
      if isRefused, openAttempt == index { openAttempt = nil }
    case .link(let link, let opcode, let index):
      recording.links[link].commands[opcode]?[index].answer = packet
      if isRefused { procedures[link]?.removeAll { $0 == (opcode, index) } }
    }
  }

  private mutating func report(_ packet: Recording.Packet) {
    reports += 1
    if recording.scans.isEmpty { recording.scans.append(Recording.Scan(time: time, end: time)) }
    let last = recording.scans.count - 1
    if !recording.scans[last].isOver { recording.scans[last].reports.append(packet) }
  }

  private mutating func connected(_ complete: Event.ConnectionComplete, _ packet: Recording.Packet) {
    guard complete.status != .success || complete.role == 0 else { return }
    var attempt = openAttempt
    openAttempt = nil
    if attempt == nil {
      guard complete.status == .success else { return }
      recording.attempts.append(Recording.Attempt())
      attempt = recording.attempts.count - 1
    }
    guard let attempt else { return }
    recording.attempts[attempt].complete = packet
    guard complete.status == .success else { return }
    if recording.attempts[attempt].peer == nil { recording.attempts[attempt].peer = complete.peer }
    recording.attempts[attempt].link = begin(complete.handle, recording.attempts[attempt].peer)
  }

  private mutating func begin(_ handle: ConnectionHandle, _ peer: PeerAddress?) -> Int {
    recording.links.append(Recording.Link(peer: peer, handle: handle))
    let index = recording.links.count - 1
    live[handle] = index
    ended[handle] = nil
    streams[index] = LinkStream()
    return index
  }

  private mutating func happened(_ packet: Recording.Packet, _ link: Int) {
    if let position = procedures[link]?.firstIndex(where: { RecordedEvent.ends(packet.bytes, $0.opcode) }),
      let (opcode, index) = procedures[link]?.remove(at: position)
    {
      recording.links[link].commands[opcode]?[index].outcome = packet
      return
    }
    recording.links[link].add(Recording.Happening(time: packet.time, kind: .packet(packet.bytes, isResponse: false)))
  }

  // MARK: Data

  private mutating func add(_ data: ACLData, _ record: Snoop.Record, _ direction: Direction) {
    guard !classic.contains(data.handle), !vendorHandles.contains(data.handle, record.adapter) else { return }
    let isLate = live[data.handle] == nil && ended[data.handle] != nil
    let link: Int
    if let known = live[data.handle] ?? ended[data.handle] {
      link = known
    } else {
      // The link is from before the recording, or its start was hidden.
      link = begin(data.handle, nil)
      recording.attempts.append(Recording.Attempt(link: link))
    }
    switch direction {
    case .hostToController: streams[link]?.sent(data, at: time, number: number, &recording.links[link])
    case .controllerToHost: streams[link]?.received(data, record.packet, at: time, isLate: isLate, &recording.links[link])
    }
  }
}

/// A decoder that joins the ACL data of one link to ATT PDUs, and finds the response to each request.
struct LinkStream {
  private var outgoing = Recombination()
  private var incoming = Recombination()
  /// The zero-based index of the incoming L2CAP frame's first fragment in the `following` list of the last request.
  private var frameStart = 0
  private var frameRequests = 0
  /// The zero-based index of the request that waits for its response. Nil if no request waits.
  private var asked: Int?
  private var mtu = BearerState.defaultMTU

  mutating func sent(_ data: ACLData, at time: Int64, number: Int, _ link: inout Recording.Link) {
    guard let frame = outgoing.add(data), frame.channel == .att, let first = frame.payload.first else { return }
    link.requests.append(Recording.Request(pdu: frame.payload, time: time, mtu: mtu, packet: number))
    if case .request = ATTOpcode(rawValue: first) { asked = link.requests.count - 1 }
  }

  /// Adds data that the controller sent to the host.
  /// - Parameter isLate: Whether the data follows the link's Disconnection Complete event, because the recorder reordered packets.
  mutating func received(_ data: ACLData, _ bytes: [UInt8], at time: Int64, isLate: Bool, _ link: inout Recording.Link) {
    if data.boundary != .continuing {
      frameStart = link.requests.last?.following.count ?? 0
      frameRequests = link.requests.count
    }
    var happening = Recording.Happening(time: time, kind: .packet(bytes, isResponse: false))
    if isLate, let end = Self.takeEnd(&link) {
      happening.time = end.time
      link.add(happening)
      link.add(end)
      frameStart = min(frameStart, max(0, (link.requests.last?.following.count ?? 0) - 2))
    } else {
      link.add(happening)
    }
    guard let frame = incoming.add(data), frame.channel == .att, let first = frame.payload.first else { return }
    switch ATTOpcode(rawValue: first) {
    case .response, .error: responded(frame.payload, &link)
    case .unsolicited: if let last = link.requests.indices.last { link.requests[last].bringsValue = true }
    case .request, .command, .confirmation, .unknown: break
    }
  }

  /// Removes and returns the last event of a link if it is Disconnection Complete. Otherwise returns nil.
  private static func takeEnd(_ link: inout Recording.Link) -> Recording.Happening? {
    func isEnd(_ happening: Recording.Happening?) -> Bool {
      guard case .packet(let bytes, _)? = happening?.kind else { return false }
      return RecordedEvent.kind(bytes) == .disconnectionComplete
    }
    if let last = link.requests.indices.last {
      return isEnd(link.requests[last].following.last) ? link.requests[last].following.removeLast() : nil
    }
    return isEnd(link.opening.last) ? link.opening.removeLast() : nil
  }

  private mutating func responded(_ pdu: [UInt8], _ link: inout Recording.Link) {
    guard let index = asked else { return }
    asked = nil
    link.requests[index].response = pdu
    if case .exchangeMTU(let client)? = try? Request(parsing: link.requests[index].pdu),
      case .exchangeMTU(let server)? = try? Response(parsing: pdu)
    {
      mtu = Recording.mtu(client, server)
    }
    // The host may send commands between a request and its response. The fragments then follow the last command.
    guard frameRequests == link.requests.count, let last = link.requests.indices.last else { return }
    for position in link.requests[last].following.indices.dropFirst(frameStart) {
      if case .packet(let bytes, _) = link.requests[last].following[position].kind, bytes.first == Packet.aclIndicator {
        link.requests[last].following[position].kind = .packet(bytes, isResponse: true)
      }
    }
  }
}

extension Recording {
  /// Returns the lesser of the client's and the server's MTU in bytes, at least 23 (Vol 3 Part F §3.4.2.2).
  static func mtu(_ client: UInt16, _ server: UInt16) -> Int {
    min(max(Int(min(client, server)), BearerState.defaultMTU), BearerState.largestMTU)
  }
}
