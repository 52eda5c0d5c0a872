import TestSupport

@Suite(.timeLimit(.minutes(15))) struct LostValuesTests {
  /// There are few notes, and the last one gives the total.
  @Test func everyLossIsToldOf() async throws {
    let notes = try await onLoop {
      let (near, far) = MemoryChannel.pair()
      let client = Client(near)
      var notes: [ClientNote] = []
      client.onNote = { notes.append($0) }
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      for _ in 0..<1000 { far.drop(1) }
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      client.close()
      return notes
    }
    #expect(notes.count > 1 && notes.count <= 12)
    #expect(notes.last == .lost(1000), "\(notes)")
  }
}
