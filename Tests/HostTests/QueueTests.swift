import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct CommandQueueTests {
  private func complete(_ opcode: Opcode, credits: UInt8 = 1) -> Event.CommandComplete {
    Event.CommandComplete(credits: credits, opcode: opcode, parameters: [0])
  }

  @Test func oneAtATimeInOrder() {
    var queue = CommandQueue()
    let first = queue.add(Reset())
    let second = queue.add(ReadBDADDR())
    #expect(queue.next(at: 0) == Reset())
    #expect(queue.next(at: 0) == nil)
    #expect(queue.completed(complete(Reset.opcode, credits: 5)) == first)
    #expect(queue.next(at: 0) == ReadBDADDR())
    #expect(queue.completed(complete(ReadBDADDR.opcode)) == second)
    #expect(queue.next(at: 0) == nil)
    #expect(queue.count == 0)
    #expect(queue.deadline == nil)
  }

  @Test func foreignAnswersAreNobodysButTheirCreditsCount() {
    var queue = CommandQueue()
    let id = queue.add(Reset())
    _ = queue.next(at: 0)
    #expect(queue.completed(complete(ReadBDADDR.opcode)) == nil)
    #expect(queue.status(Event.CommandStatus(status: .commandDisallowed, opcode: Disconnect.opcode)) == nil)
    // For a command that completes, a success status means nothing.
    #expect(queue.status(Event.CommandStatus(status: .success, opcode: Reset.opcode)) == nil)
    #expect(queue.completed(complete(Reset.opcode, credits: 0)) == id)
    _ = queue.add(ReadBDADDR())
    #expect(queue.next(at: 0) == nil)
    #expect(queue.completed(Event.CommandComplete(credits: 1, opcode: .none, parameters: [])) == nil)
    #expect(queue.next(at: 0) == ReadBDADDR())
  }

  @Test func statusAnswers() {
    var queue = CommandQueue()
    let disconnect = queue.add(Disconnect(handle: 1, reason: .remoteUserTerminated))
    _ = queue.next(at: 0)
    // A Command Complete with success does not mean that the procedure has started.
    #expect(queue.completed(complete(Disconnect.opcode)) == nil)
    #expect(queue.status(Event.CommandStatus(status: .success, opcode: Disconnect.opcode)) == disconnect)
    let phy = queue.add(LEReadPHY(handle: 1))
    _ = queue.next(at: 0)
    #expect(queue.status(Event.CommandStatus(status: .unknownCommand, opcode: LEReadPHY.opcode)) == phy)
  }

  @Test func limits() {
    var queue = CommandQueue()
    let id = queue.add(Reset())
    _ = queue.next(at: 10)
    #expect(queue.deadline == 4_000_000_010)
    #expect(queue.expire(at: 4_000_000_009) == nil)
    #expect(queue.expire(at: 4_000_000_010) == .unanswered(id))
    // The late answer matches no command, and the next command is sent.
    #expect(queue.completed(complete(Reset.opcode)) == nil)
    _ = queue.add(ReadBDADDR())
    #expect(queue.next(at: 0) == ReadBDADDR())
  }

  @Test func creditsThatNeverComeBackAreNotWaitedForForEver() {
    var queue = CommandQueue()
    _ = queue.add(Reset())
    _ = queue.next(at: 0)
    _ = queue.completed(complete(Reset.opcode, credits: 0))
    let waiting = [queue.add(ReadBDADDR()), queue.add(ReadBufferSize())]
    #expect(queue.next(at: 5) == nil)
    #expect(queue.deadline == 4_000_000_005)
    // A withdrawn command needs no limit.
    let withdrawn = queue.add(Reset())
    #expect(queue.withdraw(withdrawn) && queue.deadline != nil)
    #expect(queue.expire(at: 4_000_000_005) == .unsent(waiting[0]))
    // One credit may be lost, so the next command is sent.
    #expect(queue.next(at: 4_000_000_005) == ReadBufferSize())
    _ = queue.completed(complete(ReadBufferSize.opcode, credits: 0))
    #expect(queue.count == 0 && queue.deadline == nil)
    // Clean-up commands are sent even without a credit.
    _ = queue.add(Reset().packet, answeredBy: Reset.answeringEvent, isCleanUp: true)
    #expect(queue.next(at: 4_000_000_006) == nil && queue.expire(at: 8_000_000_006) == nil)
    #expect(queue.next(at: 8_000_000_006) == Reset())
    _ = queue.completed(complete(Reset.opcode, credits: 1))
    // One credit may be lost.
    _ = queue.add(ReadBDADDR())
    #expect(queue.next(at: 4_000_000_006) == ReadBDADDR())
    _ = queue.completed(complete(ReadBDADDR.opcode, credits: 0))
    let last = queue.add(Reset())
    #expect(queue.next(at: 4_000_000_007) == nil && queue.withdraw(last) && queue.deadline == nil)
  }

  @Test func withdrawnCommandsAreNotSent() {
    var queue = CommandQueue()
    let first = queue.add(Reset())
    let second = queue.add(ReadBDADDR())
    _ = queue.next(at: 0)
    // A sent command cannot be withdrawn.
    let withdrawn = (queue.withdraw(first), queue.withdraw(second))
    #expect(withdrawn == (false, true))
    #expect(queue.completed(complete(Reset.opcode)) == first)
    #expect(queue.next(at: 0) == nil)
  }
}

@Suite(.timeLimit(.minutes(15))) struct SendQueueTests {
  private func frame(_ bytes: Int) -> L2CAPFrame { L2CAPFrame(channel: 4, payload: [UInt8](repeating: 7, count: bytes)) }

  private func drain(_ queue: inout SendQueue) -> [ConnectionHandle] {
    var handles: [ConnectionHandle] = []
    while let data = queue.next() { handles.append(data.handle) }
    return handles
  }

  @Test func creditsAreRespected() {
    var queue = SendQueue(length: 27, total: 3)
    queue.open(1)
    queue.add(frame(27 * 5 - 4), to: 1)
    #expect(drain(&queue) == [1, 1, 1])
    #expect(queue.queued(1) == 2)
    queue.completed(1, 1)
    #expect(drain(&queue) == [1])
    queue.completed(1, 3)
    #expect(drain(&queue) == [1])
    #expect(queue.outstanding(1) == 1)
    queue.completed(1, 1)
    #expect(queue.outstanding(1) == 0)
  }

  @Test func linksTakeTurnsAndKeepAReserve() {
    var queue = SendQueue(length: 27, total: 4)
    queue.open(1)
    queue.open(2)
    queue.add(frame(1000), to: 1)
    // A single link may use all buffers except the other's reserve.
    #expect(drain(&queue) == [1, 1, 1])
    queue.add(frame(1000), to: 2)
    #expect(drain(&queue) == [2])
    // The first link is stuck: the second continues with its one buffer.
    for _ in 0..<5 {
      queue.completed(2, 1)
      #expect(drain(&queue) == [2])
    }
    queue.completed(1, 3)
    queue.completed(2, 1)
    #expect(drain(&queue) == [1, 2, 1, 2])
  }

  @Test func hostileCountsFreeNothingThatWasNotSent() {
    var queue = SendQueue(length: 27, total: 2)
    queue.open(1)
    queue.add(frame(1000), to: 1)
    #expect(drain(&queue).count == 2)
    queue.completed(9, 0xFFFF)
    #expect(drain(&queue).isEmpty)
    queue.completed(1, 0xFFFF)
    queue.completed(1, -5)
    #expect(drain(&queue).count == 2)
  }

  @Test func closingGivesTheBuffersBack() {
    var queue = SendQueue(length: 27, total: 2)
    queue.open(1)
    queue.add(frame(100), to: 1)
    _ = drain(&queue)
    queue.open(2)
    queue.add(frame(10), to: 2)
    #expect(drain(&queue).isEmpty)
    queue.close(1)
    #expect(drain(&queue) == [2])
    queue.add(frame(10), to: 1)
    #expect(queue.next() == nil)
  }

  @Test func fragmentsStayInOrder() {
    var queue = SendQueue(length: 27, total: 1)
    queue.open(1)
    let frames = (0..<40).map { L2CAPFrame(channel: 4, payload: [UInt8](repeating: UInt8($0), count: 100)) }
    for frame in frames { queue.add(frame, to: 1) }
    var recombination = Recombination()
    var joined: [L2CAPFrame] = []
    while let data = queue.next() {
      if let frame = recombination.add(data) { joined.append(frame) }
      queue.completed(1, 1)
    }
    #expect(joined == frames)
    #expect(recombination.dropped == 0)
  }
}

extension SendQueue {
  fileprivate mutating func add(_ frame: L2CAPFrame, to handle: ConnectionHandle) { add(frame.channel, frame.payload, to: handle) }

  fileprivate mutating func next() -> ACLData? {
    var bytes: [UInt8] = []
    guard next(&bytes), case .acl(let data)? = try? Packet(bytes) else { return nil }
    return data
  }
}

extension CommandQueue {
  fileprivate mutating func add<C: Command>(_ command: C) -> Int {
    add(command.packet, answeredBy: C.answeringEvent)
  }
}
