package import BluetoothLE

/// A controller that answers like the controller in a recording, with the recorded devices around it.
/// A connection without a recorded one ends with `ReplayError`, and in a strict replay also any other request.
@LoopActor
package final class ReplayTransport: Transport {
  package var handler: (@LoopActor (TransportEvent) -> Void)?

  let recording: Recording
  /// Whether a request without a recorded answer ends its link. Otherwise the device answers with an error.
  let isStrict: Bool
  private var pace: Pace
  private var isClosed = false

  var links: [ConnectionHandle: ReplayedLink] = [:]
  var used: [Opcode: Set<Int>] = [:]
  /// The peers to which the host connected, by the zero-based index of the recorded attempt that the replay used.
  var usedAttempts: [Int: PeerAddress] = [:]
  /// The host's pending connection. `attempt` is the zero-based index of the recorded attempt, or nil if the recording lacks the attempt.
  var waiting: (attempt: Int?, peer: PeerAddress)?
  var isActiveScan = true
  var scan: ReplayedScan?
  var nextScan = 0
  /// The function to call with the length of a skipped pause, in nanoseconds.
  private let onPause: @LoopActor (Int64) -> Void
  private let onNote: @LoopActor (ReplayNote) -> Void
  private var noted: [ReplayNote] = []

  /// Creates a transport that replays a recording.
  /// - Parameters:
  ///   - onPause: The function that receives the length of each skipped pause, in nanoseconds.
  ///   - onNote: The function that receives each note once.
  package init(
    _ recording: Recording, isStrict: Bool = true, onPause: @escaping @LoopActor (Int64) -> Void = { _ in },
    onNote: @escaping @LoopActor (ReplayNote) -> Void = { _ in }
  ) {
    (self.recording, self.isStrict, self.onPause, self.onNote) = (recording, isStrict, onPause, onNote)
    pace = Pace(now: EventLoop.shared.now.nanoseconds)
  }

  package func send(_ packet: [UInt8]) {
    guard !isClosed, let packet = try? Packet(packet) else { return }
    switch packet {
    case .command(let command): execute(command)
    case .acl(let data): links[data.handle]?.receive(data)
    case .event, .unknown: break
    }
  }

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    scan?.stop()
    for link in links.values { link.end() }
    links = [:]
    handler = nil
  }

  /// Ends a link with an error, because the recording lacks an answer to the host.
  func fail(_ link: ReplayedLink, _ error: ReplayError) {
    perform { transport in
      guard transport.links[link.handle] === link else { return }
      transport.ended(link)
      transport.handler?(.linkEnded(link.handle, error))
    }
  }

  func note(_ note: ReplayNote) {
    guard noted.count < 16, !noted.contains(where: { $0 == note || $0.isOfDiscovery && note.isOfDiscovery }) else { return }
    noted.append(note)
    onNote(note)
    if noted.count == 16 { onNote(.more) }
  }

  func refuse(_ opcode: Opcode, _ error: ReplayError) { perform { $0.handler?(.refused(opcode, error)) } }

  // MARK: Time

  var now: Int64 { EventLoop.shared.now.nanoseconds }

  func due(_ recorded: Int64) -> Int64 { max(now, pace.due(recorded)) }

  /// Converts a time of the recording to a time of the event loop, both in nanoseconds. The result may be in the past.
  func place(_ recorded: Int64) -> Int64 { pace.due(recorded) }

  func align(_ recorded: Int64) {
    let pause = pace.align(recorded, now: now)
    if pause > 0 { onPause(pause) }
  }

  // MARK: To the host

  func deliver(_ bytes: [UInt8]) { if !isClosed { handler?(.received(bytes)) } }

  func post(_ bytes: [UInt8], at due: Int64? = nil) { perform(at: due) { $0.deliver(bytes) } }

  func perform(at due: Int64? = nil, _ action: @escaping @LoopActor (ReplayTransport) -> Void) {
    EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: due ?? now)) { [weak self] in
      guard let self, !isClosed else { return }
      action(self)
    }
  }

  func ended(_ link: ReplayedLink) {
    link.end()
    links[link.handle] = nil
  }

  // MARK: Commands

  private func execute(_ command: CommandPacket) {
    switch command.opcode {
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode: connect(command)
    case LECreateConnectionCancel.opcode: cancel(command)
    case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode: enableScan(command)
    case LESetScanParameters.opcode, LESetExtendedScanParameters.opcode:
      isActiveScan = command.parameters.dropFirst(command.opcode == LESetScanParameters.opcode ? 0 : 3).first != 0
      answer(command)
    case _ where LinkPacket.commands.contains(command.opcode) && command.parameters.count >= 2:
      executeOnLink(command, ConnectionHandle(command.parameters.uint16(at: 0)))
    default: answer(command)
    }
  }

  /// Answers a command as recorded, or else like a controller with the recorded abilities.
  func answer(_ command: CommandPacket) { if !answerAsRecorded(command) { post(defaultAnswer(command.opcode).encoded) } }

  /// Answers a command as recorded. Returns false if the recording lacks the command with these parameters.
  func answerAsRecorded(_ command: CommandPacket) -> Bool {
    let opcode = command.opcode
    guard let all = recording.commands[opcode] else { return false }
    let fitting = all.indices.filter { all[$0].packet == command }
    let fresh = fitting.first { (!all[$0].isCut || isStrict) && !used[opcode, default: []].contains($0) }
    guard let index = fresh ?? fitting.last(where: { all[$0].answer != nil }) else { return false }
    if !all[index].isCut { used[opcode, default: []].insert(index) }
    if fresh != nil { align(all[index].time) }
    if all[index].isCut {
      guard isStrict else { return false }
      refuse(command.opcode, .cut(.command(command)))
      return true
    }
    guard let answer = all[index].answer else { return isStrict && fresh != nil }
    post(answer.bytes, at: fresh == nil ? now : due(answer.time))
    return true
  }

  // MARK: Making links

  func connect(_ command: CommandPacket) {
    let peer = LECreateConnection(command)?.peer ?? LEExtendedCreateConnection(command)?.peer
    guard let peer, waiting == nil else { return post(status(command, waiting == nil ? .invalidParameters : .commandDisallowed)) }
    guard let index = nextAttempt(peer) else {
      guard recording.awaited.contains(peer) else { return refuse(command.opcode, .notRecorded(.connection(peer), next: nextPeer)) }
      waiting = (nil, peer)
      return post(status(command, .success))
    }
    let attempt = recording.attempts[index]
    if attempt.isCut, attempt.peer != nil { return refuse(command.opcode, .cut(.connection(peer))) }
    usedAttempts[index] = peer
    if let time = attempt.command?.time { align(time) } else if let time = attempt.complete?.time { align(time) }
    guard let recorded = attempt.command else {
      post(status(command, .success))
      waiting = (index, peer)
      return perform { $0.established(index, peer) }
    }
    if let answer = recorded.answer {
      let bytes = answer.bytes
      // A Command Status, for any of the create commands.
      let code = bytes.count > 3 && bytes[1] == 0x0F ? ControllerErrorCode(rawValue: bytes[3]) : .success
      post(status(command, code), at: due(answer.time))
      guard code == .success else { return }
    } else if attempt.complete != nil {
      post(status(command, .success))
    }
    waiting = (index, peer)
    guard let complete = attempt.complete, attempt.cancelled == nil else { return }
    // Phones wait longer for a device than our time limit.
    if !isStrict, due(complete.time) - now > 10_000_000_000 {
      note(.slowAttempt)
      align(complete.time - 10_000_000_000)
    }
    perform(at: due(complete.time)) { $0.established(index, peer) }
  }

  /// Returns the zero-based index of the next recorded attempt to connect to a peer. After the last attempt, prefers the last attempt that
  /// opened a link. Returns nil without a recorded attempt.
  private func nextAttempt(_ peer: PeerAddress) -> Int? {
    let attempts = recording.attempts
    func last(where fits: (Recording.Attempt) -> Bool) -> Int? { attempts.indices.last { usedAttempts[$0] == peer && fits(attempts[$0]) } }
    let fresh = attempts.indices.filter { usedAttempts[$0] == nil && attempts[$0].peer ?? peer == peer }
    // Phones cancel attempts and try again.
    let whole =
      isStrict
      ? fresh.first
      : fresh.first { attempts[$0].complete != nil && (attempts[$0].cancelled == nil || attempts[$0].link != nil) } ?? fresh.first
    func hasEnded(_ index: Int) -> Bool? { attempts[index].link.map { recording.links[$0].endedInDiscovery } }
    // A connection that ended during discovery answers nothing else.
    if let whole, hasEnded(whole) == true, let other = fresh.first(where: { $0 > whole && hasEnded($0) == false }) {
      for index in fresh where index < other { usedAttempts[index] = peer }
      let number = attempts[...other].count { $0.link != nil && $0.peer ?? peer == peer }
      note(.endedInDiscovery(peer, number: number))
      return other
    }
    return whole ?? last { $0.link != nil } ?? last { _ in true }
  }

  private var nextPeer: ReplayError.Asked? {
    recording.attempts.indices.first { usedAttempts[$0] == nil }.flatMap { recording.attempts[$0].peer }.map { .connection($0) }
  }

  private func established(_ index: Int, _ peer: PeerAddress) {
    guard waiting?.attempt == index, waiting?.peer == peer else { return }
    waiting = nil
    let attempt = recording.attempts[index]
    guard let number = attempt.link else {
      if let complete = attempt.complete { deliver(complete.bytes) }
      return
    }
    let recorded = recording.links[number]
    var handle = recorded.handle
    while links[handle] != nil { handle = ConnectionHandle((handle.rawValue + 1) % 0x0F00) }
    let others = recording.links.indices.filter { $0 != number && recording.links[$0].peer == recorded.peer && recorded.peer != nil }
    let link = ReplayedLink(
      recorded, others: others.map { recording.links[$0] }, handle: handle, isWhole: recording.isWhole, self)
    links[handle] = link
    if let complete = attempt.complete {
      deliver(RecordedEvent.with(handle, complete.bytes))
    } else {
      // The recording lacks the start of the link: assume 30 ms and 4 s.
      deliver(
        Event.leConnectionComplete(
          .init(status: .success, handle: handle, peer: peer, interval: 24, latency: 0, supervisionTimeout: 400)
        ).encoded)
    }
    link.begin()
  }

  func cancel(_ command: CommandPacket) {
    guard let (index, peer) = waiting else {
      if !answerAsRecorded(command) { post(complete(command, [ControllerErrorCode.commandDisallowed.rawValue])) }
      return
    }
    waiting = nil
    if !answerAsRecorded(command) { post(complete(command, [0])) }
    if let index, let time = recording.attempts[index].cancelled, let complete = recording.attempts[index].complete {
      align(time)
      waiting = (index, peer)
      perform(at: due(complete.time)) { $0.established(index, peer) }
    } else {
      post(
        Event.leConnectionComplete(
          .init(status: .unknownConnectionIdentifier, handle: 0, peer: peer, interval: 0, latency: 0, supervisionTimeout: 0)
        ).encoded)
    }
  }

  // MARK: Commands about links

  func executeOnLink(_ command: CommandPacket, _ handle: ConnectionHandle) {
    guard let link = links[handle] else { return post(status(command, .unknownConnectionIdentifier)) }
    let recorded = link.take(command)
    if let recorded, !recorded.isCut, isStrict || recorded.answer != nil {
      align(recorded.time)
      if let answer = recorded.answer { post(adapted(answer.bytes, handle), at: due(answer.time)) }
      if let outcome = recorded.outcome { finish(outcome.bytes, link, at: due(outcome.time)) }
      return
    }
    switch command.opcode {
    case Disconnect.opcode:
      post(status(command, .success))
      finish(Event.disconnectionComplete(status: .success, handle: handle, reason: .terminatedByLocalHost).encoded, link)
    case ReadRSSI.opcode where recorded != nil: refuse(command.opcode, .cut(.command(command)))
    case ReadRSSI.opcode, LEReadPHY.opcode:
      if let answer = link.last(command.opcode)?.answer { return post(adapted(answer.bytes, handle)) }
      // Links start on 1M.
      let phy = LEReadPHY.opcode == command.opcode
      post(
        complete(command, phy ? [0] + command.parameters.prefix(2) + [1, 1] : [ControllerErrorCode.unknownCommand.rawValue]))
    case LEReadRemoteFeatures.opcode:
      post(status(command, .success))
      finish(Event.leReadRemoteFeaturesComplete(status: .unsupportedRemoteFeature, handle: handle, features: []).encoded, link)
    case LESetDataLength.opcode, LERemoteConnectionParameterRequestReply.opcode, LERemoteConnectionParameterRequestNegativeReply.opcode:
      post(complete(command, [0] + command.parameters.prefix(2)))
    case LEConnectionUpdate.opcode where !isStrict, LESetPHY.opcode where !isStrict:
      note(.notRecorded(.command(command), nil))
      post(status(command, .unsupportedRemoteFeature))
    case LEConnectionUpdate.opcode, LESetPHY.opcode:
      fail(link, recorded == nil ? .notRecorded(.command(command), next: nil) : .cut(.command(command)))
    default: post(status(command, .unknownCommand))
    }
  }

  private func finish(_ bytes: [UInt8], _ link: ReplayedLink, at due: Int64? = nil) {
    perform(at: due) { transport in
      guard transport.links[link.handle] === link else { return }
      transport.deliver(RecordedEvent.with(link.handle, bytes))
      if RecordedEvent.kind(bytes) == .disconnectionComplete { transport.ended(link) }
    }
  }

  /// Returns a Command Complete event with another connection handle after its status. Returns any other packet unchanged.
  private func adapted(_ bytes: [UInt8], _ handle: ConnectionHandle) -> [UInt8] {
    bytes.count >= 9 && bytes[1] == 0x0E ? RecordedEvent.with(handle, bytes, at: 7) : bytes
  }

  // MARK: Answers

  func status(_ command: CommandPacket, _ status: ControllerErrorCode) -> [UInt8] {
    Event.commandStatus(.init(status: status, opcode: command.opcode)).encoded
  }

  func complete(_ command: CommandPacket, _ parameters: [UInt8]) -> [UInt8] {
    Event.commandComplete(.init(opcode: command.opcode, parameters: parameters)).encoded
  }

  /// Returns the answer of a controller with the abilities that the recording shows, for a command that the recording lacks.
  func defaultAnswer(_ opcode: Opcode) -> Event {
    let usesExtended = recording.commands[LESetExtendedScanEnable.opcode] != nil
    switch opcode {
    case Reset.opcode, SetEventMask.opcode, LESetEventMask.opcode, LESetRandomAddress.opcode, LESetScanParameters.opcode,
      LESetScanEnable.opcode, LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode,
      LEWriteSuggestedDefaultDataLength.opcode:
      return .commandComplete(.init(opcode: opcode, parameters: [0]))
    case ReadLocalSupportedCommands.opcode:
      let known = [ReadRSSI.opcode, LESetPHY.opcode, LEReadPHY.opcode, LEConnectionUpdate.opcode, LECreateConnection.opcode]
      let extended = [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode]
      return .commandComplete(.init(ReadLocalSupportedCommands.self, .init(SupportedCommands(known + (usesExtended ? extended : [])))))
    case LEReadLocalSupportedFeatures.opcode:
      return .commandComplete(
        .init(LEReadLocalSupportedFeatures.self, .init(usesExtended ? [.phy2M, .phyCoded, .extendedAdvertising] : [])))
    case LEReadBufferSize.opcode: return .commandComplete(.init(LEReadBufferSize.self, .init(aclLength: 251, aclCount: 15)))
    default: return .commandComplete(.init(opcode: opcode, parameters: [ControllerErrorCode.unknownCommand.rawValue]))
    }
  }
}

/// A running scan that replays the reports of a recorded scan, and then of the later recorded scans.
@LoopActor
final class ReplayedScan {
  private unowned let transport: ReplayTransport
  private let isActive: Bool
  private var index: Int
  private var position = 0
  /// The event loop's time at the start of the recorded scan, in nanoseconds.
  private var origin: Int64
  private var timer: LoopTimer?

  init(_ transport: ReplayTransport, from index: Int, origin: Int64, isActive: Bool) {
    (self.transport, self.index, self.origin, self.isActive) = (transport, index, origin, isActive)
    schedule()
  }

  /// Stops the scan. Returns the zero-based index of the recorded scan with which the next scan continues.
  @discardableResult
  func stop() -> Int {
    timer?.cancel()
    timer = nil
    return index + 1
  }

  private func schedule() {
    let scans = transport.recording.scans
    while scans.indices.contains(index), position >= scans[index].reports.count {
      guard index + 1 < scans.count else { return }
      origin += scans[index].end - scans[index].time
      index += 1
      position = 0
    }
    guard scans.indices.contains(index) else { return }
    let report = scans[index].reports[position]
    timer = EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: origin + report.time - scans[index].time)) { [weak self] in
      self?.deliver(report)
    }
  }

  private func deliver(_ report: Recording.Packet) {
    position += 1
    timer = nil
    if isActive || !RecordedEvent.isScanResponse(report.bytes) { transport.deliver(report.bytes) }
    // The host may have ended the scan.
    if transport.scan === self { schedule() }
  }
}

extension ReplayTransport {
  /// Reports devices without a recorded advertisement, so that a scan finds them.
  private func reportUnheard() {
    let unnamed = recording.hasUnnamedPeer ? [Recording.unnamedPeer] : []
    for peer in recording.unheardPeers + unnamed {
      note(unnamed.contains(peer) ? .unnamed(peer) : .unheard(peer))
      let report = LegacyAdvertisingReport(eventType: 0, peer: peer, data: [], rssi: 127)
      // The host ignores reports before the answer to its command.
      post(Event.leAdvertisingReports(AdvertisingReports([report])).encoded, at: now + 100_000_000)
    }
  }

  func enableScan(_ command: CommandPacket) {
    let isOn = command.parameters.first == 1
    if !isOn {
      if let scan { nextScan = scan.stop() }
      scan = nil
      answer(command)
      return
    }
    if !recording.scans.indices.contains(nextScan) { nextScan = 0 }
    answer(command)
    if !isStrict { reportUnheard() }
    guard scan == nil, recording.scans.indices.contains(nextScan) else { return }
    let time = recording.scans[nextScan].time
    align(time)
    scan = ReplayedScan(self, from: nextScan, origin: due(time), isActive: isActiveScan)
  }
}
