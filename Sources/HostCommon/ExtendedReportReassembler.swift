import Bluetooth
import EventLoop
package import GAP
package import HCI

/// Joins the parts of advertising data longer than one report (Vol 4 Part E §7.7.65.13), even if parts of several advertisers interleave.
/// The reassembler limits the size, number and age of incomplete data, because some controllers never send the last part (zephyr #36496).
/// The reassembler does not join a part of the next advertising event, and delivers incomplete data as truncated.
package struct ExtendedReportReassembler: Sendable {
  /// The maximum length of advertising data in bytes (Vol 6 Part B §2.3.4.9).
  package static let maximumData = 1650
  /// The maximum number of incomplete advertising sets. A further set replaces the oldest.
  package static let maximumSets = 64
  /// The longest time from the first part to the last. 1650 bytes in seven PDUs take 121 ms at the slowest coding, LE Coded with S=8.
  /// An additional 129 ms allow for gaps between the PDUs and for a slow serial line.
  package static let timeout: Duration = .milliseconds(250)
  /// The number of bytes, from the start of the first part, whose repetition shows a new advertising event. Events of one device
  /// usually start with the same flags, name and identifiers, and differ in later values.
  static let sameBeginning = 16

  private struct Key: Hashable {
    var addressType: UInt8
    var address: Address
    var sid: UInt8
    var isScanResponse: Bool
  }

  private struct Pending {
    /// The report with the data of all parts so far.
    var report: ExtendedAdvertisingReport
    /// The length of the first part, in bytes.
    let first: Int
    /// The arrival time of the first part, in nanoseconds of a monotonic clock.
    let began: Int64

    func isRepeated(by part: ExtendedAdvertisingReport) -> Bool {
      let count = min(first, ExtendedReportReassembler.sameBeginning)
      return count > 0 && part.data.starts(with: report.data.prefix(count))
    }
  }

  private var pending: [Key: Pending] = [:]

  package init() {}

  /// The number of incomplete advertising sets.
  package var count: Int { pending.count }

  /// Adds a report and returns the reports that are now ready.
  /// - Parameter now: the time of arrival, in nanoseconds of a monotonic clock.
  /// - Returns: the complete reports, and the incomplete reports that the reassembler gives up, in order of arrival.
  package mutating func add(_ report: ExtendedAdvertisingReport, at now: Int64) -> [AdvertisingReport] {
    // The common case: no data is chained.
    if report.dataStatus != .more, pending.isEmpty { return [report.report] }
    var done = expire(at: now)
    let key = Key(addressType: report.addressType, address: report.address, sid: report.sid, isScanResponse: report.isScanResponse)
    // Legacy PDUs are never chained. This PDU belongs to another set of the same device.
    guard !report.isLegacy else { return done + [report.report] }
    var joined = report
    var (first, began) = (report.data.count, now)
    if let earlier = pending.removeValue(forKey: key) {
      if earlier.isRepeated(by: report) {
        done.append(Self.truncated(earlier.report))
      } else {
        joined.data = earlier.report.data + report.data
        (first, began) = (earlier.first, earlier.began)
      }
    }
    if joined.data.count > Self.maximumData {
      joined.data.removeLast(joined.data.count - Self.maximumData)
      return done + [Self.truncated(joined)]
    }
    guard report.dataStatus == .more else { return done + [joined.report] }
    if pending.count >= Self.maximumSets, let oldest = pending.min(by: { $0.value.began < $1.value.began })?.key,
      let given = pending.removeValue(forKey: oldest)
    {
      done.append(Self.truncated(given.report))
    }
    pending[key] = Pending(report: joined, first: first, began: began)
    return done
  }

  /// Returns the incomplete sets that waited longer than `timeout`, as truncated reports. Call it regularly if no reports arrive.
  /// - Parameter now: the current time, in nanoseconds of a monotonic clock.
  package mutating func expire(at now: Int64) -> [AdvertisingReport] {
    guard !pending.isEmpty else { return [] }
    let old = pending.filter { now &- $0.value.began > Self.timeout.wholeNanoseconds }.sorted { $0.value.began < $1.value.began }
    for (key, _) in old { pending[key] = nil }
    return old.map { Self.truncated($0.value.report) }
  }

  private static func truncated(_ report: ExtendedAdvertisingReport) -> AdvertisingReport {
    var result = report.report
    result.isTruncated = true
    return result
  }
}
