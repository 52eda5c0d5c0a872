import TestSupport

@testable import BluetoothLESimulator

@Suite(.timeLimit(.minutes(15))) struct AirTests {
  @Test(.onLoop) @LoopActor func anAdvertiserKeepsItsIntervalWithARandomDelay() async throws {
    let (ears, air) = (Ears(), Air())
    let device = TestDevice()
    device.advertising.interval = .milliseconds(250)
    air.add(device)
    air.listen(ears)
    try await EventLoop.shared.sleep(for: .seconds(60))
    air.stopListening(ears)
    let gaps = zip(ears.heard, ears.heard.dropFirst()).map { $1.time - $0.time }
    #expect((230...240).contains(ears.heard.count))
    #expect(gaps.allSatisfy { (250_000_000...260_000_000).contains($0) })
    // The delays spread over the ten milliseconds.
    #expect(Set(gaps.map { ($0 - 250_000_000) / 1_000_000 }).count == 10)
    // ±3 dB around −60, all values.
    #expect(Set(ears.heard.map(\.rssi)) == Set(-63 ... -57))
  }

  @Test(.onLoop) @LoopActor func nothingIsSentWhileNobodyListens() async throws {
    let (ears, air) = (Ears(), Air())
    air.add(TestDevice())
    air.listen(ears)
    try await EventLoop.shared.sleep(for: .seconds(1))
    air.stopListening(ears)
    let count = ears.heard.count
    #expect(count >= 9)
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(ears.heard.count == count)
    // A device that joins during a scan is heard by all listeners too.
    let second = Ears()
    air.listen(ears)
    air.listen(second)
    let late = TestDevice(2)
    air.add(late)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(ears.heard.contains { $0.peer == late.address })
    #expect(second.heard.contains { $0.peer == late.address })
    air.stopListening(ears)
    air.stopListening(second)
  }

  @Test func theSeedDecidesEverything() async throws {
    let logs = try await onLoop { () async throws -> [[Ears.Sound]] in
      var logs: [[Ears.Sound]] = []
      for seed in [7, 7, 8] as [UInt64] {
        let (ears, air) = (Ears(), Air(seed: seed))
        for number in 1...3 as ClosedRange<UInt64> { air.add(TestDevice(number)) }
        ears.start = EventLoop.shared.now.nanoseconds
        air.listen(ears)
        try await EventLoop.shared.sleep(for: .seconds(5))
        air.stopListening(ears)
        logs.append(ears.heard)
      }
      return logs
    }
    #expect(logs[0] == logs[1])
    #expect(logs[0] != logs[2])
    #expect(logs[0].count > 100)
  }

  @Test(.onLoop) @LoopActor func aSilentDeviceIsNotHeard() async throws {
    let (ears, air) = (Ears(), Air())
    let (quiet, loud) = (TestDevice(1), TestDevice(2))
    air.add(quiet)
    air.add(loud)
    air.faults.silent = [quiet.address]
    air.listen(ears)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(Set(ears.heard.map(\.peer)) == [loud.address])
    air.faults.silent = []
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(Set(ears.heard.map(\.peer)) == [quiet.address, loud.address])
    air.stopListening(ears)
  }

  /// An advertiser with a tiny interval cannot occupy the loop.
  @Test(.onLoop) @LoopActor func aSillyIntervalIsLimited() async throws {
    let (ears, air) = (Ears(), Air())
    let device = TestDevice()
    device.advertising.interval = .zero
    air.add(device)
    air.listen(ears)
    try await EventLoop.shared.sleep(for: .seconds(1))
    air.stopListening(ears)
    #expect((30...51).contains(ears.heard.count))
  }
}

@LoopActor
private final class Ears: AirListener {
  struct Sound: Equatable, Sendable {
    let time: Int64
    let peer: PeerAddress
    let rssi: Int8
  }
  var start: Int64 = 0
  private(set) var heard: [Sound] = []

  func hear(_ advertisement: Air.Advertisement) {
    heard.append(Sound(time: EventLoop.shared.now.nanoseconds - start, peer: advertisement.peer, rssi: advertisement.rssi))
  }
}
