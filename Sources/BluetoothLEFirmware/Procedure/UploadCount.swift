// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The bytes that an upload sends, and its time. An upload that continues on another link does not count the pause.
package struct UploadCount: Hashable, Sendable {
  package private(set) var bytes = 0
  /// The time from the beginning of the upload on each link to its last bytes there.
  package private(set) var time = Duration.zero
  /// The offset after the last byte sent on the link. Nil before the device has told where the upload continues.
  private var sent: Int?
  private var last: LoopClock.Instant?

  package init() {}

  /// Begins on a link.
  @LoopActor package mutating func begin() { (sent, last) = (nil, EventLoop.shared.now) }

  /// Counts the bytes up to an offset.
  /// - Returns: Whether it is the first offset on the link.
  @discardableResult @LoopActor
  package mutating func add(upTo offset: Int) -> Bool {
    defer { sent = offset }
    guard let sent, let begin = last else { return true }
    if offset > sent {
      let now = EventLoop.shared.now
      (bytes, time, last) = (bytes + offset - sent, time + begin.duration(to: now), now)
    }
    return false
  }
}
