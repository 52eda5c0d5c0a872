// SPDX-License-Identifier: Apache-2.0
/// The link parameters that determine the throughput of continuous Write Commands.
package struct LinkCapacity: Sendable, Equatable {
  /// The maximum link-layer payload that the local controller may send, 27…251 bytes. Nil counts as 251.
  package var dataLength: Int?
  /// The PHY on which the local controller sends. Nil counts as 1M.
  package var phy: PHY?
  /// The connection interval. Nil counts as an endless connection event.
  package var interval: Duration?
  /// Whether the Coded PHY uses S=2 coding. False until `learn` measures a rate above the maximum of S=8 coding.
  private var isS2 = false

  package init(dataLength: Int? = nil, phy: PHY? = nil, interval: Duration? = nil) {
    (self.dataLength, self.phy, self.interval) = (dataLength, phy, interval)
  }

  /// Computes the throughput of a segment size in bytes per second. Each segment costs 3 bytes of ATT and 4 of L2CAP, in its own
  /// link-layer PDUs. A connection event holds only whole PDUs (Vol 6 Part B §4.5.6).
  /// - Parameters:
  ///   - segment: 1…512 bytes.
  ///   - guardTime: the unused time at the end of each connection event, in µs.
  package func rate(_ segment: Int, guardTime: Int = 0) -> Double {
    AirTime.throughput(value: segment, linkBytes: linkBytes, coding, interval: event, guardTime: guardTime)
  }

  /// Computes the time that the link needs for one of many consecutive segments. Returns zero if the rate is unknown.
  /// - Parameter segment: 1…512 bytes.
  package func airTime(_ segment: Int) -> Duration {
    let rate = rate(segment)
    return rate > 0 ? .seconds(Double(segment) / rate) : .zero
  }

  private var coding: AirTime.Coding { phy == .coded && isS2 ? .codedS2 : AirTime.Coding(phy ?? .le1M) }

  var linkBytes: Int { min(max(dataLength ?? 251, 27), 251) }

  /// Detects from the rate of a transfer whether the Coded PHY uses S=2 coding instead of S=8.
  /// - Parameter bytes: the number of bytes that the peer acknowledged in `time`. The function ignores numbers below 1000.
  package mutating func learn(bytes: Int, in time: Duration) {
    guard phy == .coded, !isS2, time > .zero, bytes >= 1000 else { return }
    isS2 = Double(bytes) / (time / .seconds(1)) > 1.2 * Double(linkBytes) / Double(AirTime.exchange(bytes: linkBytes, .codedS8)) * 1e6
  }

  /// The length of a connection event in µs. Nil if the interval is unknown or above 200 ms.
  var event: Int? { interval.flatMap { $0 <= .milliseconds(200) ? Int($0 / .microseconds(1)) : nil } }
}
