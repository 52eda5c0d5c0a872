/// The speed at which a device's firmware processes received ATT PDUs, one after the other, from its buffers.
package struct Firmware: Sendable, Equatable {
  /// The handling of a PDU that finds no free buffer.
  package enum WhenFull: String, Sendable, CaseIterable {
    /// The link layer does not acknowledge the PDU, so the central repeats it. Nothing is lost.
    case hold
    /// The firmware drops Write Commands silently. Requests wait in additional buffers.
    case drop
  }

  /// The maximum number of PDUs that wait or are in progress, at least 1.
  package var buffers = 8
  /// The time for each PDU, without an additional random time up to `jitter`.
  package var timePerPacket = Duration.zero
  package var jitter = Duration.zero
  /// The additional time for each request.
  package var timePerRequest = Duration.zero
  /// The number of writes from one slow write to the next. Each slow write takes `slowTime` longer.
  package var slowEvery: Int?
  package var slowTime = Duration.zero
  /// The number of bytes of a value that take no extra time. Each further byte takes `timePerLongOctet`.
  package var shortOctets = 0
  package var timePerLongOctet = Duration.zero
  /// The additional time for a PDU in several link layer packets if the last one is not full.
  package var unevenTime = Duration.zero
  package var whenFull = WhenFull.hold
  /// The time for dropping a PDU, which delays the work in progress.
  package var timePerDrop = Duration.zero
  /// Whether an ATT layer before the buffers answers requests. Requests then overtake waiting commands, so their answers prove nothing.
  package var answersAtOnce = false
  /// The number of Write Commands of a connection after which the firmware drops the next `drops`, or all if that is nil.
  package var dropsAfter: Int?
  package var drops: Int?

  package init() {}
}
