import TestSupport

extension FuzzTarget {
  /// Number Of Completed Packets events that are lost, doubled, late, or have wrong links or counts.
  /// They reach the host's buffer counts and the tasks that wait for buffers.
  static let credits = FuzzTarget("credits") { bytes in
    var tape = Tape(bytes)
    let how = tape.byte()
    if how < 128 { count(&tape) } else { await VirtualTime.run { try await wait(how, tape) } }
  }

  // MARK: Counting

  private static let handles = (UInt16(1)...3).map { ConnectionHandle($0) }

  private static func count(_ tape: inout Tape) {
    let total = 1 + Int(tape.byte() % 12)
    var queue = SendQueue(length: 4 + Int(tape.byte() % 40), total: total)
    var packet: [UInt8] = []
    /// The packets of each link in the controller, and late events.
    var carried: [ConnectionHandle: Int] = [:]
    var late: [(ConnectionHandle, Int)] = []
    for handle in handles { queue.open(handle) }
    for _ in 0..<256 where !tape.isAtEnd {
      let what = tape.byte()
      let handle = handles[Int(what >> 4) % handles.count]
      let count = carried[handle] ?? 0
      switch what & 0x0F {
      case 0...4: queue.add(.att, [UInt8](repeating: 7, count: Int(tape.byte() % 64)), to: handle)
      case 5...7:
        while queue.next(&packet) {
          guard case .acl(let data)? = try? Packet(packet) else { return expect(false, "no ACL packet: \(packet)") }
          carried[data.handle, default: 0] += 1
        }
      case 8: queue.completed(handle, count)
      case 9: late.append((handle, count))
      case 10: for _ in 0...1 { queue.completed(handle, count) }
      case 11: if let (handle, count) = late.popLast() { queue.completed(handle, count) }
      case 12: queue.completed(handle, Int(tape.number16()) - 16)
      case 13: queue.completed(ConnectionHandle(0x0EFF), 1)
      case 14: if what & 0x80 == 0 { queue.close(handle) } else { queue.discard(handle) }
      default: queue.open(handle)
      }
      if (8...10).contains(what & 0x0F) { carried[handle] = 0 }
      check(queue, total)
    }
    // From here on, an honest controller frees everything.
    for _ in 0..<100_000 {
      while queue.next(&packet) {}
      check(queue, total)
      if handles.allSatisfy({ queue.outstanding($0) == 0 }) { return }
      for handle in handles { queue.completed(handle, queue.outstanding(handle) - queue.queued(handle)) }
    }
    expect(false, "what waits is never sent")
  }

  private static func check(_ queue: SendQueue, _ total: Int) {
    var inFlight = 0
    for handle in handles {
      let count = queue.outstanding(handle) - queue.queued(handle)
      expect(count >= 0 && queue.queued(handle) >= 0, "\(count) packets in flight, \(queue.queued(handle)) waiting")
      expect(queue.frames(handle) <= queue.outstanding(handle), "more frames than fragments")
      expect((queue.frames(handle) == 0) == (queue.outstanding(handle) == 0), "frames without fragments, or the reverse")
      inFlight += count
    }
    expect(inFlight <= total, "\(inFlight) packets in flight, of \(total) buffers")
  }

  // MARK: Waiting

  @LoopActor private static var creditHost: (central: HostCentral, controller: CreditController)?

  /// Checks that a transfer on its own link ends within the limits.
  @LoopActor
  private static func wait(_ how: UInt8, _ tape: Tape) async throws {
    let (central, controller) = try await started()
    controller.tape = tape
    let link = try await central.connect(CreditController.peer, timeout: .seconds(5))
    let client = Client(link.channel)
    client.limit = .seconds(2)
    var pacing = WritePacing(gap: how & 1 == 0 ? .zero : .milliseconds(10))
    pacing.provesArrival = true
    pacing.provesEvery = how & 2 == 0 ? nil : 4
    pacing.window = how & 4 == 0 ? nil : 2
    pacing.adapts = how & 8 == 0
    let transfer = Transfer(
      client, to: 3, mode: how & 16 == 0 ? .command : .request, segment: 20, pacing: pacing, ByteArray([UInt8](repeating: 1, count: 320)),
      pace: TransferPace().begin(on: .milliseconds(30)))
    let begin = EventLoop.shared.now
    let outcome = try await withDeadline(begin.advanced(by: .seconds(120))) { () -> Bool in
      do { try await transfer.run() } catch { return false }
      return true
    }
    expect(outcome != nil, "a transfer hangs")
    expect(transfer.progress.confirmed <= controller.arrived, "\(transfer.progress.confirmed) octets are said to have arrived")
    if outcome ?? false { expect(controller.arrived == 320, "\(controller.arrived) octets arrived of a transfer that went well") }
    expect(controller.most <= CreditController.buffers || controller.lies, "the host fills \(controller.most) buffers")
    await link.disconnect()
    client.close()
    expect(central.openLinks.isEmpty, "a link stays")
  }

  @LoopActor
  private static func started() async throws -> (HostCentral, CreditController) {
    if let creditHost { return creditHost }
    let controller = CreditController()
    let central = HostCentral(controller, name: "fuzz")
    try await central.start()
    creditHost = (central, controller)
    return (central, controller)
  }
}

/// A controller with one link to a device. It sends a packet every 2 ms and reports its buffers as the tape decides.
@LoopActor
private final class CreditController: Transport {
  nonisolated static let buffers = 4
  nonisolated static let peer = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
  private static let handle: ConnectionHandle = 0x40

  var handler: (@LoopActor (TransportEvent) -> Void)?
  var tape = Tape([])
  /// The number of bytes that were written.
  private(set) var arrived = 0
  /// The largest number of packets held at a time, and whether the controller reported fewer.
  private(set) var most = 0
  private(set) var lies = false
  private var waiting: [ACLData] = []
  private var recombination = Recombination()
  private var link = 0

  func close() {}

  func send(_ packet: [UInt8]) {
    switch try? Packet(packet) {
    case .command(let command): for event in answer(command) { emit(event) }
    case .acl(let data): carry(data)
    default: break
    }
  }

  private func emit(_ event: Event, after delay: Duration = .zero) {
    let packet = event.encoded
    EventLoop.shared.schedule(after: delay) { [self, link] in if link == self.link { handler?(.received(packet)) } }
  }

  private func answer(_ command: CommandPacket) -> [Event] {
    let accepted = Event.commandStatus(Event.CommandStatus(status: .success, opcode: command.opcode))
    switch command.opcode {
    case ReadLocalSupportedCommands.opcode:
      return [.complete(command.opcode, ReadLocalSupportedCommands.Return(SupportedCommands([LECreateConnection.opcode])))]
    case LEReadBufferSize.opcode:
      return [.complete(command.opcode, LEReadBufferSize.Return(aclLength: 27, aclCount: UInt8(Self.buffers)))]
    case ReadBDADDR.opcode: return [.complete(command.opcode, ReadBDADDR.Return(Address(rawValue: 0x00_1B_DC_00_00_01)))]
    case LECreateConnection.opcode:
      (arrived, most, lies, waiting, recombination, link) = (0, 0, false, [], Recombination(), link &+ 1)
      return [
        accepted,
        .leConnectionComplete(
          Event.ConnectionComplete(
            status: .success, handle: Self.handle, peer: Self.peer, interval: 24, latency: 0, supervisionTimeout: 400)),
      ]
    case LEReadRemoteFeatures.opcode: return [accepted, .leReadRemoteFeaturesComplete(status: .success, handle: Self.handle, features: [])]
    case Disconnect.opcode:
      link &+= 1
      return [accepted, .disconnectionComplete(status: .success, handle: Self.handle, reason: .terminatedByLocalHost)]
    default: return [.complete(command.opcode, NoReturnParameters())]
    }
  }

  private func carry(_ data: ACLData) {
    most = max(most, waiting.count + 1)
    guard waiting.count < Self.buffers else { return emit(.other(code: 0x1A, [1])) }
    waiting.append(data)
    if waiting.count == 1 { carryNext() }
  }

  private func carryNext() {
    let link = link
    EventLoop.shared.schedule(after: .milliseconds(2)) { [self] in
      guard link == self.link, let data = waiting.first else { return }
      waiting.removeFirst()
      if let frame = recombination.add(data), frame.channel == .att { receive(frame.payload) }
      tell()
      if !waiting.isEmpty { carryNext() }
    }
  }

  /// Reports one completed packet.
  private func tell() {
    func completed(_ count: UInt16, of handle: ConnectionHandle = CreditController.handle) -> Event {
      .numberOfCompletedPackets([Event.CompletedPackets(handle: handle, count: count)])
    }
    let how = tape.byte()
    switch how & 7 {
    case 1: break
    case 2:
      lies = true
      for _ in 0...1 { emit(completed(1)) }
    case 3: emit(completed(1), after: .milliseconds(Int(how >> 3) * 50))
    case 4: for handle in [ConnectionHandle(0x41), Self.handle] { emit(completed(1, of: handle)) }
    case 5:
      lies = true
      emit(completed(UInt16(how >> 3) << 8 | 0xFF))
    case 6: for count in [UInt16(0), 1] { emit(completed(count)) }
    default: emit(completed(1))
    }
  }

  private func receive(_ pdu: [UInt8]) {
    let reply: [UInt8]
    switch pdu.first {
    case 0x52:
      arrived += max(0, pdu.count - 3)
      return
    case 0x12:
      arrived += max(0, pdu.count - 3)
      reply = [0x13]
    case 0x04: reply = [0x05, 0x01, pdu[1], pdu[2], 0x02, 0x29]
    case let opcode?: reply = [0x01, opcode, 0, 0, 0x06]
    case nil: return
    }
    let frame = L2CAPFrame(channel: .att, payload: reply)
    for fragment in frame.fragments(handle: Self.handle, length: 27, first: .firstFlushable) {
      let packet = fragment.encoded
      EventLoop.shared.schedule(after: .milliseconds(3)) { [self, link] in if link == self.link { handler?(.received(packet)) } }
    }
  }
}
