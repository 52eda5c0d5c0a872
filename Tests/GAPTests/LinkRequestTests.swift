import TestSupport

/// Checks the rules for link requests without a host.
@Suite(.timeLimit(.minutes(15))) struct LinkRequestTests {
  @Test(arguments: [
    // Interval, units, supervision timeout.
    (Duration.microseconds(7500), 6, 400), (.microseconds(7501), 6, 400), (.milliseconds(8), 6, 400), (.microseconds(8125), 7, 400),
    (.milliseconds(15), 12, 400), (.milliseconds(50), 40, 400), (.milliseconds(667), 534, 400), (.seconds(1), 800, 600),
    (.seconds(4), 3200, 2400),
  ]) func intervals(_ row: (Duration, ConnectionInterval, Centiseconds)) throws {
    let parameters = try ConnectionParameters(interval: row.0)
    #expect(parameters == ConnectionParameters(intervalMin: row.1, intervalMax: row.1, latency: 0, supervisionTimeout: row.2))
    #expect(parameters.isValid)
  }

  @Test(arguments: [.zero, .microseconds(7499), .milliseconds(4001), .seconds(1 << 40), .milliseconds(-10)] as [Duration])
  func intervalsThatAreNone(_ interval: Duration) {
    #expect(throws: GAPError.intervalOutOfRange(interval)) { try ConnectionParameters(interval: interval) }
  }

  @Test func everyIntervalIsValid() throws {
    for units in 6...3200 { #expect(try ConnectionParameters(interval: .microseconds(1250 * units)).isValid) }
  }

  @Test(arguments: [
    (27, PHY?.none, UInt16(328)), (27, .le1M, 328), (27, .le2M, 328), (27, .coded, 2704), (100, .le1M, 912), (251, nil, 2120),
    (251, .le2M, 2120), (251, .coded, 17_040),
  ]) func dataLengths(_ row: (Int, PHY?, UInt16)) throws {
    let length = try DataLength(bytes: row.0, on: row.1)
    #expect(Int(length.txOctets) == row.0)
    #expect(length.txTime == row.2)
  }

  @Test(arguments: [Int.min, -1, 0, 26, 252, 65_536 + 100, .max]) func dataLengthsThatAreNone(_ bytes: Int) {
    for phy in [nil] + PHY.allCases.map(Optional.some) {
      #expect(throws: GAPError.dataLengthOutOfRange(bytes)) { try DataLength(bytes: bytes, on: phy) }
    }
  }

  @Test func aPeerGetsWhatItMayHave() {
    func wanted(_ min: ConnectionInterval, _ max: ConnectionInterval, latency: UInt16 = 0, timeout: Centiseconds = 400)
      -> ConnectionParameters
    {
      ConnectionParameters(intervalMin: min, intervalMax: max, latency: latency, supervisionTimeout: timeout)
    }
    var policy = ParameterRequestPolicy()
    #expect(policy.grant(wanted(24, 40, latency: 4)) == wanted(24, 40, latency: 4))
    #expect(policy.grant(wanted(5, 40)) == nil)
    #expect(policy.grant(wanted(24, 40, timeout: 10)) == nil)
    policy.pinnedInterval = 6
    #expect(policy.grant(wanted(24, 40)) == nil)
    #expect(policy.grant(wanted(6, 24, latency: 4)) == wanted(6, 6, latency: 4))
  }
}
