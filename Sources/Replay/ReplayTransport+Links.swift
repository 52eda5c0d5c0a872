import Bluetooth
import HCI

extension ReplayTransport {
  // MARK: Making links

  func connect(_ command: CommandPacket) {
    let peer = LECreateConnection(command)?.peer ?? LEExtendedCreateConnection(command)?.peer
    guard let peer, waiting == nil else {
      return post(status(command.opcode, waiting == nil ? .invalidParameters : .commandDisallowed), at: now)
    }
    guard let index = nextAttempt(peer) else {
      guard recording.awaited.contains(peer) else { return refuse(command.opcode, .notRecorded(.connection(peer), next: nextPeer)) }
      waiting = (nil, peer)
      return post(status(command.opcode, .success), at: now)
    }
    let attempt = recording.attempts[index]
    if attempt.isCut, attempt.peer != nil { return refuse(command.opcode, .cut(.connection(peer))) }
    usedAttempts[index] = peer
    if let time = attempt.command?.time { align(time) } else if let time = attempt.complete?.time { align(time) }
    guard let recorded = attempt.command else {
      post(status(command.opcode, .success), at: now)
      waiting = (index, peer)
      return perform(at: now) { $0.established(index, peer) }
    }
    if let answer = recorded.answer {
      let octets = answer.octets
      // Command Status, whichever of the commands it was.
      let code = octets.count > 3 && octets[1] == 0x0F ? ControllerErrorCode(rawValue: octets[3]) : .success
      post(status(command.opcode, code), at: due(answer.time))
      guard code == .success else { return }
    } else if attempt.complete != nil {
      post(status(command.opcode, .success), at: now)
    }
    waiting = (index, peer)
    guard let complete = attempt.complete, attempt.cancelled == nil else { return }
    perform(at: due(complete.time)) { $0.established(index, peer) }
  }

  /// In the recorded order, however the link before has ended; when all were used, the last one that made a link is used again.
  private func nextAttempt(_ peer: PeerAddress) -> Int? {
    let attempts = recording.attempts
    func last(where fits: (Recording.Attempt) -> Bool) -> Int? { attempts.indices.last { usedAttempts[$0] == peer && fits(attempts[$0]) } }
    return attempts.indices.first { usedAttempts[$0] == nil && isSame(attempts[$0].peer, peer) }
      ?? last { $0.link != nil } ?? last { _ in true }
  }

  private func isSame(_ recorded: PeerAddress?, _ peer: PeerAddress) -> Bool { recorded.map { $0 == peer } ?? true }

  private var nextPeer: ReplayError.Asked? {
    recording.attempts.indices.first { usedAttempts[$0] == nil }.flatMap { recording.attempts[$0].peer }.map { .connection($0) }
  }

  private func established(_ index: Int, _ peer: PeerAddress) {
    guard waiting?.attempt == index, waiting?.peer == peer else { return }
    waiting = nil
    let attempt = recording.attempts[index]
    guard let number = attempt.link else {
      if let complete = attempt.complete { deliver(complete.octets) }
      return
    }
    let recorded = recording.links[number]
    var handle = recorded.handle
    while links[handle] != nil { handle = ConnectionHandle((handle.rawValue + 1) % 0x0F00) }
    let others = recording.links.indices.filter { $0 != number && recording.links[$0].peer == recorded.peer && recorded.peer != nil }
    let link = ReplayedLink(
      recorded, others: others.map { recording.links[$0] }, handle: handle, peer: peer, isWhole: recording.isWhole, self)
    links[handle] = link
    if let complete = attempt.complete {
      deliver(RecordedEvent.with(handle, complete.octets))
    } else {
      // Of a link whose beginning was not seen: 30 ms, 4 s.
      deliver(
        Event.leConnectionComplete(
          .init(status: .success, handle: handle, peer: peer, interval: 24, latency: 0, supervisionTimeout: 400)
        ).encoded)
    }
    link.begin()
  }

  func cancel(_ command: CommandPacket) {
    guard let (index, peer) = waiting else {
      if !answerAsRecorded(command) { post(complete(command.opcode, [ControllerErrorCode.commandDisallowed.rawValue]), at: now) }
      return
    }
    waiting = nil
    if !answerAsRecorded(command) { post(complete(command.opcode, [0]), at: now) }
    if let index, let time = recording.attempts[index].cancelled, let complete = recording.attempts[index].complete {
      align(time)
      waiting = (index, peer)
      perform(at: due(complete.time)) { $0.established(index, peer) }
    } else {
      post(
        Event.leConnectionComplete(
          .init(status: .unknownConnectionIdentifier, handle: 0, peer: peer, interval: 0, latency: 0, supervisionTimeout: 0)
        ).encoded, at: now)
    }
  }

  // MARK: Commands about links

  func executeOnLink(_ command: CommandPacket, _ handle: ConnectionHandle) {
    guard let link = links[handle] else { return post(status(command.opcode, .unknownConnectionIdentifier), at: now) }
    let recorded = link.take(command)
    if let recorded, !recorded.isCut {
      align(recorded.time)
      if let answer = recorded.answer { post(adapted(answer.octets, handle), at: due(answer.time)) }
      if let outcome = recorded.outcome { finish(outcome.octets, link, at: due(outcome.time)) }
      return
    }
    switch command.opcode {
    case Disconnect.opcode:
      post(status(command.opcode, .success), at: now)
      finish(Event.disconnectionComplete(status: .success, handle: handle, reason: .terminatedByLocalHost).encoded, link, at: now)
    case ReadRSSI.opcode where recorded != nil: refuse(command.opcode, .cut(.command(command)))
    case ReadRSSI.opcode, LEReadPHY.opcode:
      if let answer = link.last(command.opcode)?.answer { return post(adapted(answer.octets, handle), at: now) }
      // Links begin on 1M.
      let phy = LEReadPHY.opcode == command.opcode
      post(
        complete(command.opcode, phy ? [0] + command.parameters.prefix(2) + [1, 1] : [ControllerErrorCode.unknownCommand.rawValue]), at: now
      )
    case LEReadRemoteFeatures.opcode:
      post(status(command.opcode, .success), at: now)
      finish(Event.leReadRemoteFeaturesComplete(status: .unsupportedRemoteFeature, handle: handle, features: []).encoded, link, at: now)
    case LESetDataLength.opcode, LERemoteConnectionParameterRequestReply.opcode, LERemoteConnectionParameterRequestNegativeReply.opcode:
      post(complete(command.opcode, [0] + command.parameters.prefix(2)), at: now)
    case LEConnectionUpdate.opcode, LESetPHY.opcode:
      fail(link, recorded == nil ? .notRecorded(.command(command), next: nil) : .cut(.command(command)))
    default: post(status(command.opcode, .unknownCommand), at: now)
    }
  }

  private func finish(_ octets: [UInt8], _ link: ReplayedLink, at due: Int64) {
    perform(at: due) { transport in
      guard transport.links[link.handle] === link else { return }
      transport.deliver(RecordedEvent.with(link.handle, octets))
      if RecordedEvent.kind(octets) == .disconnectionComplete { transport.ended(link) }
    }
  }

  /// Return parameters name the link behind the status.
  private func adapted(_ octets: [UInt8], _ handle: ConnectionHandle) -> [UInt8] {
    octets.count >= 9 && octets[1] == 0x0E ? RecordedEvent.with(handle, octets, at: 7) : octets
  }

  // MARK: Answers

  func status(_ opcode: HCI.Opcode, _ status: ControllerErrorCode) -> [UInt8] {
    Event.commandStatus(.init(status: status, opcode: opcode)).encoded
  }

  func complete(_ opcode: HCI.Opcode, _ parameters: [UInt8]) -> [UInt8] {
    Event.commandComplete(.init(opcode: opcode, parameters: parameters)).encoded
  }

  /// Of a controller that can do what the recording shows, for who asks more than the recorded host.
  func defaultAnswer(_ opcode: HCI.Opcode) -> Event {
    let usesExtended = recording.commands[LESetExtendedScanEnable.opcode.rawValue] != nil
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
