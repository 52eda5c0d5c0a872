import TestSupport

@testable import BluetoothLESimulator

/// Tests the state machine alone, on the test's clock.
@Suite(.timeLimit(.minutes(15))) struct LinkLayerTests {
  @Test func oneCommandTakesOneEvent() {
    var bench = LinkLayerBench(interval: 24)
    bench.link.send(by: .central, [1, 2, 3], isStart: true, at: 0)
    #expect(bench.link.due == 0)
    bench.run(until: .max)
    #expect(
      bench.log == [
        LinkLayerEntry(at: 80 + 24 + 150 + 80 + 150, .received(by: .peripheral, [1, 2, 3], isStart: true)), .completed(484, .central, 1),
      ])
    // An idle link has no timer.
    #expect(bench.link.due == nil)
  }

  @Test func anIdleLinkWaitsForTheNextAnchor() {
    var bench = LinkLayerBench(interval: 24)
    #expect(bench.link.due == nil)
    // The time is hours later, in the middle of an interval.
    let now: Int64 = 30_000_000 * 1_000_000 + 17
    bench.link.send(by: .peripheral, [9], isStart: true, at: now)
    #expect(bench.link.due == now - 17 + 30_000_000)
  }

  /// A round trip takes two intervals: the peripheral answers in the next event, and the next request follows in the one after.
  @Test func aRoundTripTakesTwoIntervals() {
    var bench = LinkLayerBench(interval: 24)
    var requests: [Int64] = []
    bench.onReceive = { side, _, link, now in
      if side == .peripheral {
        requests.append(now)
        link.send(by: .peripheral, [2], isStart: true, at: now)
      } else {
        link.send(by: .central, [1], isStart: true, at: now)
      }
    }
    bench.link.send(by: .central, [1], isStart: true, at: 0)
    bench.run(until: 600_000_000)
    #expect(requests.count == 10)
    #expect(zip(requests, requests.dropFirst()).allSatisfy { $1 - $0 == 60_000_000 })
  }

  /// While more commands follow the request, the event stays open, so the answer arrives in it.
  @Test func theAnswerComesInTheSameEventWhileThatLasts() {
    var bench = LinkLayerBench(interval: 80)
    bench.onReceive = { side, bytes, link, now in
      if side == .peripheral, bytes == [1] { link.send(by: .peripheral, [2], isStart: true, at: now) }
    }
    for byte in [1, 0, 0, 0, 0, 0] as [UInt8] { bench.link.send(by: .central, [byte], isStart: true, at: 0) }
    bench.run(until: .max)
    let answer = bench.log.first { $0.action == .received(by: .central, [2], isStart: true) }
    #expect((answer?.at ?? .max) < 10_000)
  }

  // MARK: Encryption

  private static let request = LinkLayer.EncryptionRequest(key: 5, rand: 1, ediv: 2)

  /// Returns the log of a link whose peripheral answers a request for encryption with this key, or with none.
  private static func encrypt(_ bench: inout LinkLayerBench, key: UInt128?) -> [LinkLayer.Action] {
    bench.log = []
    bench.link.start(.encryptionRequest(request), at: bench.now)
    bench.run(until: .max)
    // Data waits, and so does the next procedure.
    bench.link.send(by: .central, [1], isStart: true, at: bench.now)
    bench.link.start(.versionExchange, at: bench.now)
    bench.run(until: .max)
    bench.link.answer(key, at: bench.now)
    bench.run(until: .max)
    return bench.log.map(\.action)
  }

  @Test func dataWaitsForEncryption() {
    var bench = LinkLayerBench(interval: 24)
    let wanted: [LinkLayer.Action] = [
      .done(.encryptionRequest(Self.request)), .done(.encryptionStart(hasSameKey: true)), .received(by: .peripheral, [1], isStart: true),
      .completed(by: .central, 1), .done(.versionExchange),
    ]
    #expect(Self.encrypt(&bench, key: 5) == wanted)
    #expect(bench.link.isEncrypted)
    // A new key for the encrypted link.
    #expect(Self.encrypt(&bench, key: 5) == wanted)
  }

  @Test func aPeripheralWithoutTheKeyRefuses() {
    var bench = LinkLayerBench(interval: 24)
    #expect(
      Self.encrypt(&bench, key: nil) == [
        .done(.encryptionRequest(Self.request)), .done(.encryptionRefusal), .received(by: .peripheral, [1], isStart: true),
        .completed(by: .central, 1), .done(.versionExchange),
      ])
    #expect(!bench.link.isEncrypted)
    // A link that was encrypted does not go on without encryption.
    _ = Self.encrypt(&bench, key: 5)
    #expect(Self.encrypt(&bench, key: nil).last == .closed(central: .pinOrKeyMissing, peripheral: .pinOrKeyMissing))
  }

  @Test func anotherKeyEndsTheLink() {
    var bench = LinkLayerBench(interval: 24)
    #expect(
      Self.encrypt(&bench, key: 6) == [
        .done(.encryptionRequest(Self.request)), .closed(central: .micFailure, peripheral: .micFailure),
      ])
  }

  @Test func framesAreCutIntoPDUs() {
    var bench = LinkLayerBench(interval: 24)
    bench.link.send(by: .central, Array(0..<60), isStart: true, at: 0)
    bench.link.send(by: .central, Array(60..<70), isStart: false, at: 0)
    bench.run(until: .max)
    let parts = bench.log.compactMap { entry -> ([UInt8], Bool)? in
      if case .received(_, let bytes, let isStart) = entry.action { (bytes, isStart) } else { nil }
    }
    #expect(parts.map(\.0.count) == [27, 27, 6, 10])
    #expect(parts.map(\.1) == [true, false, false, false])
    #expect(parts.flatMap(\.0) == Array(0..<70))
    #expect(bench.log.filter { if case .completed(_, _) = $0.action { true } else { false } }.count > 0)
  }

  /// With eight full buffers, throughput is within 3 % of the table. Values are those of Write Commands.
  @Test(arguments: [AirTime.Coding.le1M, .le2M, .codedS2], [6, 9, 12, 24, 40, 80])
  func throughput(coding: AirTime.Coding, interval: ConnectionInterval) {
    for (bytes, value) in [(27, 20), (27, 182), (251, 20), (251, 244), (251, 495), (251, 512)] {
      for side in [LinkLayer.Side.central, .peripheral] {
        var bench = LinkLayerBench(interval: interval)
        bench.set(bytes: bytes, coding)
        let rate = bench.saturate(from: side, value: value, seconds: 4)
        let expected = AirTime.throughput(value: value, linkBytes: bytes, coding, interval: Int(interval.rawValue) * 1250)
        #expect(abs(rate / expected - 1) < 0.03, "\(coding) \(interval) \(bytes) \(value) \(side): \(rate) instead of \(expected)")
      }
    }
  }

  /// Checks kB/s for values of 244 bytes when a missed PDU ends the event.
  @Test(arguments: [
    (AirTime.Coding.le1M, 0.01, 6, 96.0), (.le1M, 0.01, 24, 91.0), (.le1M, 0.05, 24, 71.0), (.le2M, 0.01, 24, 153.0),
    (.le2M, 0.05, 12, 124.0),
    (.le2M, 0.10, 24, 65.0), (.le2M, 0.05, 80, 45.0),
  ])
  func lossCostsTheRestOfTheEvent(coding: AirTime.Coding, loss: Double, interval: ConnectionInterval, rate: Double) {
    var bench = LinkLayerBench(interval: interval)
    bench.set(bytes: 251, coding)
    bench.link.packetErrorRate = loss
    let measured = bench.saturate(from: .central, value: 244, seconds: 60) / 1000
    #expect(abs(measured / rate - 1) < 0.05, "\(measured) instead of \(rate)")
  }

  @Test func whatIsLostIsRepeatedOnceAndInOrder() {
    var bench = LinkLayerBench(interval: 12)
    bench.link.packetErrorRate = 0.3
    var sent: [[UInt8]] = []
    for number in 0..<200 {
      let packet = [UInt8](repeating: UInt8(number), count: 1 + number % 40)
      sent.append(packet)
      bench.link.send(by: .central, packet, isStart: true, at: 0)
      bench.link.send(by: .peripheral, packet, isStart: true, at: 0)
    }
    bench.run(until: .max)
    for side in [LinkLayer.Side.central, .peripheral] {
      var packets: [[UInt8]] = []
      var completed = 0
      for entry in bench.log {
        switch entry.action {
        case .received(side, let bytes, let isStart): if isStart { packets.append(bytes) } else { packets[packets.count - 1] += bytes }
        case .completed(side, let count): completed += count
        default: break
        }
      }
      #expect(packets == sent)
      #expect(completed == 200)
    }
  }

  @Test func aPeripheralThatTakesFourPDUsPerEvent() {
    var bench = LinkLayerBench(interval: 12)
    bench.set(bytes: 251, .le2M)
    bench.link.packetsPerEvent = 4
    let rate = bench.saturate(from: .central, value: 244, seconds: 2) / 1000
    #expect(abs(rate - 65) < 1)
  }

  @Test func guardTimeTakesRoom() {
    var bench = LinkLayerBench(interval: 6)
    bench.set(bytes: 251, .le1M)
    bench.link.guardTime = 300
    let rate = bench.saturate(from: .central, value: 244, seconds: 2) / 1000
    #expect(abs(rate - 65) < 1)
  }

  /// A PDU without room at the receiver is repeated until there is room, and no data are lost.
  @Test func whatThePeripheralHasNoRoomForIsHeldBack() {
    var bench = LinkLayerBench(interval: 24)
    bench.link.room = 1
    for byte in 1...3 as ClosedRange<UInt8> {
      bench.link.send(by: .central, [UInt8](repeating: byte, count: 27), isStart: true, at: 0)
      bench.link.send(by: .central, [byte], isStart: false, at: 0)
    }
    bench.run(until: 100_000_000)
    // The continuation belongs to the accepted start.
    func received() -> [[UInt8]] {
      bench.log.compactMap { if case .received(.peripheral, let bytes, _) = $0.action { bytes } else { nil } }
    }
    #expect(received() == [[UInt8](repeating: 1, count: 27), [1]] && bench.link[.central].queue.count == 4)
    // The peripheral can still send.
    bench.link.send(by: .peripheral, [9], isStart: true, at: 100_000_000)
    bench.run(until: 9_000_000_000)
    #expect(bench.log.contains { $0.action == .received(by: .central, [9], isStart: true) } && !bench.link.isClosed)
    bench.link.room = 2
    bench.run(until: 9_100_000_000)
    #expect(received().map(\.count) == [27, 1, 27, 1, 27, 1] && bench.link.room == 0)
  }

  /// With an open event, the answer and the next request share it: a round trip takes one interval.
  @Test func anEventThatStaysOpenIsUsed() {
    var bench = LinkLayerBench(interval: 24)
    bench.link.pollingTime = 1000
    var requests: [Int64] = []
    bench.onReceive = { side, _, link, now in
      if side == .peripheral { requests.append(now) } else { link.send(by: .central, [1], isStart: true, at: now) }
    }
    bench.link.send(by: .central, [1], isStart: true, at: 0)
    for round in 1...10 as ClosedRange<Int64> {
      bench.run(until: round * 30_000_000 - 5_000_000)
      bench.link.send(by: .peripheral, [2], isStart: true, at: round * 30_000_000 - 5_000_000)
    }
    bench.run(until: 310_000_000)
    #expect(requests.count == 11 && zip(requests.dropFirst(), requests.dropFirst(2)).allSatisfy { $1 - $0 == 30_000_000 })
    // Data queued 300 µs after the last packet go out after the first empty packet. Later the event is over.
    bench = LinkLayerBench(interval: 24)
    bench.link.pollingTime = 1000
    bench.link.send(by: .central, [1, 2, 3], isStart: true, at: 0)
    bench.run(until: 484_000)
    #expect(bench.link.due == 1_484_000)
    bench.link.send(by: .central, [3], isStart: true, at: 784_000)
    #expect(bench.link.due == 944_000)
    bench.run(until: .max)
    #expect(bench.log.last == .completed(944 + 468, .central, 1) && bench.now == 2_412_000 && bench.link.due == nil)
  }

  @Test func aPeripheralWithLatencyIsReachedLateButSpeaksAtOnce() {
    var bench = LinkLayerBench(interval: 8, latency: 9)
    bench.link.send(by: .central, [0], isStart: true, at: 0)
    bench.run(until: 50_000_000)
    // Event 0 was used, or the grid starts at −1. After the last event, every tenth is used.
    let last = bench.log.last?.at ?? 0
    bench.link.send(by: .central, [1], isStart: true, at: 51_000_000)
    let due = bench.link.due ?? 0
    #expect(due > 51_000_000 + 10_000_000)
    #expect(due - last * 1000 <= 100_000_000)
    bench.link.send(by: .peripheral, [2], isStart: true, at: 52_000_000)
    #expect(bench.link.due == 60_000_000)
  }

  @Test func anEventLongerThanItsIntervalStillHappens() {
    var bench = LinkLayerBench(interval: 6)
    bench.set(bytes: 251, .codedS8)
    let rate = bench.saturate(from: .central, value: 244, seconds: 4)
    // A packet takes 17.8 ms: one in three intervals.
    #expect(abs(rate / (244 / 0.0225) - 1) < 0.03)
  }

  @Test func proceduresTakeTheirEventsOneAfterTheOther() {
    var bench = LinkLayerBench(interval: 8)
    bench.link.start(.featureExchange, at: 0)
    bench.link.start(.dataLength(central: 251, peripheral: 100), at: 0)
    bench.link.start(.phy(central: .le2M, peripheral: .le1M), at: 0)
    let faster = LinkLayer.Parameters(interval: 6, latency: 0, supervisionTimeout: 100)
    bench.link.start(.connectionUpdate(faster), at: 0)
    bench.run(until: .max)
    #expect(
      bench.log == [
        LinkLayerEntry(at: 10_000, .done(.featureExchange)), LinkLayerEntry(at: 20_000, .done(.dataLength(central: 251, peripheral: 100))),
        LinkLayerEntry(at: 100_000, .done(.phy(central: .le2M, peripheral: .le1M))),
        LinkLayerEntry(at: 160_000, .done(.connectionUpdate(faster))),
      ])
    #expect(bench.link[.central].maxBytes == 251)
    #expect(bench.link[.peripheral].maxBytes == 100)
    #expect(bench.link[.central].coding == .le2M)
    #expect(bench.link[.peripheral].coding == .le1M)
    // The new interval counts from the instant.
    bench.link.send(by: .central, [1], isStart: true, at: 161_000_000)
    #expect(bench.link.due == 167_500_000)
  }

  @Test func dataFlowsWhileAProcedureIsUnderWay() {
    var bench = LinkLayerBench(interval: 6)
    bench.set(bytes: 251, .le1M)
    let before = bench.saturate(from: .central, value: 244, seconds: 1)
    bench.link.start(.phy(central: .le2M, peripheral: .le2M), at: bench.now)
    let after = bench.saturate(from: .central, value: 244, seconds: 2)
    #expect(bench.log.contains { $0.action == .done(.phy(central: .le2M, peripheral: .le2M)) })
    #expect(after > before * 1.5)
  }

  @Test func bothSidesLearnWhyTheLinkEnds() {
    var bench = LinkLayerBench(interval: 8)
    bench.link.terminate(by: .central, reason: .remoteUserTerminated, at: 1)
    bench.link.send(by: .central, [1], isStart: true, at: 1)
    bench.run(until: .max)
    #expect(bench.log == [LinkLayerEntry(at: 10_000, .closed(central: .terminatedByLocalHost, peripheral: .remoteUserTerminated))])

    bench = LinkLayerBench(interval: 8)
    bench.link.terminate(by: .peripheral, reason: .remotePowerOff, at: 1)
    bench.run(until: .max)
    #expect(bench.log == [LinkLayerEntry(at: 10_000, .closed(central: .remotePowerOff, peripheral: .terminatedByLocalHost))])
    #expect(bench.link.isClosed)
    bench.link.send(by: .central, [1], isStart: true, at: 20_000_000)
    #expect(bench.link.due == nil)
  }

  @Test func outOfRangeIsNoticedAfterTheSupervisionTimeout() {
    var bench = LinkLayerBench(interval: 8, timeout: 42)
    bench.link.send(by: .central, [1], isStart: true, at: 0)
    bench.run(until: 5_000_000)
    bench.log = []
    bench.link.cut(at: 1_003_000_000)
    bench.link.send(by: .central, [2], isStart: true, at: 1_004_000_000)
    bench.run(until: .max)
    #expect(bench.log == [LinkLayerEntry(at: 1_420_000, .closed(central: .connectionTimeout, peripheral: .connectionTimeout))])
  }

  @Test func totalLossIsNoticedToo() {
    var bench = LinkLayerBench(interval: 8, timeout: 42)
    bench.link.packetErrorRate = 1
    bench.link.send(by: .central, [1], isStart: true, at: 0)
    bench.run(until: .max)
    #expect(bench.log.map(\.action) == [.closed(central: .connectionTimeout, peripheral: .connectionTimeout)])
    #expect((420_000...440_000).contains(bench.log.first?.at ?? 0))
  }

  @Test func aMissAfterALongSilenceIsNotTheEnd() {
    var bench = LinkLayerBench(interval: 8, timeout: 42)
    bench.link.packetErrorRate = 1
    bench.link.send(by: .central, [1], isStart: true, at: 10_000_000_000)
    bench.run(until: 10_100_000_000)
    bench.link.packetErrorRate = 0
    bench.run(until: .max)
    #expect(bench.log.map(\.action) == [.received(by: .peripheral, [1], isStart: true), .completed(by: .central, 1)])
  }

  @Test func theLinkIsCutAfterSoManyBytes() {
    var bench = LinkLayerBench(interval: 8)
    bench.link.cutAfterBytes = 1000
    for _ in 0..<100 { bench.link.send(by: .central, [UInt8](repeating: 0, count: 27), isStart: true, at: 0) }
    bench.run(until: .max)
    let carried = bench.log.reduce(0) { if case .received(_, let bytes, _) = $1.action { $0 + bytes.count } else { $0 } }
    #expect(carried == 1026 - 1026 % 27 && carried >= 1000 && carried < 1027)
    #expect(bench.log.last?.action == .closed(central: .connectionTimeout, peripheral: .connectionTimeout))
  }

  @Test func aConnectionThatFailsToBeEstablished() {
    var bench = LinkLayerBench(interval: 8)
    bench.link.failEstablishment()
    bench.link.send(by: .central, [1], isStart: true, at: 0)
    bench.run(until: .max)
    let reason = ControllerErrorCode.connectionFailedToBeEstablished
    #expect(bench.log == [LinkLayerEntry(at: 60_000, .closed(central: reason, peripheral: reason))])
  }

  @Test func aStoppedProcessDoesNotMakeUpForLostEvents() {
    var bench = LinkLayerBench(interval: 8)
    for _ in 0..<3 { bench.link.send(by: .central, [UInt8](repeating: 0, count: 200), isStart: true, at: 0) }
    _ = bench.link.wake(at: 0)
    // The timer of the first exchange fires ten seconds late. The open event continues, and the next one is not long past.
    var dues: [Int64] = []
    while let due = bench.link.due {
      dues.append(due)
      _ = bench.link.wake(at: max(due, 10_000_000_000))
    }
    #expect(dues.allSatisfy { $0 < 10_000_000 || $0 >= 9_800_000_000 })
    #expect(dues.contains { $0 >= 9_800_000_000 })
  }
}
