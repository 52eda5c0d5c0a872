import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct LinkUseTests {
  private static let begin = LoopClock.Instant(nanoseconds: 1_000_000_000)

  private static func link(_ phy: PHY?) -> LinkParameters {
    var link = LinkParameters()
    (link.interval, link.phy, link.maxTxOctets) = (.milliseconds(15), phy, 251)
    return link
  }

  /// The capacity sums what each link could have carried, and no time between two links.
  @Test func capacityCountsTimeOnLinks() throws {
    let begin = Self.begin
    var use = LinkUse()
    use.connect(Self.link(.le1M), mtu: 247, at: 0)
    use.start(at: begin)
    use.account(until: begin.advanced(by: .seconds(2)))
    let two = try #require(use.capacity)
    use.connect(Self.link(.le1M), mtu: 247, at: 1000)
    use.start(at: begin.advanced(by: .seconds(10)))
    use.account(until: begin.advanced(by: .seconds(12)))
    #expect(two > 10_000 && use.capacity == two * 2)
    #expect(use.count == 2 && use.seconds == 12)
  }

  /// An event about the interval alone leaves the PHY, and with it the capacity.
  @Test func changeWithoutPHYKeepsIt() {
    let now = Self.begin
    var use = LinkUse()
    use.connect(Self.link(.le2M), mtu: 247, at: 0)
    use.start(at: now)
    let air = use.airTime(chunk: 100)
    use.change(to: Self.link(nil), at: 500, now)
    #expect(use.parameters.phy == .le2M && use.airTime(chunk: 100) == air)
    use.change(to: Self.link(.coded), at: 500, now)
    #expect(use.parameters.phy == .coded && use.airTime(chunk: 100) > air)
  }
}
