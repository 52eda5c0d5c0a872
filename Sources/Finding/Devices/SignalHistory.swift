/// How strongly and how often a device is heard. Times are nanoseconds since 1970-01-01T00:00:00Z.
package struct SignalHistory: Sendable, Equatable {
  package enum Trend: Sendable { case rising, falling }

  /// dBm, smoothed over about four reports; nil when no report said how strong it was.
  package private(set) var level: Double?
  package private(set) var firstHeard: Int64?
  package private(set) var lastHeard: Int64?
  /// The same over about thirty reports: what the level is compared with.
  private var background: Double?
  private var lastEvent: Int64?
  /// The last differences between advertising events in microseconds, a ring once it is full.
  private var intervals: [Int32] = []
  private var oldest = 0

  private static let capacity = 15
  /// The PDUs of one advertising event, on three channels, come within this time (Vol 6 Part B §4.4.2.3); the next event at the earliest
  /// after twice that (§4.4.2.2).
  private static let eventLength: Int64 = 10_000_000

  package init() {}

  /// - Parameters:
  ///   - rssi: dBm.
  ///   - isEvent: an advertisement; false for scan responses, which come when they are asked for.
  package mutating func add(_ rssi: Int8?, isEvent: Bool, at time: Int64) {
    if firstHeard == nil { firstHeard = time }
    lastHeard = time
    if let rssi {
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

  /// Seconds from one advertising event to the next: the median, which events that were missed now and then do not change.
  package var interval: Double? { intervals.isEmpty ? nil : Double(intervals.sorted()[intervals.count / 2]) / 1e6 }

  /// The direction of the signal strength; nil while it is about constant.
  package var trend: Trend? {
    guard let level, let background, abs(level - background) >= 3 else { return nil }
    return level > background ? .rising : .falling
  }

  /// Seconds since it was last heard, at `time`.
  package func age(at time: Int64) -> Double? { lastHeard.map { max(0, (Double(time) - Double($0)) / 1e9) } }
}
