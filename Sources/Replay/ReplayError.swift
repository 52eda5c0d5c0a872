import ATT
package import Bluetooth
package import HCI

/// The reason why a replay cannot continue.
package enum ReplayError: NoDeviceError, Sendable, Equatable {
  /// The recording lacks this request.
  /// - Parameter next: The host's next action in the recording. Nil at the end of the recording.
  case notRecorded(Asked, next: Asked?)
  /// The recording has the request, but ends before the answer.
  case cut(Asked)
  /// The connection has no more values until the host sends a request.
  case ended
  /// The connection has no more values until the host repeats its next recorded action.
  /// - Parameter packet: The number of that action's packet in the file, from 1.
  case unasked(Asked, packet: Int)

  /// A request of the host.
  package enum Asked: Sendable, Equatable {
    /// An ATT PDU with the attribute that it names, if known.
    case attribute([UInt8], Attribute?)
    case connection(PeerAddress)
    case command(CommandPacket)
  }

  /// An attribute in the recording.
  package struct Attribute: Sendable, Equatable {
    package var type: UUID
    /// The characteristic that a descriptor belongs to.
    package var characteristic: UUID?

    package init(type: UUID, characteristic: UUID? = nil) {
      self.type = type
      self.characteristic = characteristic
    }
  }
}
