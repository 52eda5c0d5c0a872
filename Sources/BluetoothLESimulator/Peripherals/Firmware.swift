// SPDX-License-Identifier: Apache-2.0
/// A model of the speed at which a device's firmware processes received ATT PDUs, and of the PDUs that it drops.
package struct Firmware: Sendable, Equatable {
  /// The reaction to a PDU that arrives while all buffers are full.
  package enum WhenFull: String, Sendable, CaseIterable {
    /// The link layer does not acknowledge the PDU, so the central repeats it until a buffer is free.
    case hold
    /// The firmware drops Write Commands silently. Requests wait in additional buffers.
    case drop
  }

  /// The maximum number of PDUs that wait or are in progress, at least 1.
  package var buffers = 8
  /// The processing time of each PDU. The firmware adds a random time of up to `jitter`.
  package var timePerPacket = Duration.zero
  package var jitter = Duration.zero
  /// The additional processing time of each ATT request.
  package var timePerRequest = Duration.zero
  /// The number of writes from one slow write to the next. A slow write takes `slowTime` longer. Nil means that no write is slow.
  package var slowEvery: Int?
  package var slowTime = Duration.zero
  /// The number of bytes of a value that take no extra time. Each further byte takes `timePerLongByte`.
  package var shortBytes = 0
  package var timePerLongByte = Duration.zero
  /// The additional time for a write in several link layer packets if the last packet is shorter than the first.
  package var unevenTime = Duration.zero
  package var whenFull = WhenFull.hold
  /// The time that the firmware needs to drop a PDU. The PDU in progress takes longer by this time.
  package var timePerDrop = Duration.zero
  /// Whether requests bypass the buffers and overtake waiting commands. The answer to a request then does not confirm earlier commands.
  package var answersAtOnce = false
  /// The number of Write Commands after which a connection loses the next `drops`, or all if `drops` is nil. Nil means no losses.
  package var dropsAfter: Int?
  package var drops: Int?

  package init() {}
}
