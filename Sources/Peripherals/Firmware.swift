/// The speed at which a device's firmware processes received ATT PDUs, one after the other, from its buffers.
package struct Firmware: Sendable, Equatable {
  /// The handling of a PDU that finds no free buffer.
  package enum WhenFull: String, Sendable, CaseIterable {
    /// The link layer does not acknowledge the PDU, so the central repeats it. Nothing is lost.
    case hold
    /// The firmware drops Write Commands silently. Requests wait in additional buffers.
    case drop
  }

  /// The number of PDUs that wait or are in progress, at least 1.
  package var buffers = 8
  /// The time for each PDU. A random time up to `jitter` is added.
  package var timePerPacket = Duration.zero
  package var jitter = Duration.zero
  /// The additional time for requests.
  package var timePerRequest = Duration.zero
  /// Every `slowEvery`-th write takes `slowTime` longer.
  package var slowEvery: Int?
  package var slowTime = Duration.zero
  /// Each byte of a value after the first `shortOctets` takes `timePerLongOctet` longer.
  package var shortOctets = 0
  package var timePerLongOctet = Duration.zero
  /// The additional time for a PDU in several link layer packets if the last one is not full.
  package var unevenTime = Duration.zero
  package var whenFull = WhenFull.hold
  /// The time for dropping a PDU, which delays the work in progress.
  package var timePerDrop = Duration.zero
  /// Whether an ATT layer before the buffers answers requests. Requests then overtake waiting commands, so their answers prove nothing.
  package var answersAtOnce = false
  /// After `dropsAfter` Write Commands of a connection, the firmware drops the next `drops`, or all if nil.
  package var dropsAfter: Int?
  package var drops: Int?

  package init() {}
}
