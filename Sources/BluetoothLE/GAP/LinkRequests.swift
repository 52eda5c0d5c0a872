// SPDX-License-Identifier: Apache-2.0
// The requests that a host may send for a link. The same rule applies to both hosts: an invalid request is an error.

extension ConnectionParameters {
  /// The valid connection intervals, 7.5 ms to 4 s (Vol 6 Part B §4.5.1).
  package static let intervals: ClosedRange<Duration> = .microseconds(7500) ... .seconds(4)

  /// Creates connection parameters with one interval, latency 0 and a supervision timeout of six intervals, but at least 4 s.
  /// - Parameter interval: the interval, which the initializer rounds to a multiple of 1.25 ms.
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

/// A data length (Vol 6 Part B §4.5.10): the largest payload of a data packet, and the maximum time to transmit the packet.
package struct DataLength: Sendable, Equatable {
  package static let range: ClosedRange<Int> = 27...251

  package let txOctets: UInt16
  /// The maximum transmission time in µs.
  package let txTime: UInt16

  /// Creates the data length for a largest payload, and computes the transmission time of that payload on a PHY.
  /// - Parameters:
  ///   - bytes: the largest payload in bytes, 27…251.
  ///   - phy: the PHY of the transmitter. Nil means unknown and counts as 1M.
  /// - Throws: GAPError.dataLengthOutOfRange.
  package init(bytes: Int, on phy: PHY?) throws(GAPError) {
    guard Self.range.contains(bytes) else { throw .dataLengthOutOfRange(bytes) }
    txOctets = UInt16(clamping: bytes)
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

/// The policy of a central for a peripheral's requests to change connection parameters. The requests use L2CAP (Vol 3 Part A §4.20)
/// or the link layer (Vol 6 Part B §5.1.7). The kernel's host answers them without blectl.
package struct ParameterRequestPolicy: Sendable, Equatable {
  /// The interval that the user requested, which the peer cannot change. Nil allows every valid interval.
  package var pinnedInterval: ConnectionInterval?

  package init() {}

  /// Returns the wanted parameters with the pinned interval, if any. Returns nil for invalid parameters or a range without that interval.
  package func grant(_ wanted: ConnectionParameters) -> ConnectionParameters? {
    guard wanted.isValid else { return nil }
    guard let pinnedInterval else { return wanted }
    guard (wanted.intervalMin...wanted.intervalMax).contains(pinnedInterval) else { return nil }
    var granted = wanted
    (granted.intervalMin, granted.intervalMax) = (pinnedInterval, pinnedInterval)
    return granted
  }
}
