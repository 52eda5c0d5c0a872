package import Bluetooth

/// What a link carries with Write Commands back to back, as far as it is known, and the segments that fill it best.
package struct LinkCapacity: Sendable, Equatable {
  /// LL payload octets that we may send, 27…251; nil counts as 251.
  package var dataLength: Int?
  /// Nil counts as 1M: the others order segments alike.
  package var phy: PHY?
  /// Connection interval; nil counts as an event without end.
  package var interval: Duration?

  package init(dataLength: Int? = nil, phy: PHY? = nil, interval: Duration? = nil) {
    self.dataLength = dataLength
    self.phy = phy
    self.interval = interval
  }

  /// Octets per second of segments of this size: each costs 3 octets of ATT and 4 of L2CAP, in link-layer PDUs of its own, whole ones in each
  /// connection event (Vol 6 Part B §4.5.6). - Parameter segment: 1…512 octets.
  package func rate(_ segment: Int) -> Double {
    // In longer events the last packet hardly counts, and there is much to count.
    let whole = interval.flatMap { $0 <= .milliseconds(200) ? Int($0 / .microseconds(1)) : nil }
    return AirTime.throughput(
      value: segment, linkOctets: min(max(dataLength ?? 251, 27), 251), AirTime.Coding(phy ?? .le1M), interval: whole)
  }

  /// The size that brings the most octets through the air per second. A segment whose last link-layer PDU is nearly empty is slower than a
  /// smaller one that fills it: worth 8–26 % on common links.
  /// - Parameter mtu: ATT_MTU in effect, 23…517.
  package func fastestSegment(mtu: Int) -> Int {
    let largest = WritePlan.largestSegment(mtu: mtu)
    let payload = min(max(dataLength ?? 251, 27), 251)
    // k · LL − 7 ≤ MTU − 3, and MTU − 3 itself. One that fills a connection event to the microsecond would be faster still on some links, and
    // slower on every controller that ends its events a little earlier: how much, none of them tells.
    let candidates = Array(stride(from: payload - 7, through: largest, by: payload)) + [largest]
    var best = (segment: largest, rate: 0.0)
    for segment in candidates {
      let rate = rate(segment)
      if rate > best.rate || rate == best.rate && segment > best.segment { best = (segment, rate) }
    }
    return best.segment
  }

  /// The most that this link carries, in octets per second; nil where not all of it is known.
  /// - Parameter mtu: as above.
  package func limit(mtu: Int) -> Double? {
    guard dataLength != nil, phy != nil, interval != nil else { return nil }
    let limit = rate(fastestSegment(mtu: mtu))
    return limit > 0 ? limit : nil
  }
}
