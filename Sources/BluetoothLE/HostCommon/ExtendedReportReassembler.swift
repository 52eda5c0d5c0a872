// SPDX-License-Identifier: Apache-2.0
/// Joins the parts of advertising data longer than one report (Vol 4 Part E §7.7.65.13), within the limits of `PartJoiner`.
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

  private var parts = PartJoiner<Key, ExtendedAdvertisingReport>()

  package init() {}

  /// The number of incomplete advertising sets.
  package var count: Int { parts.count }

  /// Adds a report and returns the reports that are now ready.
  /// - Parameter now: the time of arrival, in nanoseconds of a monotonic clock.
  /// - Returns: the complete reports, and the incomplete reports that the reassembler gives up, in order of arrival.
  package mutating func add(_ report: ExtendedAdvertisingReport, at now: Int64) -> [AdvertisingReport] {
    // The common case: no data is chained.
    if report.dataStatus != .more, parts.count == 0 { return [report.report] }
    // Legacy PDUs are never chained. This PDU belongs to another set of the same device.
    guard !report.isLegacy else { return expire(at: now) + [report.report] }
    let key = Key(addressType: report.addressType, address: report.address, sid: report.sid, isScanResponse: report.isScanResponse)
    return parts.add(report, report.data, report.dataStatus, of: key, at: now).map(Self.report)
  }

  /// Returns the incomplete sets that waited longer than `timeout`, as truncated reports. Call it regularly if no reports arrive.
  /// - Parameter now: the current time, in nanoseconds of a monotonic clock.
  package mutating func expire(at now: Int64) -> [AdvertisingReport] { parts.expire(at: now).map(Self.report) }

  private static func report(_ joined: PartJoiner<Key, ExtendedAdvertisingReport>.Joined) -> AdvertisingReport {
    var result = joined.last.report
    result.data = joined.data
    result.isTruncated = joined.isTruncated
    return result
  }
}
