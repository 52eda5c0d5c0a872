package import Bluetooth
package import HCI

/// Why a recording does not go on.
package enum ReplayError: Error, Sendable, Equatable {
  /// - Parameter next: what the host did next in the recording; nil at its end.
  case notRecorded(Asked, next: Asked?)

  /// What a host asks of a device.
  package enum Asked: Sendable, Equatable {
    /// An ATT PDU.
    case attribute([UInt8])
    case connection(PeerAddress)
    /// A command that changes a link.
    case command(CommandPacket)
  }
}
