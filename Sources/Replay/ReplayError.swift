package import Bluetooth
package import HCI

/// Why a recording does not go on.
package enum ReplayError: Error, Sendable, Equatable {
  /// - Parameter next: what the host did next in the recording; nil at its end.
  case notRecorded(Asked, next: Asked?)
  /// It was asked then, too, and the recording ends before the answer.
  case cut(Asked)
  /// Nothing more comes on the link until the host asks for something.
  case ended
  /// As well; values follow what the host did next in the recording. - Parameter packet: its number in the file, counted from 1.
  case unasked(Asked, packet: Int)

  /// What a host asks of a device.
  package enum Asked: Sendable, Equatable {
    /// An ATT PDU.
    case attribute([UInt8], Attribute?)
    case connection(PeerAddress)
    case command(CommandPacket)
  }

  /// What the recording says of an attribute.
  package struct Attribute: Sendable, Equatable {
    package var type: UUID
    /// Of a descriptor, the one that it belongs to.
    package var characteristic: UUID?

    package init(type: UUID, characteristic: UUID? = nil) {
      self.type = type
      self.characteristic = characteristic
    }
  }
}
