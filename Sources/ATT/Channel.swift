package import EventLoop

/// The interface below an ATT bearer: whole ATT PDUs, in order (L2CAP fixed channel 4, Vol 3 Part A §2.1).
/// Implemented by kernel L2CAP sockets, our own host's links, and in-memory pairs in tests.
@LoopActor
package protocol Channel: AnyObject {
  /// The handler of every PDU, and of `.closed` once at the end. The channel keeps PDUs that arrive before the owner sets it.
  var handler: (@LoopActor (ChannelEvent) -> Void)? { get set }
  /// Queues one PDU. Never blocks or drops it. Does nothing after `.closed`.
  func send(_ pdu: [UInt8])
  /// Waits until another PDU would not have to wait in this process, which gives commands back-pressure.
  /// - Parameter deadline: nil means no limit.
  /// - Returns: false if `deadline` passed first.
  /// - Throws: the error that closed the channel, CancellationError.
  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool
  /// Whether `waitUntilWritable` would return at once.
  var isWritable: Bool { get }
  /// The number of sent PDUs that the peer's link layer has not acknowledged. Nil if the transport cannot know.
  var unacknowledged: Int? { get }
  /// The handler that runs when the peer may have acknowledged PDUs. Never runs if the transport cannot know.
  var onAcknowledgement: (@LoopActor () -> Void)? { get set }
  /// Closes the bearer only. The owner of the link decides about the link. Idempotent.
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

/// The error of a channel without a device, such as a recording that ended. No device received what this side sent.
package protocol NoDeviceError: Error {}

package enum ChannelEvent: Sendable {
  /// One PDU, possibly empty or longer than the MTU, which the bearer validates.
  case received([UInt8])
  /// The transport below lost this many received PDUs (a full socket buffer).
  case dropped(Int)
  /// No PDU arrives until this side sends one, with the reason. For a channel without a peer.
  case exhausted(any Error)
  case closed(any Error)
}
