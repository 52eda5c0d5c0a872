package import EventLoop

/// The interface below a host: whole HCI packets in H4 form (packet indicator first, Vol 4 Part A §2), in order.
/// Implemented by H4 streams, the kernel's user channel and the virtual controller.
@LoopActor
package protocol Transport: AnyObject {
  /// The handler of every packet, and of `.closed` once at the end. The transport keeps packets that arrive before the owner sets it.
  var handler: (@LoopActor (TransportEvent) -> Void)? { get set }
  /// Queues one packet. Never drops it silently. Does nothing after `.closed`.
  func send(_ packet: [UInt8])
  /// The number of the controller's packets that the layers below the transport have lost so far. Nil if unknown.
  var droppedPackets: Int? { get }
  /// Closes the transport and releases the descriptor. Idempotent.
  func close()
}

extension Transport {
  package var droppedPackets: Int? { nil }
}

/// A transport on the controller's side. The host at its other end may read slowly.
@LoopActor
package protocol HostTransport: Transport {
  /// The number of sent bytes that the host has not read yet.
  var backlog: Int { get }
}

package enum TransportEvent: Sendable {
  case received([UInt8])
  /// The oldest command with this opcode gets no answer, with the reason. For a transport without a controller.
  case refused(Opcode, any Error)
  /// The link cannot continue and is down, with the reason. For a transport without a controller.
  case linkEnded(ConnectionHandle, any Error)
  /// No more packets arrive on the link until the host sends one on that link.
  case linkExhausted(ConnectionHandle, any Error)
  /// The transport has closed, with the reason, which is an error of the room that implements it.
  case closed(any Error)
}

/// A receiver of every packet that crosses a transport, in both directions.
@LoopActor
package protocol Tap: AnyObject {
  /// Records one packet.
  /// - Parameters:
  ///   - packet: the packet in H4 form.
  ///   - isOurs: false for a packet of another program's link.
  func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool)
}

package enum Direction: Sendable, Equatable {
  case hostToController
  case controllerToHost
}
