import TestSupport

@testable import BluetoothLESimulator

/// The link layer agrees with the computed air times for every PHY, data length, segment and interval.
@Suite(.timeLimit(.minutes(15))) struct LinkModelTests {
  private static let intervals: [ConnectionInterval] = [6, 12, 24, 40]

  /// Returns the value bytes per second of a central that keeps eight buffers full, over whole connection events.
  private static func rate(
    _ coding: AirTime.Coding, bytes: Int, value: Int, interval: ConnectionInterval, events: Int64 = 40,
    _ change: (inout LinkLayer) -> Void = { _ in }
  ) -> Double {
    var link = LinkLayer(
      parameters: LinkLayer.Parameters(interval: interval, latency: 0, supervisionTimeout: 3200), firstAnchor: 0,
      random: SeededRandom(seed: 3, stream: UInt64(interval.rawValue)))
    link.central.coding = coding
    link.peripheral.coding = coding
    link.central.maxBytes = bytes
    change(&link)
    let frame = [UInt8](repeating: 0, count: value + 7)
    var offset = 0
    func feed(_ now: Int64) {
      while link[.central].queue.count < 8 {
        link.send(by: .central, Array(frame[offset..<min(frame.count, offset + 251)]), isStart: offset == 0, at: now)
        offset = offset + 251 >= frame.count ? 0 : offset + 251
      }
    }
    let end = events * interval.nanoseconds
    var arrived = 0
    feed(0)
    // Include exchanges that ended before the next event, but not the first of that event.
    while let due = link.due, due < end {
      for action in link.wake(at: due) { if case .received(_, let bytes, _) = action { arrived += bytes.count } }
      feed(due)
    }
    if case .exchanging = link.phase {
      arrived += link.results.reduce(0) { if case .received(_, let bytes, _) = $1 { $0 + bytes.count } else { $0 } }
    }
    return Double(arrived) * Double(value) / Double(frame.count) / (Double(end) / 1e9)
  }

  @Test(arguments: AirTime.Coding.allCases, [27, 251]) func withinAPercent(_ coding: AirTime.Coding, _ bytes: Int) {
    for value in [20, 182, 244, 495, 512] {
      for interval in Self.intervals {
        let expected = AirTime.throughput(value: value, linkBytes: bytes, coding, interval: Int(interval.rawValue) * 1250)
        let rate = Self.rate(coding, bytes: bytes, value: value, interval: interval, events: coding.phy == .coded ? 400 : 40)
        #expect(abs(rate / expected - 1) < 0.01, "\(value) octets at \(interval): \(rate) instead of \(expected)")
      }
    }
  }

  @Test func encryptedPacketsAreLonger() {
    for coding in AirTime.Coding.allCases {
      let expected = AirTime.throughput(value: 182, linkBytes: 27, coding, interval: 30_000, encrypted: true)
      #expect(abs(Self.rate(coding, bytes: 27, value: 182, interval: 24) { $0.hasIntegrityCheck = true } / expected - 1) < 0.01)
      #expect(expected <= AirTime.throughput(value: 182, linkBytes: 27, coding, interval: 30_000))
    }
  }

  /// At 1M, a packet of 251 bytes takes 2088 + 80 µs and two spaces. 30 ms minus the guard time hold N packets.
  @Test(arguments: [(150, 0, 12), (60, 0, 13), (0, 0, 13), (150, 300, 12), (150, 400, 11), (150, 5000, 10)])
  func spacesAndGuardTimes(_ space: Int, _ kept: Int, _ packets: Int) {
    let rate = Self.rate(.le1M, bytes: 251, value: 244, interval: 24) {
      $0.interFrameSpace = space
      $0.guardTime = kept
    }
    #expect((30_000 - kept) / (2088 + 80 + 2 * space) == packets)
    #expect(abs(rate / (Double(packets) * 244 / 0.03) - 1) < 0.01)
  }

  /// An error ends the event: n packets with success probability q each carry q + q² + … + qⁿ.
  /// Segments fill their packets here, so that all are alike.
  @Test(arguments: [0.01, 0.05]) func errors(_ errors: Double) {
    var ratios: [Double] = []
    for (coding, bytes, value) in [
      (AirTime.Coding.le1M, 27, 182), (.le1M, 251, 244), (.le2M, 251, 495), (.le2M, 27, 20), (.codedS2, 27, 236), (.codedS8, 27, 128),
    ] {
      for interval in Self.intervals {
        let exchange = (AirTime.pdu(bytes: bytes, coding) + AirTime.pdu(bytes: 0, coding) + 300)
        let count = Int(interval.rawValue) * 1250 / exchange
        let through = (1...count).reduce((sum: 0.0, power: 1.0)) { state, _ in
          (state.sum + state.power * (1 - errors), state.power * (1 - errors))
        }.sum
        let expected = through * Double(bytes * value) / Double(value + 7) / (Double(interval.nanoseconds) / 1e9)
        let rate = Self.rate(coding, bytes: bytes, value: value, interval: interval, events: 1500) { $0.packetErrorRate = errors }
        ratios.append(rate / expected)
        #expect(abs(rate / expected - 1) < 0.06, "\(coding) \(bytes) \(value) \(interval): \(rate) instead of \(expected)")
      }
    }
    // Random deviations cancel out.
    let mean = ratios.reduce(0, +) / Double(ratios.count)
    #expect(abs(mean - 1) < 0.01, "\(mean)")
  }

  /// Parameter changes and errors during a transfer lose nothing: all data arrive once, complete and in order.
  @Test func changesInMidTransferLoseNothing() {
    var bench = LinkLayerBench(interval: 12)
    bench.link.packetErrorRate = 0.1
    var sent: [[UInt8]] = []
    var received: [[UInt8]] = []
    var completed = 0
    bench.onReceive = { side, bytes, _, _ in
      guard side == .peripheral else { return }
      received.append(bytes)
    }
    bench.onCompleted = { side, count, _, _ in if side == .central { completed += count } }
    let slower = LinkLayer.Parameters(interval: 40, latency: 0, supervisionTimeout: 500)
    let faster = LinkLayer.Parameters(interval: 6, latency: 0, supervisionTimeout: 500)
    let changes: [LinkLayer.Procedure] = [
      .dataLength(central: 251, peripheral: 251), .phy(central: .le2M, peripheral: .le2M), .connectionUpdate(slower),
      .dataLength(central: 27, peripheral: 27), .phy(central: .codedS8, peripheral: .le1M), .connectionUpdate(faster),
      .dataLength(central: 60, peripheral: 251), .phy(central: .le1M, peripheral: .le1M),
    ]
    for round in 0..<400 {
      while bench.link[.central].queue.count < 8 {
        let packet = (0..<(1 + sent.count * 37 % 251)).map { UInt8(truncatingIfNeeded: $0 + sent.count) }
        sent.append(packet)
        bench.link.send(by: .central, packet, isStart: true, at: bench.now)
      }
      if round % 40 == 20 { bench.link.start(changes[round / 40 % changes.count], at: bench.now) }
      bench.run(until: bench.now + 20_000_000)
      bench.now += 20_000_000
    }
    bench.run(until: .max)
    #expect(received.flatMap { $0 } == sent.flatMap { $0 } && completed == sent.count)
    let done = bench.log.count { if case .done = $0.action { true } else { false } }
    #expect(done == 10 && received.map(\.count).max() == 251, "\(done)")
  }
}
