package import EventLoop

/// The seam below an ATT bearer: whole ATT PDUs, in order (L2CAP fixed channel 4, Vol 3 Part A §2.1).
/// Implemented by kernel L2CAP sockets, our own host's links, and in-memory pairs in tests.
@LoopActor
package protocol Channel: AnyObject {
  /// Called for every PDU, and once with `.closed` when no more can come. PDUs that arrive before it is set are kept.
  var handler: (@LoopActor (ChannelEvent) -> Void)? { get set }
  /// Queues one PDU. Never blocks, never drops; after `.closed` it does nothing.
  func send(_ pdu: [UInt8])
  /// Returns when another PDU would not have to wait in this process: the back-pressure for commands.
  /// - Parameter deadline: nil is no limit.
  /// - Returns: false when that was not before `deadline`.
  /// - Throws: what the channel ended with, CancellationError.
  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool
  /// False when `waitUntilWritable` might have to wait.
  var isWritable: Bool { get }
  /// PDUs given to `send` that the peer's link layer has not acknowledged yet; nil when the transport cannot know.
  var unacknowledged: Int? { get }
  /// Called when some of them may have been acknowledged; never where that is not known.
  var onAcknowledgement: (@LoopActor () -> Void)? { get set }
  /// Idempotent. Closes the bearer only; the link's owner decides about the link.
  func close()
}

extension Channel {
  package var isWritable: Bool { false }
  package var unacknowledged: Int? { nil }
  package var onAcknowledgement: (@LoopActor () -> Void)? {
    get { nil }
    set {}
  }

  package func waitUntilWritable() async throws { _ = try await waitUntilWritable(until: nil) }
}

/// The error of a channel without a device, such as a recording that ended: nothing that was sent arrived anywhere.
package protocol NoDeviceError: Error {}

package enum ChannelEvent: Sendable {
  /// One PDU; possibly empty, possibly longer than the MTU: the bearer judges it.
  case received([UInt8])
  /// The transport below lost this many received PDUs (a full socket buffer).
  case dropped(Int)
  /// No PDU comes until one is sent, and why: of a channel that has no peer behind it.
  case exhausted(any Error)
  case closed(any Error)
}
