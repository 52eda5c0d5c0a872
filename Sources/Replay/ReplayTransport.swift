import Bluetooth
package import EventLoop
package import HCI

/// A controller that answers as the one of a recording did, with the devices that were around it. What a host asks that nobody asked then ends
/// the link, or the command, with ReplayError.
@LoopActor
package final class ReplayTransport: HCI.Transport {
  package var handler: (@LoopActor (HCI.TransportEvent) -> Void)?

  let recording: Recording
  private var pace: Pace
  private var isClosed = false

  var links: [ConnectionHandle: ReplayedLink] = [:]
  var used: [UInt16: Set<Int>] = [:]
  /// The recorded attempts that were used, with the peer that the host connected to.
  var usedAttempts: [Int: PeerAddress] = [:]
  /// The attempt that the host waits for; -1 one that is not in the recording.
  var waiting: (attempt: Int?, peer: PeerAddress)?
  var isActiveScan = true
  var scan: ReplayedScan?
  var nextScan = 0
  /// Called when the recording goes on after a pause, which is left out.
  private let onPause: @LoopActor (Int64) -> Void

  /// - Parameter onPause: gets the nanoseconds that the recording's time jumps.
  package init(_ recording: Recording, onPause: @escaping @LoopActor (Int64) -> Void = { _ in }) {
    self.recording = recording
    self.onPause = onPause
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

  /// The recording does not go on as the host wants to.
  func fail(_ link: ReplayedLink, _ error: ReplayError) {
    perform(at: now) { transport in
      guard transport.links[link.handle] === link else { return }
      transport.ended(link)
      transport.handler?(.linkEnded(link.handle, error))
    }
  }

  func refuse(_ opcode: HCI.Opcode, _ error: ReplayError) { perform(at: now) { $0.handler?(.refused(opcode, error)) } }

  // MARK: Time

  var now: Int64 { EventLoop.shared.now.nanoseconds }

  func due(_ recorded: Int64) -> Int64 { max(now, pace.due(recorded)) }

  /// Our time for the recording's, also when it is past.
  func place(_ recorded: Int64) -> Int64 { pace.due(recorded) }

  func align(_ recorded: Int64) {
    let pause = pace.align(recorded, now: now)
    if pause > 0 { onPause(pause) }
  }

  // MARK: To the host

  func deliver(_ octets: [UInt8]) { if !isClosed { handler?(.received(octets)) } }

  func post(_ octets: [UInt8], at due: Int64) { perform(at: due) { $0.deliver(octets) } }

  func perform(at due: Int64, _ action: @escaping @LoopActor (ReplayTransport) -> Void) {
    EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: due)) { [weak self] in
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
    default:
      if RecordedEvent.linkCommands.contains(command.opcode.rawValue), command.parameters.count >= 2 {
        let handle = ConnectionHandle(UInt16(command.parameters[0]) | UInt16(command.parameters[1]) << 8)
        executeOnLink(command, handle)
      } else {
        executeCommon(command)
      }
    }
  }

  private func executeCommon(_ command: CommandPacket) {
    switch command.opcode {
    case LESetScanParameters.opcode: isActiveScan = command.parameters.first != 0
    case LESetExtendedScanParameters.opcode: isActiveScan = command.parameters.dropFirst(3).first != 0
    default: break
    }
    answer(command)
  }

  /// As recorded, else as a controller does that has what the recording shows.
  func answer(_ command: CommandPacket) {
    if !answerAsRecorded(command) { post(defaultAnswer(command.opcode).encoded, at: now) }
  }

  /// - Returns: false when the recording does not have the command with these parameters.
  func answerAsRecorded(_ command: CommandPacket) -> Bool {
    let opcode = command.opcode.rawValue
    guard let all = recording.commands[opcode] else { return false }
    let fitting = all.indices.filter { all[$0].packet == command }
    let fresh = fitting.first { !used[opcode, default: []].contains($0) }
    guard let index = fresh ?? fitting.last(where: { all[$0].answer != nil }) else { return false }
    if !all[index].isCut { used[opcode, default: []].insert(index) }
    if fresh != nil { align(all[index].time) }
    if all[index].isCut {
      refuse(command.opcode, .cut(.command(command)))
      return true
    }
    guard let answer = all[index].answer else { return fresh != nil }
    post(answer.octets, at: fresh == nil ? now : due(answer.time))
    return true
  }
}
