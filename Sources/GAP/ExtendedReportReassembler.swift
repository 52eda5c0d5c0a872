import Bluetooth
package import HCI

/// Joins the parts of advertising data longer than one report (Vol 4 Part E §7.7.65.13). Parts of several advertisers come interleaved,
/// and some controllers never send the last part: what is waited for is bounded in size, number and time, and what could not be completed is
/// delivered as truncated, not lost.
package struct ExtendedReportReassembler: Sendable {
  /// Vol 6 Part B §2.3.4.9.
  package static let maximumData = 1650
  /// Sets in the air at the same time; more push out the oldest.
  package static let maximumSets = 64
  /// From one part to the next.
  package static let timeout: Duration = .seconds(1)

  private struct Key: Hashable {
    var addressType: UInt8
    var address: Address
    var sid: UInt8
    var isScanResponse: Bool
  }

  private struct Pending {
    var report: ExtendedAdvertisingReport
    var seen: Int64
  }

  private var pending: [Key: Pending] = [:]

  package init() {}

  /// Sets that wait for more.
  package var count: Int { pending.count }

  /// - Parameter now: nanoseconds of a monotonic clock.
  /// - Returns: what became complete, or was given up, in the order of arrival.
  package mutating func add(_ report: ExtendedAdvertisingReport, at now: Int64) -> [AdvertisingReport] {
    // The common case: nothing is chained anywhere.
    if report.dataStatus != .more, pending.isEmpty { return [report.report] }
    var done = expire(at: now)
    let key = Key(
      addressType: report.addressType, address: report.address, sid: report.sid, isScanResponse: report.isScanResponse)
    // Legacy PDUs are never chained: one in between belongs to another set of the same device.
    guard !report.isLegacy else { return done + [report.report] }
    var joined = report
    if let earlier = pending.removeValue(forKey: key) { joined.data = earlier.report.data + report.data }
    if joined.data.count > Self.maximumData {
      joined.data.removeLast(joined.data.count - Self.maximumData)
      return done + [Self.truncated(joined)]
    }
    guard report.dataStatus == .more else { return done + [joined.report] }
    if pending.count >= Self.maximumSets, let oldest = pending.min(by: { $0.value.seen < $1.value.seen })?.key,
      let given = pending.removeValue(forKey: oldest)
    {
      done.append(Self.truncated(given.report))
    }
    pending[key] = Pending(report: joined, seen: now)
    return done
  }

  /// Gives up what has waited too long. Call from time to time when no reports come.
  package mutating func expire(at now: Int64) -> [AdvertisingReport] {
    guard !pending.isEmpty else { return [] }
    let limit = Int64(Self.timeout.components.seconds) * 1_000_000_000
    let old = pending.filter { now &- $0.value.seen > limit }.sorted { $0.value.seen < $1.value.seen }
    for (key, _) in old { pending[key] = nil }
    return old.map { Self.truncated($0.value.report) }
  }

  private static func truncated(_ report: ExtendedAdvertisingReport) -> AdvertisingReport {
    var result = report.report
    result.isTruncated = true
    return result
  }
}
