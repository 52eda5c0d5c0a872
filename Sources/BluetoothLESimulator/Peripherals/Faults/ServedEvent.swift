// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// Something that happened to a device: what a central did, or a fault that the device made.
package struct ServedEvent: Sendable {
  package enum Kind: Sendable {
    case connected
    /// The device has sent `value`.
    case read
    /// The central wrote `value`. The device has answered a request.
    case written(ServerSession.WriteKind)
    /// The central wrote a CCCD, or the device restored it: bit 0 notifications, bit 1 indications. `handle` is that of the value.
    case subscribed(UInt16)
    case unsubscribed
    /// The device has sent `value`, cut to ATT_MTU.
    case notified
    case indicated
    /// The central paired. Nil if the system paired, and only the level of the link is known.
    case paired(PairingResult?)
    /// The link ended, for this reason.
    case disconnected(any Error)
    /// The device made a fault: the words of its line without the attribute, such as `error 0x0e`, or why it could not.
    case fault(String)
  }

  package var kind: Kind
  /// The central's address on the link. Nil for an event that concerns no central.
  package var peer: PeerAddress?
  package var handle: AttributeHandle?
  package var uuid: UUID?
  package var value: [UInt8]?

  init(
    _ kind: Kind, _ peer: PeerAddress?, _ handle: AttributeHandle? = nil, _ uuid: UUID? = nil, value: [UInt8]? = nil
  ) {
    (self.kind, self.peer, self.handle, self.uuid, self.value) = (kind, peer, handle, uuid, value)
  }
}

/// The observer of a running device.
@LoopActor
package protocol DeviceObserver: AnyObject {
  func happened(_ event: ServedEvent)
  /// Reports the level of a link after it changed, with the result of a pairing.
  func secured(_ server: Server, _ channel: any DeviceChannel, _ level: SecurityLevel, _ pairing: PairingResult?)
  /// Reports the passkey that the device displays, for the user to enter on the central.
  func displayed(_ passkey: SixDigits)
  /// Reports that the state changed, on which the advertisement may depend.
  func changed()
  /// Reports that the firmware of a device with `update` has started. The attributes may be others, with their initial values.
  func restarted()
}
