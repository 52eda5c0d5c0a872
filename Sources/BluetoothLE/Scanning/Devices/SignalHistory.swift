// SPDX-License-Identifier: Apache-2.0
/// The strength and the frequency of a device's reports. All times are nanoseconds since 1970-01-01T00:00:00Z.
package struct SignalHistory: Sendable, Equatable {
  package enum Trend: Sendable { case rising, falling }

  /// The signal strength in dBm, smoothed over about four reports. Nil if no report had an RSSI.
  package private(set) var level: Double?
  package private(set) var firstHeard: Int64?
  package private(set) var lastHeard: Int64?
  /// The sum of all RSSIs in dBm.
  private var sum = 0
  /// The number of reports with an RSSI.
  private var count = 0
  /// The signal strength in dBm, smoothed over about thirty reports, to compare with `level`. Nil if no report had an RSSI.
  private var background: Double?
  private var lastEvent: Int64?
  /// The last times between advertising events in microseconds, as a ring buffer when full.
  private var intervals: [Int32] = []
  private var oldest = 0

  private static let capacity = 15
  /// The maximum length, in nanoseconds, of one advertising event on three channels (Vol 6 Part B §4.4.2.3). The next event starts at
  /// least twice as late (§4.4.2.2).
  private static let eventLength: Int64 = 10_000_000

  /// Adds a report.
  /// - Parameter rssi: The RSSI in dBm. Nil if unknown.
  /// - Parameter isEvent: Whether the report is an advertisement. False for a scan response, which only answers a request.
  package mutating func add(_ rssi: Int8?, isEvent: Bool, at time: Int64) {
    if firstHeard == nil { firstHeard = time }
    lastHeard = time
    if let rssi {
      sum &+= Int(rssi)
      count &+= 1
      let rssi = Double(rssi)
      level = level.map { $0 + (rssi - $0) / 4 } ?? rssi
      background = background.map { $0 + (rssi - $0) / 30 } ?? rssi
    }
    guard isEvent else { return }
    defer { lastEvent = time }
    guard let lastEvent, case let (difference, overflow) = time.subtractingReportingOverflow(lastEvent), !overflow,
      difference > Self.eventLength, let interval = Int32(exactly: difference / 1000)
    else { return }
    if intervals.count < Self.capacity {
      intervals.append(interval)
    } else {
      intervals[oldest] = interval
      oldest = (oldest + 1) % Self.capacity
    }
  }

  /// The mean of all RSSIs in dBm. Nil if no report had an RSSI.
  package var mean: Double? { count == 0 ? nil : Double(sum) / Double(count) }

  /// The median time between advertising events in seconds. Nil before the second event. Single missed events do not change the median.
  package var interval: Double? { intervals.isEmpty ? nil : Double(intervals.sorted()[intervals.count / 2]) / 1e6 }

  /// The direction of the signal strength. Nil while `level` and `background` differ by less than 3 dB.
  package var trend: Trend? {
    guard let level, let background, abs(level - background) >= 3 else { return nil }
    return level > background ? .rising : .falling
  }

  /// Returns the seconds from the last report to `time`. Returns nil without a report.
  package func age(at time: Int64) -> Double? { lastHeard.map { max(0, (Double(time) - Double($0)) / 1e9) } }
}
