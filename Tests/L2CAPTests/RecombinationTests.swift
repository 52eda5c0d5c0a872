import TestSupport

@Suite(.timeLimit(.minutes(15))) struct RecombinationTests {
  private func reassemble(_ packets: [[UInt8]]) throws -> (frames: [L2CAPFrame], dropped: Int) {
    var recombination = Recombination()
    var frames: [L2CAPFrame] = []
    for bytes in packets {
      guard case .acl(let data) = try Packet(bytes) else { continue }
      if let frame = recombination.add(data) { frames.append(frame) }
    }
    return (frames, recombination.dropped)
  }

  @Test(arguments: [1, 2, 3, 4, 5, 27, 251, 1000]) func fragmentsJoinAgain(_ length: Int) throws {
    let frame = L2CAPFrame(channel: 4, payload: (0..<520).map { UInt8(truncatingIfNeeded: $0) })
    let fragments = frame.fragments(handle: 0x40, length: length)
    #expect(fragments.allSatisfy { (1...length).contains($0.payload.count) && $0.handle == 0x40 })
    #expect(fragments.first?.boundary == .firstNonFlushable)
    #expect(fragments.dropFirst().allSatisfy { $0.boundary == .continuing })
    let result = try reassemble(fragments.map(\.encoded))
    #expect(result.frames == [frame])
    #expect(result.dropped == 0)
  }

  @Test func emptyFrameAndOneThatIsNotCut() throws {
    let empty = L2CAPFrame(channel: 4, payload: [])
    #expect(try reassemble([[2, 0x40, 0x20, 4, 0] + empty.encoded]).frames == [empty])
    // Controllers may ignore their own buffer size in this direction: 522 bytes in one packet.
    let long = L2CAPFrame(channel: 4, payload: [UInt8](repeating: 0x0B, count: 514))
    #expect(try reassemble([[2, 0x40, 0x20, 0x06, 0x02] + long.encoded]).frames == [long])
  }

  @Test func badInputs() throws {
    let good: [UInt8] = [2, 0x40, 0x20, 5, 0, 1, 0, 4, 0, 0x13]
    // A start shorter than its header is dropped at the next start.
    var result = try reassemble(try BadInputs.packets("T18") + [good])
    #expect(result.frames == [L2CAPFrame(channel: 4, payload: [0x13])])
    #expect(result.dropped == 1)
    // A continuation without a start.
    result = try reassemble(try BadInputs.packets("T20") + [good])
    #expect(result.frames.count == 1)
    #expect(result.dropped == 1)
    // More bytes than the frame's length: the frame is dropped with its continuations.
    result = try reassemble(try BadInputs.packets("T22") + [[2, 0x40, 0x10, 1, 0, 9], good])
    #expect(result.frames.count == 1)
    #expect(result.dropped == 2)
    // The bearer handles frames longer than our largest MTU.
    #expect(try reassemble(try BadInputs.packets("T24")).frames.map(\.payload.count) == [512])
  }

  @Test func aHeaderInPieces() throws {
    let bytes: [UInt8] = [2, 0, 4, 0, 0x0B, 7]
    let pieces = bytes.enumerated().map { [2, 0x40, $0.offset == 0 ? 0x20 : 0x10, 1, 0, $0.element] }
    #expect(try reassemble(pieces).frames == [L2CAPFrame(channel: 4, payload: [0x0B, 7])])
  }

  @Test func hostileFragmentsNeverTrap() {
    let seeds = L2CAPFrame(channel: 4, payload: Array(0..<40)).fragments(handle: 0x40, length: 10).map(\.encoded)
    var recombination = Recombination()
    hostile(seeds) { bytes in
      guard case .acl(let data)? = try? Packet(bytes) else { return }
      if let frame = recombination.add(data), frame.payload.count > 0xFFFF { Issue.record("too long") }
    }
  }
}
