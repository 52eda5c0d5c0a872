import TestSupport

@testable import BluetoothLE

/// Tasks handle values and answers in the order of their arrival, even if these arrive together.
@Suite(.timeLimit(.minutes(15))) struct ArrivalOrderTests {
  @LoopActor
  private final class Listener: BearerClient {
    var note: @LoopActor (String) -> Void = { _ in }
    func received(_ event: Unsolicited) {
      guard case .notification(let item) = event else { return }
      note("\(item.value)")
    }
    func ignored(_ fault: BearerState.Fault) {}
    func exhausted(_ error: any Error) {}
    func closed(_ error: any Error) { note("closed") }
  }

  private static let response: [UInt8] = [0x0B, 7]

  private static func value(_ number: UInt8, _ handle: UInt8 = 1) -> [UInt8] { [0x1B, handle, 0, number] }

  /// - Parameters:
  ///   - hops: The number of jobs before the requester acts, as with nested tasks.
  ///   - pdus: The PDUs that arrive in one turn.
  @LoopActor
  private static func order(_ pdus: [[UInt8]], hops: Int = 5, isShared: Bool = false, thenLosing isLost: Bool = false) async throws
    -> [String]
  {
    let (near, far) = MemoryChannel.pair()
    let bearer = Bearer(near)
    bearer.hasSeveralListeners = isShared
    let listener = Listener()
    bearer.client = listener
    var order: [String] = []
    var shown: [Task<Void, Never>] = []
    listener.note = { text in
      guard isShared, text != "closed" else { return order.append(text) }
      // Tasks with odd values are slower.
      let isSlow = text.contains("1") || text.contains("3")
      shown.append(
        EventLoop.shared.spawn {
          for _ in 0..<(isSlow ? hops : 0) { await EventLoop.shared.spawn {}.value }
          order.append(text)
        })
    }
    far.handler = { _ in
      for pdu in pdus { far.send(pdu) }
      if isLost { far.lose(LinkLost("gone")) }
    }
    let asking = EventLoop.shared.spawn {
      _ = try? await bearer.request(.read(1))
      for _ in 0..<hops { await EventLoop.shared.spawn {}.value }
      order.append("answer")
    }
    await asking.value
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    for task in shown { await task.value }
    bearer.close()
    return order
  }

  @Test func aValueBehindAnAnswerWaits() async throws {
    let (behind, before, both) = try await onLoop {
      (
        try await Self.order([Self.response, Self.value(1), Self.value(2)]), try await Self.order([Self.value(1), Self.response]),
        try await Self.order([Self.value(1), Self.response, Self.value(2)])
      )
    }
    #expect(behind == ["answer", "[1]", "[2]", "closed"])
    #expect(before == ["[1]", "answer", "closed"] && both == ["[1]", "answer", "[2]", "closed"])
  }

  @Test func theEndComesLast() async throws {
    #expect(try await onLoop { try await Self.order([Self.response, Self.value(1)], thenLosing: true) } == ["answer", "[1]", "closed"])
    #expect(try await onLoop { try await Self.order([Self.response], thenLosing: true) } == ["answer", "closed"])
  }

  @Test func valuesOfSeveralTakersTakeTurns() async throws {
    let order = try await onLoop {
      try await Self.order([Self.value(1, 1), Self.value(2, 2), Self.value(3, 1), Self.value(4, 2), Self.response], isShared: true)
    }
    #expect(order == ["[1]", "[2]", "[3]", "[4]", "answer", "closed"])
    // The same without an outstanding request.
    let behind = try await onLoop {
      try await Self.order([Self.response, Self.value(1, 1), Self.value(2, 2), Self.value(3, 1), Self.value(4, 2)], isShared: true)
    }
    #expect(behind == ["answer", "[1]", "[2]", "[3]", "[4]", "closed"])
  }

  /// A flood is delivered immediately and in order.
  @Test func aFloodIsDelivered() async throws {
    let count = 2 * ArrivalOrder.limit
    let order = try await onLoop {
      try await Self.order([Self.response] + (0..<count).map { Self.value(UInt8($0 % 200), UInt8($0 % 2 + 1)) }, hops: 0)
    }
    #expect(order.filter { $0.hasPrefix("[") } == (0..<count).map { "[\($0 % 200)]" })
    try await onLoop {
      let bearer = Bearer(MemoryChannel.pair().0)
      let asking = EventLoop.shared.spawn { _ = try? await bearer.request(.read(1)) }
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      bearer.handle(.received(Self.response))
      for number in 0..<count {
        bearer.handle(.received(Self.value(0, UInt8(number % 2 + 1))))
        #expect(!bearer.order.isFull)
      }
      await asking.value
      bearer.close()
    }
  }
}
