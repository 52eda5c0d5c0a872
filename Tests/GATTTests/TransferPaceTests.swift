import Testing

@testable import GATT

@Suite struct TransferPaceTests {
  /// A device that takes so long for each segment, asked over a link of 2.5 ms a segment and 15 ms an interval.
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
    Self.run(&pace, taking: 1, rounds: 4)
    #expect(pace.stage == .free && pace.found == .zero && pace.burst == nil)
  }

  /// One late answer may be the link's fault.
  @Test func oneLateAnswerIsNone() {
    var pace = TransferPace()
    pace.answered(Self.burst(4, taking: 10, at: .zero))
    #expect(pace.stage == .probing(0, isRepeated: true))
    Self.run(&pace, taking: 1, rounds: 4)
    #expect(pace.stage == .free)
  }

  @Test(arguments: [5.0, 8, 15, 60]) func aSlowDeviceIsPaced(_ time: Double) {
    var pace = TransferPace()
    Self.run(&pace, taking: time, rounds: 100)
    let gap = pace.gap / .milliseconds(1)
    #expect(gap > time * 0.85 && gap < time * 1.15, "\(gap)")
    #expect(pace.found == pace.gap && pace.ahead == 0)
  }

  /// The count that the device tells is behind.
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

  /// Of one that tells of each lot a little late, however slowly it comes, the gap stays short; and one that is behind is not free.
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
    #expect(TransferPace(gap: .zero).stage == .free)
    // It was the link.
    var pace = TransferPace(gap: .milliseconds(6))
    Self.run(&pace, taking: 1, rounds: 100)
    #expect(pace.stage == .free && pace.gap == .zero)
  }

  @Test(arguments: [(Duration?.some(.milliseconds(15)), true), (.some(.milliseconds(20)), false), (nil, false)])
  func whereItIsLookedFor(_ interval: Duration?, _ isSo: Bool) {
    let pace = TransferPace().begin(on: interval)
    #expect((pace.burst != nil) == isSo && pace.found == nil)
    #expect(TransferPace(gap: .milliseconds(6)).begin(on: interval).gap == .milliseconds(6))
  }
}
