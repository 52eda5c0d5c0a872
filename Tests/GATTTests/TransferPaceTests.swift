import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct TransferPaceTests {
  /// Returns a burst to a device with this time per segment, on a link with 2.5 ms per segment and an interval of 15 ms.
  private static func burst(_ segments: Int, taking time: Double, at gap: Duration) -> TransferPace.Burst {
    let sent = Double(segments) * max(2.5, gap / .milliseconds(1))
    let lateness = max(0, Double(segments) * time - sent)
    return TransferPace.Burst(
      segments: segments, time: .milliseconds(sent + lateness + 15), lateness: .milliseconds(lateness), interval: .milliseconds(15),
      roundTrip: .milliseconds(15), airTime: .microseconds(2500))
  }

  private static func run(_ pace: inout TransferPace, taking time: Double, rounds: Int) {
    for _ in 0..<rounds {
      guard let segments = pace.burst else { return }
      pace.answered(burst(segments, taking: time, at: pace.gap))
    }
  }

  @Test func aFastDeviceIsFree() {
    var pace = TransferPace()
    #expect(pace.burst == 4 && pace.ahead == 0 && pace.found == nil)
    Self.run(&pace, taking: 1, rounds: 5)
    #expect(pace.stage == .free && pace.found == .zero && pace.burst == nil)
  }

  /// One late answer may be the link's fault and does not count.
  @Test func oneLateAnswerIsNone() {
    var pace = TransferPace()
    pace.answered(Self.burst(4, taking: 10, at: .zero))
    #expect(pace.stage == .probing(0, isRepeated: true))
    Self.run(&pace, taking: 1, rounds: 5)
    #expect(pace.stage == .free)
  }

  /// Some delays are estimates, which are negative on a fast link. They make no answer late.
  @Test func estimatesBelowZeroMakeNoAnswerLate() {
    var pace = TransferPace()
    for delay in [-70.0, 0.1, -70, 0.1, 0.1] {
      pace.answered(
        TransferPace.Burst(
          segments: pace.burst ?? 0, time: .milliseconds(0.1), lateness: .milliseconds(delay - 7.5), interval: .milliseconds(7.5),
          roundTrip: .milliseconds(7.5), airTime: .milliseconds(6)))
    }
    #expect(pace.stage == .free)
  }

  /// Two late answers may also be the link's fault.
  @Test func twoLateAnswersAreForgotten() {
    var pace = TransferPace()
    for time in [1.0, 10, 10] { pace.answered(Self.burst(pace.burst ?? 0, taking: time, at: .zero)) }
    #expect(pace.gap > .milliseconds(5))
    Self.run(&pace, taking: 1, rounds: 60)
    #expect(pace.stage == .free && pace.found == .zero)
  }

  @Test(arguments: [5.0, 8, 15, 60]) func aSlowDeviceIsPaced(_ time: Double) {
    var pace = TransferPace()
    Self.run(&pace, taking: time, rounds: 100)
    let gap = pace.gap / .milliseconds(1)
    #expect(gap > time * 0.85 && gap < time * 1.15, "\(gap)")
    #expect(pace.found == pace.gap && pace.ahead == 0)
  }

  /// Answers of a slightly slower device arrive in the event, each a little later than the previous one.
  @Test(arguments: [(3.0, 24), (3.5, 16), (4.5, 12)]) func aDeviceThatIsALittleSlower(_ time: Double, _ most: Int) {
    var pace = TransferPace()
    var sent = 0
    while pace.gap == .zero, let segments = pace.burst {
      sent = max(sent, segments + (pace.ahead ?? 0))
      let delay = 5 + Double(segments) * (time - 2.5)
      pace.answered(
        TransferPace.Burst(
          segments: segments, time: .milliseconds(Double(segments) * 2.5 + delay), lateness: .milliseconds(delay - 30),
          interval: .milliseconds(15), roundTrip: .milliseconds(30), airTime: .microseconds(2500)))
    }
    #expect(sent <= most && pace.gap > .zero, "\(sent)")
    // Early answers do not move the pace far from the rate of the device.
    for _ in 0..<50 {
      pace.answered(
        TransferPace.Burst(
          segments: 16, time: pace.gap * 16, lateness: .milliseconds(-10), interval: .milliseconds(15), roundTrip: .milliseconds(30),
          airTime: .microseconds(2500)))
    }
    #expect(pace.gap >= .milliseconds(time * 0.75) && pace.gap < .milliseconds(time * 1.5), "\(pace.gap)")
  }

  /// The count that the device reports lags behind.
  @Test func anApplicationThatIsBehind() {
    var pace = TransferPace()
    for _ in 0..<2 {
      pace.answered(
        TransferPace.Burst(
          segments: 4, time: .milliseconds(80), lateness: nil, interval: .milliseconds(15), roundTrip: .milliseconds(15),
          airTime: .microseconds(2500)))
    }
    #expect(pace.stage == .paced(isSettled: false) && pace.gap > .milliseconds(10))
  }

  /// If a device always reports a little late, the gap stays short. If it lags behind, the pace is limited.
  @Test func anApplicationThatIsAlwaysLate() {
    var pace = TransferPace()
    for _ in 0..<1000 {
      guard let segments = pace.burst else { break }
      let sent = max(.microseconds(2500), pace.gap) * segments
      pace.answered(
        TransferPace.Burst(
          segments: segments, time: sent + .milliseconds(60), lateness: nil, interval: .milliseconds(15), roundTrip: .milliseconds(15),
          airTime: .microseconds(2500)))
      #expect(pace.gap < .milliseconds(30) && pace.stage != .free)
    }
  }

  @Test func whatWasFoundBefore() {
    #expect(TransferPace(gap: .milliseconds(6)).stage == .paced(isSettled: true))
    #expect(TransferPace(gap: .zero).burst == 64 && TransferPace(gap: .zero).ahead == nil)
    // The link was the cause.
    var pace = TransferPace(gap: .milliseconds(6))
    Self.run(&pace, taking: 1, rounds: 100)
    #expect(pace.stage == .free && pace.gap == .zero)
  }

  @Test func whereNothingTellsWhatIsLate() {
    #expect(TransferPace().begin(on: nil).burst == nil && TransferPace().begin(on: nil).found == nil)
    #expect(TransferPace(gap: .milliseconds(6)).begin(on: nil).gap == .milliseconds(6))
    #expect(TransferPace().begin(on: .milliseconds(15)).burst == 4)
  }

  // MARK: Long connection intervals

  /// Plays a burst to a device with this time per segment and an interval of 50 ms. All segments arrive together;
  /// the answer comes at the next event, or in the same one (`quick`).
  private static func answer(_ pace: inout TransferPace, taking time: Double, quick: Bool = false) -> Int? {
    guard let segments = pace.burst else { return nil }
    let gap = max(2.5, pace.gap / .milliseconds(1))
    let perEvent = min(Double(segments), max(1, 50 / gap))
    let backlog = max(0, Double(segments) * (time - gap)) * (pace.gap > .zero ? 1 : 0) + perEvent * time
    let delay = quick ? backlog : max(1, (backlog / 50).rounded(.up)) * 50
    pace.answered(
      TransferPace.Burst(
        segments: segments, time: .milliseconds(Double(segments) * gap + delay), lateness: .milliseconds(delay - 50),
        interval: .milliseconds(50), roundTrip: .milliseconds(50), airTime: .microseconds(2500)))
    return segments
  }

  /// A device that answers in the same event is not kept waiting.
  @Test func aQuickAnswerOnALongInterval() {
    var pace = TransferPace().begin(on: .milliseconds(50))
    #expect(pace.burst == 3 && pace.ahead == 1)
    var sizes: [Int] = []
    while let size = Self.answer(&pace, taking: 0.1, quick: true), sizes.count < 20 { sizes.append(size) }
    #expect(sizes == [3, 8, 16, 32, 64] && pace.found == .zero)
  }

  /// A device that answers at the next event gets more in small steps, until the link is full.
  @Test func aFastDeviceOnALongInterval() {
    var pace = TransferPace().begin(on: .milliseconds(50))
    var sizes: [Int] = []
    while let size = Self.answer(&pace, taking: 0.5), sizes.count < 20 { sizes.append(size) }
    #expect(sizes == [3, 5, 7, 9, 12, 16, 21, 28, 37] && pace.found == .zero)
  }

  /// A slow device gets fewer segments per event than it has accepted at once.
  @Test(arguments: [6.0, 8, 15, 40]) func aSlowDeviceOnALongInterval(_ time: Double) {
    var pace = TransferPace().begin(on: .milliseconds(50))
    var most = 0
    for _ in 0..<200 {
      if pace.gap == .zero { most = max(most, pace.burst ?? .max) }
      _ = Self.answer(&pace, taking: time)
      if pace.gap > .zero { #expect(50 / (pace.gap / .milliseconds(1)) < Double(most)) }
    }
    #expect(pace.gap >= .milliseconds(time * 0.85) && pace.gap <= .milliseconds(time * 3) && most * Int(time) < 150, "\(pace.gap), \(most)")
  }

  /// A pace found on a long interval is the fastest known to be good. The same holds if only the ATT layer is asked.
  @Test(arguments: [(50, true, false), (15, false, false), (15, true, true)]) func notFasterThanFound(
    _ interval: Int, _ isCounted: Bool, _ isFaster: Bool
  ) {
    var pace = TransferPace(gap: .milliseconds(12)).begin(on: .milliseconds(interval), isCounted: isCounted)
    for _ in 0..<100 {
      guard let segments = pace.burst else { break }
      pace.answered(
        TransferPace.Burst(
          segments: segments, time: pace.gap * segments, lateness: .zero, interval: .milliseconds(interval),
          roundTrip: .milliseconds(interval), airTime: .microseconds(2500)))
    }
    #expect((pace.gap < .milliseconds(12)) == isFaster)
  }
}
