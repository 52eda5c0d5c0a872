package import Bluetooth
import EventLoop

/// What a host may ask of a link, out of what the user asks for: the one rule for both hosts. What the specification forbids is an error;
/// nothing is cut silently.

extension ConnectionParameters {
  /// A connection interval, 7.5 ms to 4 s (Vol 6 Part B §4.5.1).
  package static let intervals: ClosedRange<Duration> = .microseconds(7500) ... .seconds(4)

  /// For one interval, without latency.
  /// - Parameter interval: rounded to the next multiple of 1.25 ms.
  /// - Throws: GAPError.intervalOutOfRange.
  package init(interval: Duration) throws(GAPError) {
    guard Self.intervals.contains(interval) else { throw .intervalOutOfRange(interval) }
    let units = UInt16(clamping: (interval.wholeNanoseconds + 625_000) / 1_250_000)
    // Above 2 · interval (Vol 6 Part B §4.5.2), with room for lost packets; at least 4 s: the kernel's 420 ms lose links that could live.
    let timeout = UInt16(min(3200, max(400, Int(units) * 6 / 8)))
    let rounded = ConnectionInterval(rawValue: units)
    self.init(intervalMin: rounded, intervalMax: rounded, latency: 0, supervisionTimeout: Centiseconds(rawValue: timeout))
  }
}

/// A data length (Vol 6 Part B §4.5.10): the largest payload of a data packet, and the time that it may take on the air.
package struct DataLength: Sendable, Equatable {
  package static let range: ClosedRange<Int> = 27...251

  package let txOctets: UInt16
  /// µs.
  package let txTime: UInt16

  /// - Parameters:
  ///   - octets: 27…251.
  ///   - phy: of the transmitter; nil, not known, counts as 1M.
  /// - Throws: GAPError.dataLengthOutOfRange.
  package init(octets: Int, on phy: PHY?) throws(GAPError) {
    guard Self.range.contains(octets) else { throw .dataLengthOutOfRange(octets) }
    txOctets = UInt16(clamping: octets)
    txTime =
      switch phy {
      // Preamble 1, access address 4, header 2, MIC 4, CRC 3, at 1 Mb/s. 2M takes half of it; the peer may change to 1M at any time.
      case nil, .le1M, .le2M: (txOctets + 14) * 8
      // S = 8, as slow as coded can be: 376 µs of preamble, access address, CI and TERM1, 64 µs an octet, 24 µs of TERM2. The time of 1M
      // would hold 251 octets to 18.
      case .coded: 376 + (txOctets + 9) * 64 + 24
      }
  }
}

/// What a central answers to a peripheral that wants other connection parameters, through L2CAP (Vol 3 Part A §4.20) or the link layer
/// (Vol 6 Part B §5.1.7). The kernel's host answers by itself.
package struct ParameterRequestPolicy: Sendable, Equatable {
  /// The interval that the user asked for. The peer cannot change it.
  package var pinnedInterval: ConnectionInterval?

  package init() {}

  /// - Returns: what of the wanted parameters the link gets: all, with the pinned interval when the range allows that; nil refuses.
  package func grant(_ wanted: ConnectionParameters) -> ConnectionParameters? {
    guard wanted.isValid else { return nil }
    guard let pinnedInterval else { return wanted }
    guard (wanted.intervalMin...wanted.intervalMax).contains(pinnedInterval) else { return nil }
    var granted = wanted
    (granted.intervalMin, granted.intervalMax) = (pinnedInterval, pinnedInterval)
    return granted
  }
}
