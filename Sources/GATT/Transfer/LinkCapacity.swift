package import Bluetooth

/// What a link carries with Write Commands back to back, as far as it is known, and the segments that fill it best.
package struct LinkCapacity: Sendable, Equatable {
  /// LL payload octets that we may send, 27…251; nil counts as 251.
  package var dataLength: Int?
  /// Nil counts as 1M: the others order segments alike.
  package var phy: PHY?
  /// Connection interval; nil counts as an event without end.
  package var interval: Duration?
  /// What the coded PHY sends with, which no controller tells its host: S=8 unless `learn` finds that it is more.
  private var isS2 = false

  package init(dataLength: Int? = nil, phy: PHY? = nil, interval: Duration? = nil) {
    self.dataLength = dataLength
    self.phy = phy
    self.interval = interval
  }

  /// Octets per second of segments of this size: each costs 3 octets of ATT and 4 of L2CAP, in link-layer PDUs of its own, whole ones in each
  /// connection event (Vol 6 Part B §4.5.6). - Parameter segment: 1…512 octets.
  package func rate(_ segment: Int) -> Double { rate(segment, guardTime: 0) }

  /// What the link needs for one segment back to back with others, 0 where nothing can be told. - Parameter segment: as above.
  package func airTime(_ segment: Int) -> Duration {
    let rate = rate(segment)
    return rate > 0 ? .seconds(Double(segment) / rate) : .zero
  }

  private func rate(_ segment: Int, guardTime: Int) -> Double {
    AirTime.throughput(value: segment, linkOctets: linkOctets, coding, interval: event, guardTime: guardTime)
  }

  private var coding: AirTime.Coding { phy == .coded && isS2 ? .codedS2 : AirTime.Coding(phy ?? .le1M) }

  private var linkOctets: Int { min(max(dataLength ?? 251, 27), 251) }

  /// What a transfer shows by its pace: on the coded PHY, whether that is more than S=8 can carry.
  /// - Parameter octets: acknowledged by the peer in this time; nothing is learnt from a few, whose time is not known well enough.
  package mutating func learn(octets: Int, in time: Duration) {
    guard phy == .coded, !isS2, time > .zero, octets >= 1000 else { return }
    isS2 = Double(octets) / (time / .seconds(1)) > 1.2 * Double(linkOctets) / Double(AirTime.exchange(octets: linkOctets, .codedS8)) * 1e6
  }

  /// µs; nil for events so long that their last packet hardly counts.
  private var event: Int? { interval.flatMap { $0 <= .milliseconds(200) ? Int($0 / .microseconds(1)) : nil } }

  /// The size that brings the most octets through the air per second: its last link-layer PDU is not nearly empty, and its PDUs fill a connection event.
  /// Both are worth up to 60 % where events are short.
  /// - Parameter mtu: ATT_MTU in effect, 23…517.
  package func fastestSegment(mtu: Int) -> Int {
    let rates = rates(mtu: mtu)
    // Among those that are nearly the fastest the one that loses least where a controller ends its events a little earlier: how much, none of them
    // tells. It is one of the longer ones, of which a file needs fewer.
    let enough = (rates.map(\.rate).max() ?? 0) * 0.997
    var best = (segment: WritePlan.largestSegment(mtu: mtu), early: -1.0, rate: 0.0)
    for (segment, rate) in rates where rate >= enough {
      let early = self.rate(segment, guardTime: Self.guardTime)
      if (early, rate, segment) > (best.early, best.rate, best.segment) { best = (segment, early, rate) }
    }
    return best.segment
  }

  /// Of each size that may be the fastest.
  private func rates(mtu: Int) -> [(segment: Int, rate: Double)] {
    let largest = WritePlan.largestSegment(mtu: mtu)
    // Without whole packets per event to look at, k · LL − 7 ≤ MTU − 3 is best, or MTU − 3 itself.
    let sizes = event == nil ? Array(stride(from: linkOctets - 7, to: largest, by: linkOctets)) + [largest] : Array(1...largest)
    return sizes.map { ($0, rate($0)) }
  }

  /// µs.
  private static let guardTime = 500

  /// The most that this link carries, in octets per second; nil where not all of it is known.
  /// - Parameter mtu: as above.
  package func limit(mtu: Int) -> Double? {
    guard dataLength != nil, phy != nil, interval != nil else { return nil }
    guard let limit = rates(mtu: mtu).map(\.rate).max(), limit > 0 else { return nil }
    return limit
  }
}
