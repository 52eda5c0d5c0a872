import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct SignalHistoryTests {
  private let millisecond: Int64 = 1_000_000

  /// Missed events, a second channel and scan responses do not change the interval.
  @Test func theIntervalIsTheMedian() {
    var history = SignalHistory()
    #expect(history.interval == nil)
    for event in 0..<40 where event % 5 != 0 {
      let time = Int64(event) * 152 * millisecond
      history.add(-60, isEvent: true, at: time)
      history.add(-60, isEvent: true, at: time + 3 * millisecond)
      history.add(-60, isEvent: false, at: time + 60 * millisecond)
    }
    #expect(history.interval.map { abs($0 - 0.152) < 0.004 } == true, "\(String(describing: history.interval))")
    for event in 0..<20 { history.add(-60, isEvent: true, at: (10_000 + Int64(event) * 1000) * millisecond) }
    #expect(history.interval == 1, "what was long ago is forgotten")
  }

  @Test func theLevelIsSmoothedAndHasATrend() {
    var history = SignalHistory()
    history.add(nil, isEvent: true, at: 0)
    #expect(history.level == nil && history.trend == nil)
    history.add(-60, isEvent: true, at: 1)
    history.add(-68, isEvent: true, at: 2)
    #expect(history.level == -62 && history.trend == nil)
    for time: Int64 in 3..<9 { history.add(-80, isEvent: true, at: time) }
    #expect(history.trend == .falling)
    for time: Int64 in 9..<300 { history.add(-80, isEvent: true, at: time) }
    #expect(history.trend == nil)
    for time: Int64 in 300..<306 { history.add(-50, isEvent: true, at: time) }
    #expect(history.trend == .rising)
  }

  @Test func agesAndClocksThatJump() {
    var history = SignalHistory()
    #expect(history.age(at: 5) == nil)
    history.add(-60, isEvent: true, at: 1000 * millisecond)
    #expect(history.age(at: 2500 * millisecond) == 1.5)
    #expect(history.age(at: 0) == 0)
    history.add(-60, isEvent: true, at: .min)
    history.add(-60, isEvent: true, at: .max)
    #expect(history.interval == nil && history.firstHeard == 1000 * millisecond && history.lastHeard == .max)
    #expect(history.age(at: .min) == 0)
  }
}
