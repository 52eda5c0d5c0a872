import ATT
package import Bluetooth
package import HCI

/// The reason why a replay cannot continue.
package enum ReplayError: NoDeviceError, Sendable, Equatable {
  /// - Parameter next: what the host did next in the recording; nil at its end.
  case notRecorded(Asked, next: Asked?)
  /// The request is recorded, but the recording ends before the answer.
  case cut(Asked)
  /// The connection has no more values until the host sends a request.
  case ended
  /// The connection has no more values until the host repeats its next action in the recording. - Parameter packet: its number in the file, from 1.
  case unasked(Asked, packet: Int)

  /// A request of the host.
  package enum Asked: Sendable, Equatable {
    /// An ATT PDU.
    case attribute([UInt8], Attribute?)
    case connection(PeerAddress)
    case command(CommandPacket)
  }

  /// An attribute in the recording.
  package struct Attribute: Sendable, Equatable {
    package var type: UUID
    /// The characteristic of a descriptor.
    package var characteristic: UUID?

    package init(type: UUID, characteristic: UUID? = nil) {
      self.type = type
      self.characteristic = characteristic
    }
  }
}
