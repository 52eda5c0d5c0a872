package import Bluetooth
import EventLoop

/// The requests that a host may send for a link, by one rule for both hosts. An invalid request is an error.
/// The host adjusts nothing silently.

extension ConnectionParameters {
  /// The valid connection intervals, 7.5 ms to 4 s (Vol 6 Part B §4.5.1).
  package static let intervals: ClosedRange<Duration> = .microseconds(7500) ... .seconds(4)

  /// Creates parameters with one interval, without latency.
  /// - Parameter interval: the interval, rounded to a multiple of 1.25 ms.
  /// - Throws: GAPError.intervalOutOfRange.
  package init(interval: Duration) throws(GAPError) {
    guard Self.intervals.contains(interval) else { throw .intervalOutOfRange(interval) }
    let units = UInt16(clamping: (interval.wholeNanoseconds + 625_000) / 1_250_000)
    // Above 2 · interval (Vol 6 Part B §4.5.2), with room for lost packets. At least 4 s: with the kernel's 420 ms, usable links are lost.
    let timeout = UInt16(min(3200, max(400, Int(units) * 6 / 8)))
    let rounded = ConnectionInterval(rawValue: units)
    self.init(intervalMin: rounded, intervalMax: rounded, latency: 0, supervisionTimeout: Centiseconds(rawValue: timeout))
  }
}

/// A data length (Vol 6 Part B §4.5.10): the largest payload of a data packet, and its maximum time on the air.
package struct DataLength: Sendable, Equatable {
  package static let range: ClosedRange<Int> = 27...251

  package let txOctets: UInt16
  /// The maximum transmission time in µs.
  package let txTime: UInt16

  /// Creates the data length for a largest payload, with the time that the payload takes on the PHY.
  /// - Parameters:
  ///   - octets: the largest payload, 27…251 bytes.
  ///   - phy: the PHY of the transmitter. Nil (unknown) counts as 1M.
  /// - Throws: GAPError.dataLengthOutOfRange.
  package init(octets: Int, on phy: PHY?) throws(GAPError) {
    guard Self.range.contains(octets) else { throw .dataLengthOutOfRange(octets) }
    txOctets = UInt16(clamping: octets)
    txTime =
      switch phy {
      // Preamble 1, access address 4, header 2, MIC 4, CRC 3 bytes, at 1 Mb/s. 2M takes half, but the peer may change to 1M at any time.
      case nil, .le1M, .le2M: (txOctets + 14) * 8
      // S = 8, the slowest coding: 376 µs of preamble, access address, CI and TERM1, 64 µs per byte, 24 µs of TERM2.
      // The time for 251 bytes on 1M is only enough for 18.
      case .coded: 376 + (txOctets + 9) * 64 + 24
      }
  }
}

/// The answer of a central to a peripheral's request for other connection parameters. The request uses L2CAP (Vol 3 Part A §4.20)
/// or the link layer (Vol 6 Part B §5.1.7). The kernel's host answers without blectl.
package struct ParameterRequestPolicy: Sendable, Equatable {
  /// The interval that the user asked for. The peer cannot change it.
  package var pinnedInterval: ConnectionInterval?

  package init() {}

  /// Returns the parameters for the link: the wanted ones, with the pinned interval if their range allows it. Nil refuses the request.
  package func grant(_ wanted: ConnectionParameters) -> ConnectionParameters? {
    guard wanted.isValid else { return nil }
    guard let pinnedInterval else { return wanted }
    guard (wanted.intervalMin...wanted.intervalMax).contains(pinnedInterval) else { return nil }
    var granted = wanted
    (granted.intervalMin, granted.intervalMax) = (pinnedInterval, pinnedInterval)
    return granted
  }
}
