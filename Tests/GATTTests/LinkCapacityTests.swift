import TestSupport

@Suite(.timeLimit(.minutes(15))) struct LinkCapacityTests {
  /// Checks the rate of full connection events in kB/s.
  @Test(
    arguments: [
      (PHY.le1M, 251, 247, 7.5, 97.6), (.le1M, 251, 247, 11.25, 96.0), (.le1M, 27, 23, 15, 29.3), (.le1M, 27, 185, 50, 38.3),
      (.le2M, 251, 247, 15, 173.1), (.le2M, 251, 498, 30, 176.0), (.le2M, 27, 23, 7.5, 40.0),
    ] as [(PHY, Int, Int, Double, Double)])
  func limits(_ phy: PHY, _ dataLength: Int, _ mtu: Int, _ milliseconds: Double, _ limit: Double) throws {
    let link = LinkCapacity(dataLength: dataLength, phy: phy, interval: .microseconds(Int64(milliseconds * 1000)))
    #expect(abs(try #require(link.limit(mtu: mtu)) / 1000 - limit) < 0.06)
  }

  @Test func whatIsNotKnownHasNoLimit() {
    #expect(LinkCapacity(dataLength: 251, phy: .le1M).limit(mtu: 247) == nil)
    #expect(LinkCapacity(dataLength: 251, interval: .milliseconds(15)).limit(mtu: 247) == nil)
    #expect(LinkCapacity(phy: .le1M, interval: .milliseconds(15)).limit(mtu: 247) == nil)
    #expect(LinkCapacity(dataLength: 251, phy: .le1M, interval: .zero).limit(mtu: 247) == nil)
    #expect(LinkCapacity(dataLength: 251, phy: .le1M, interval: .seconds(4)).limit(mtu: 247) ?? 0 > 98_000)
  }

  /// No controller reports S=8 or S=2 for the coded PHY, but the pace reveals it.
  @Test func whatTheCodedPHYSendsWith() {
    var link = LinkCapacity(dataLength: 251, phy: .coded, interval: .microseconds(7500))
    #expect(abs((link.limit(mtu: 247) ?? 0) - 13_333) < 1 && link.fastestSegment(mtu: 247) == 200)
    link.learn(bytes: 13_000, in: .seconds(1))
    #expect(link.fastestSegment(mtu: 247) == 200)
    link.learn(bytes: 26_000, in: .seconds(1))
    #expect(abs((link.limit(mtu: 247) ?? 0) - 40_000) < 1 && link.fastestSegment(mtu: 247) == 150)
    // Once known, the coding stays.
    link.learn(bytes: 100, in: .seconds(1))
    #expect(link.fastestSegment(mtu: 247) == 150)
    var other = LinkCapacity(dataLength: 251, phy: .le1M, interval: .milliseconds(15))
    other.learn(bytes: 1_000_000, in: .seconds(1))
    #expect(other == LinkCapacity(dataLength: 251, phy: .le1M, interval: .milliseconds(15)))
  }

  /// On 96 links, the chosen segment size is at least as fast as every usual size.
  @Test(arguments: [PHY.le1M, .le2M, .coded], [27, 251]) func chosen(_ phy: PHY, _ dataLength: Int) {
    for mtu in [23, 185, 247, 517] {
      for microseconds in [7500, 15_000, 30_000, 50_000] as [Int64] {
        let link = LinkCapacity(dataLength: dataLength, phy: phy, interval: .microseconds(microseconds))
        let largest = WriteProcedure.largestSegment(mtu: mtu)
        let best = link.rate(link.fastestSegment(mtu: mtu))
        for size in [20, 182, 244, 495, 500, 512, largest] where size <= largest {
          #expect(link.rate(size) <= best * 1.000_001, "\(size) on \(phy), \(dataLength), \(mtu), \(microseconds)")
        }
      }
    }
  }
}
