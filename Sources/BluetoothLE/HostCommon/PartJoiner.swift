// SPDX-License-Identifier: Apache-2.0
/// Joins the parts of advertising data longer than one HCI packet, even if parts of several senders interleave.
/// The joiner limits the size, number and age of incomplete data, because some controllers never send the last part (zephyr #36496).
/// The joiner does not join a part of the next advertising event, and delivers incomplete data as truncated.
package struct PartJoiner<Key: Hashable & Sendable, Part: Sendable>: Sendable {
  /// The data of the parts so far.
  package struct Joined: Sendable {
    package let first: Part
    package fileprivate(set) var last: Part
    package fileprivate(set) var data: [UInt8]
    /// Whether the end of the data is missing.
    package fileprivate(set) var isTruncated = false
    /// The length of the first part, in bytes.
    fileprivate let firstLength: Int
    /// The arrival time of the first part, in nanoseconds of a monotonic clock.
    fileprivate let began: Int64

    fileprivate func isRepeated(by part: [UInt8]) -> Bool {
      let count = min(firstLength, ExtendedReportReassembler.sameBeginning)
      return count > 0 && part.starts(with: data.prefix(count))
    }

    fileprivate var truncated: Self {
      var result = self
      result.isTruncated = true
      return result
    }
  }

  private var pending: [Key: Joined] = [:]

  package init() {}

  /// The number of senders whose data is incomplete.
  package var count: Int { pending.count }

  /// Adds a part and returns the data that is now ready.
  /// - Parameters:
  ///   - key: The sender and its advertising set.
  ///   - now: The time of arrival, in nanoseconds of a monotonic clock.
  /// - Returns: The complete data, and the incomplete data that the joiner gives up, in order of arrival.
  package mutating func add(
    _ part: Part, _ data: [UInt8], _ status: ExtendedAdvertisingReport.DataStatus, of key: Key, at now: Int64
  ) -> [Joined] {
    var done = expire(at: now)
    var joined = Joined(first: part, last: part, data: data, firstLength: data.count, began: now)
    if var earlier = pending.removeValue(forKey: key) {
      if earlier.isRepeated(by: data) {
        done.append(earlier.truncated)
      } else {
        earlier.data += data
        earlier.last = part
        joined = earlier
      }
    }
    if joined.data.count > ExtendedReportReassembler.maximumData {
      joined.data.removeLast(joined.data.count - ExtendedReportReassembler.maximumData)
      return done + [joined.truncated]
    }
    guard status == .more else { return done + [status == .complete ? joined : joined.truncated] }
    if pending.count >= ExtendedReportReassembler.maximumSets,
      let oldest = pending.min(by: { $0.value.began < $1.value.began })?.key, let given = pending.removeValue(forKey: oldest)
    {
      done.append(given.truncated)
    }
    pending[key] = joined
    return done
  }

  /// Removes the data of a sender and returns it as truncated. Nil if the sender has no incomplete data.
  package mutating func giveUp(_ key: Key) -> Joined? { pending.removeValue(forKey: key)?.truncated }

  /// Removes all incomplete data whose keys fit, and returns it as truncated.
  package mutating func giveUp(where fits: (Key) -> Bool) -> [Joined] { pending.keys.filter(fits).compactMap { giveUp($0) } }

  /// Returns the incomplete data that waited longer than `ExtendedReportReassembler.timeout`, as truncated.
  /// - Parameter now: The current time, in nanoseconds of a monotonic clock. Nil returns all incomplete data.
  package mutating func expire(at now: Int64?) -> [Joined] {
    guard !pending.isEmpty else { return [] }
    let limit = ExtendedReportReassembler.timeout.wholeNanoseconds
    let old = pending.filter { joined in now.map { $0 &- joined.value.began > limit } ?? true }.sorted { $0.value.began < $1.value.began }
    for (key, _) in old { pending[key] = nil }
    return old.map(\.value.truncated)
  }
}
