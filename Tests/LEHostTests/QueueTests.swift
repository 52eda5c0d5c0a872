import Bluetooth
import HCI
import L2CAP
import TestSupport
import Testing

@testable import LEHost

@Suite struct CommandQueueTests {
  private func complete(_ opcode: Opcode, credits: UInt8 = 1) -> Event.CommandComplete {
    Event.CommandComplete(credits: credits, opcode: opcode, .success)
  }

  @Test func oneAtATimeInOrder() {
    var queue = CommandQueue()
    let first = queue.add(.reset)
    let second = queue.add(.readBDADDR)
    #expect(queue.next(at: 0) == .reset)
    #expect(queue.next(at: 0) == nil)
    #expect(queue.completed(complete(.reset, credits: 5)) == first)
    #expect(queue.next(at: 0) == .readBDADDR)
    #expect(queue.completed(complete(.readBDADDR)) == second)
    #expect(queue.next(at: 0) == nil)
    #expect(queue.count == 0)
    #expect(queue.deadline == nil)
  }

  @Test func foreignAnswersAreNobodysButTheirCreditsCount() {
    var queue = CommandQueue()
    let id = queue.add(.reset)
    _ = queue.next(at: 0)
    #expect(queue.completed(complete(.readBDADDR)) == nil)
    #expect(queue.status(Event.CommandStatus(status: .commandDisallowed, opcode: .disconnect)) == nil)
    // A success status says nothing about a command that completes.
    #expect(queue.status(Event.CommandStatus(status: .success, opcode: .reset)) == nil)
    #expect(queue.completed(complete(.reset, credits: 0)) == id)
    _ = queue.add(.readBDADDR)
    #expect(queue.next(at: 0) == nil)
    #expect(queue.completed(Event.CommandComplete(credits: 1, opcode: .none, .none)) == nil)
    #expect(queue.next(at: 0) == .readBDADDR)
  }

  @Test func statusAnswers() {
    var queue = CommandQueue()
    let disconnect = queue.add(.disconnect(handle: 1, reason: .remoteUserTerminated))
    _ = queue.next(at: 0)
    #expect(queue.status(Event.CommandStatus(status: .success, opcode: .disconnect)) == disconnect)
    let phy = queue.add(.leReadPHY(handle: 1))
    _ = queue.next(at: 0)
    #expect(queue.status(Event.CommandStatus(status: .unknownCommand, opcode: .leReadPHY)) == phy)
  }

  @Test func limits() {
    var queue = CommandQueue()
    let id = queue.add(.reset)
    _ = queue.next(at: 10)
    #expect(queue.deadline == 4_000_000_010)
    #expect(queue.expire(at: 4_000_000_009) == nil)
    #expect(queue.expire(at: 4_000_000_010) == id)
    // The late answer belongs to nobody, and the next command goes out.
    #expect(queue.completed(complete(.reset)) == nil)
    _ = queue.add(.readBDADDR)
    #expect(queue.next(at: 0) == .readBDADDR)
  }

  @Test func creditsThatNeverComeBackAreNotWaitedForForEver() {
    var queue = CommandQueue()
    _ = queue.add(.reset)
    _ = queue.next(at: 0)
    _ = queue.completed(complete(.reset, credits: 0))
    _ = queue.add(.readBDADDR)
    #expect(queue.next(at: 5) == nil)
    #expect(queue.deadline == 4_000_000_005)
    #expect(queue.expire(at: 4_000_000_005) == nil)
    #expect(queue.next(at: 4_000_000_005) == .readBDADDR)
  }

  @Test func withdrawnCommandsAreNotSent() {
    var queue = CommandQueue()
    let first = queue.add(.reset)
    let second = queue.add(.readBDADDR)
    _ = queue.next(at: 0)
    // One on its way is not taken back.
    let withdrawn = (queue.withdraw(first), queue.withdraw(second))
    #expect(withdrawn == (false, true))
    #expect(queue.completed(complete(.reset)) == first)
    #expect(queue.next(at: 0) == nil)
  }
}

@Suite struct SendQueueTests {
  private func frame(_ octets: Int) -> L2CAPFrame { L2CAPFrame(channel: 4, payload: [UInt8](repeating: 7, count: octets)) }

  private func drain(_ queue: inout SendQueue) -> [UInt16] {
    var handles: [UInt16] = []
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
    // Alone it may take all but the other's reserve.
    #expect(drain(&queue) == [1, 1, 1])
    queue.add(frame(1000), to: 2)
    #expect(drain(&queue) == [2])
    // The first one is stuck: the second goes on with its one.
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
