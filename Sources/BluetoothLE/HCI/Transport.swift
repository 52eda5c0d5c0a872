// SPDX-License-Identifier: Apache-2.0
/// A connection between host and controller that carries whole HCI packets in H4 form, in order (Vol 4 Part A §2).
/// H4 streams, the kernel's user channel and the virtual controller implement it.
@LoopActor
package protocol Transport: AnyObject {
  /// The callback for every packet, and for `.closed` once at the end. The transport keeps packets until its owner sets the callback.
  var handler: (@LoopActor (TransportEvent) -> Void)? { get set }
  /// Queues a packet for sending, and never drops the packet silently. Does nothing after `.closed`.
  func send(_ packet: [UInt8])
  /// The number of the controller's packets that the layers below the transport have lost so far. Nil if unknown.
  var droppedPackets: Int? { get }
  /// Closes the transport and releases its resources. Idempotent.
  func close()
}

extension Transport { package var droppedPackets: Int? { nil } }

/// A transport from a controller to a host. The host may read slowly.
@LoopActor
package protocol HostTransport: Transport {
  /// The number of sent bytes that the host has not read yet.
  var backlog: Int { get }
}

package enum TransportEvent: Sendable {
  case received([UInt8])
  /// The oldest command with this opcode gets no answer, for the reason in the error. Only a transport without a controller reports this.
  case refused(Opcode, any Error)
  /// The link is down, for the reason in the error. Only a transport without a controller reports this.
  case linkEnded(ConnectionHandle, any Error)
  /// The link receives no more packets until the host sends a packet on the link.
  case linkExhausted(ConnectionHandle, any Error)
  /// The transport has closed, for the reason in the error. The module that implements the transport defines the error.
  case closed(any Error)
}

/// A receiver of every packet that crosses a transport, in both directions.
@LoopActor
package protocol Tap: AnyObject {
  /// Records one packet.
  /// - Parameters:
  ///   - packet: The packet in H4 form.
  ///   - isOurs: Whether the packet belongs to this process. False for a packet of another program's link.
  func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool)
}

package enum Direction: Sendable, Equatable {
  case hostToController
  case controllerToHost
}
