// SPDX-License-Identifier: Apache-2.0
/// The interface below an ATT bearer, which carries whole ATT PDUs in order (L2CAP fixed channel 4, Vol 3 Part A §2.1).
/// Kernel L2CAP sockets, the links of blectl's own host, and in-memory pairs in tests implement the interface.
@LoopActor
package protocol Channel: AnyObject {
  /// The handler of every received PDU, and of `.closed` once. The channel keeps PDUs that arrive before the owner sets the handler.
  var handler: (@LoopActor (ChannelEvent) -> Void)? { get set }
  /// Queues one PDU without blocking. Never drops the PDU, but does nothing after `.closed`.
  func send(_ pdu: [UInt8])
  /// Waits until the channel can accept another PDU without queuing it in this process.
  /// - Parameter deadline: the time at which to stop waiting. Nil means no limit.
  /// - Returns: false if `deadline` passed first, true otherwise.
  /// - Throws: the error that closed the channel, CancellationError.
  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool
  /// Whether `waitUntilWritable` would return immediately.
  var isWritable: Bool { get }
  /// The number of sent PDUs that the peer's link layer has not acknowledged. Nil if the transport does not report acknowledgments.
  var unacknowledged: Int? { get }
  /// The largest PDU that the channel can carry, in bytes, even beyond ATT_MTU.
  var largestPDU: Int { get }
  /// The handler that runs when the peer's link layer may have acknowledged PDUs. Never runs if `unacknowledged` is nil.
  var onAcknowledgement: (@LoopActor () -> Void)? { get set }
  /// Closes only the channel. The link stays up until its owner disconnects it. Idempotent.
  func close()
}

extension Channel {
  package var isWritable: Bool { false }
  package var unacknowledged: Int? { nil }
  package var largestPDU: Int { 0xFFFF }
  package var onAcknowledgement: (@LoopActor () -> Void)? {
    get { nil }
    set {}
  }
}

/// The error of a channel without a device, such as a recording that ended. No device received the PDUs that blectl sent.
package protocol NoDeviceError: Error {}

package enum ChannelEvent: Sendable {
  /// The channel received one PDU, possibly empty or longer than the MTU. The bearer validates the PDU.
  case received([UInt8])
  /// The transport below the channel lost this many received PDUs, because of a full socket buffer.
  case dropped(Int)
  /// The channel, which has no real peer, delivers no more PDUs until the bearer sends a PDU. The error explains why.
  case exhausted(any Error)
  case closed(any Error)
}
