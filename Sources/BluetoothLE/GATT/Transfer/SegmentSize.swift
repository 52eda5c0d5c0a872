// SPDX-License-Identifier: Apache-2.0
extension WriteProcedure {
  /// Computes the maximum number of value bytes in one Write Request or Write Command: ATT_MTU − 3, but at most 512.
  package static func largestSegment(mtu: Int) -> Int { max(1, min(mtu - 3, largestValue)) }
}

extension LinkCapacity {
  /// Returns the segment size in bytes with the highest throughput. Its link-layer PDUs are nearly full, and fill a connection event.
  /// On short connection events, the choice changes the throughput by up to 60 %.
  /// - Parameter mtu: the ATT_MTU in effect, 23…517.
  package func fastestSegment(mtu: Int) -> Int {
    let rates = rates(mtu: mtu)
    // Among nearly equal rates, choose the size that loses least if a controller ends its events early. Controllers do not report it.
    // This is one of the longer sizes, so a file needs fewer segments.
    let enough = (rates.map(\.rate).max() ?? 0) * 0.997
    var best = (segment: WriteProcedure.largestSegment(mtu: mtu), early: -1.0, rate: 0.0)
    for (segment, rate) in rates where rate >= enough {
      let early = self.rate(segment, guardTime: Self.guardTime)
      if (early, rate, segment) > (best.early, best.rate, best.segment) { best = (segment, early, rate) }
    }
    return best.segment
  }

  /// Computes the throughput, in bytes per second, of each segment size that may be the fastest. Sizes are in bytes.
  private func rates(mtu: Int) -> [(segment: Int, rate: Double)] {
    let largest = WriteProcedure.largestSegment(mtu: mtu)
    // If whole packets per event do not matter, k · LL − 7 ≤ MTU − 3 is best, or MTU − 3 itself.
    let sizes = event == nil ? Array(stride(from: linkBytes - 7, to: largest, by: linkBytes)) + [largest] : Array(1...largest)
    return sizes.map { ($0, rate($0)) }
  }

  /// The time that a controller may leave unused at the end of each connection event, in µs.
  private static let guardTime = 500

  /// Computes the maximum throughput of this link in bytes per second. Returns nil if a link parameter is unknown.
  /// - Parameter mtu: the ATT_MTU in effect, 23…517.
  package func limit(mtu: Int) -> Double? {
    guard dataLength != nil, phy != nil, interval != nil else { return nil }
    guard let limit = rates(mtu: mtu).map(\.rate).max(), limit > 0 else { return nil }
    return limit
  }
}
