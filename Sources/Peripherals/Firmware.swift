/// How a device's firmware takes what its link layer received: one ATT PDU after the other, each in its time, from as many buffers as it has.
package struct Firmware: Sendable, Equatable {
  /// What becomes of a PDU for which there is no buffer.
  package enum WhenFull: String, Sendable, CaseIterable {
    /// The link layer does not acknowledge it: it is repeated until there is room, and nothing is lost.
    case hold
    /// Write Commands are dropped without a word; requests wait, beyond the buffers.
    case drop
  }

  /// PDUs that wait or are worked on, at least 1.
  package var buffers = 8
  /// Of each PDU, and what chance adds to it at most.
  package var timePerPacket = Duration.zero
  package var jitter = Duration.zero
  /// More for requests.
  package var timePerRequest = Duration.zero
  /// More for every so many-th write.
  package var slowEvery: Int?
  package var slowTime = Duration.zero
  /// More for each octet of a value beyond so many.
  package var shortOctets = 0
  package var timePerLongOctet = Duration.zero
  /// More for what comes in several link-layer packets of which the last one is not full.
  package var unevenTime = Duration.zero
  package var whenFull = WhenFull.hold
  /// What dropping costs, which the work under way is late by.
  package var timePerDrop = Duration.zero
  /// Requests are answered by an ATT layer in front of the buffers: they overtake the commands that wait, and their answers prove nothing about these.
  package var answersAtOnce = false
  /// Write Commands of one connection after which the next ones are dropped: so many of them, or all.
  package var dropsAfter: Int?
  package var drops: Int?

  package init() {}
}
