import TestSupport

/// A hostile peer can cause only a limited number of notes, and the end of the link is reported.
@Suite(.timeLimit(.minutes(15))) struct ClientNoteTests {
  @Test(.onLoop, arguments: [[0x1B, 3, 0] + [UInt8](repeating: 1, count: 514), [0x23, 3, 0, 9, 0, 1]] as [[UInt8]])
  @LoopActor func aFloodOfOddValuesGetsAFewNotes(_ pdu: [UInt8]) async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let client = Client(near)
    var notes: [ClientNote] = []
    client.onNote = { notes.append($0) }
    for _ in 0..<100 { peer.push(pdu) }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    guard case .last(let last)? = notes.last else {
      Issue.record("\(notes)")
      return
    }
    #expect(notes.count == 5 && notes.dropLast().allSatisfy { $0 == last })
    client.close()
  }

  @Test(.onLoop) @LoopActor func whoeverGivesUpWaitingForTheEndLeavesItToTheOthers() async throws {
    let (near, _) = MemoryChannel.pair()
    let client = Client(near)
    let ended = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(1))) { try await client.untilClosed() }
    #expect(ended == nil)
    let waiter = EventLoop.shared.spawn { try? await client.untilClosed() }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    client.close()
    #expect(kind(await waiter.value) == "link_lost")
  }
}
