package import ATT
package import Bluetooth

/// A tolerated fault of the peer, or an action on the user's behalf.
package enum ClientNote: Equatable, Sendable {
  /// The peer's Server Rx MTU is below the minimum (23), so ATT_MTU remains `mtu`.
  case mtuBelowLeast(offered: Int, mtu: Int)
  case mtuRefused(ErrorCode, mtu: Int)
  case mtuAnsweredWrongly(Violation, mtu: Int)
  /// The bearer ignored a PDU. `lost` reports `.lost` faults.
  case ignored(BearerState.Fault)
  /// The transport has lost this many PDUs so far.
  case lost(Int)
  /// Discovery has sent this many requests so far.
  case discovering(requests: Int)
  case includeWithoutUUID(AttributeHandle, UUID)
  /// Discovery found something that breaks a rule.
  case irregular(IrregularEntry)
  /// A Multiple Handle Value Notification ended inside its last tuple, which is lost.
  case cutNotification
  /// A notified value exceeded the size limit of an attribute (512 bytes), so the client cut it.
  case longNotification(AttributeHandle, Attribute?)
  /// A read value exceeded the size limit of an attribute (512 bytes), so the client cut it. `type`: nil if discovery found it.
  case longValue(AttributeHandle, Attribute?, type: UUID?)
  /// The characteristic has no Client Characteristic Configuration to write. The client listens for its values anyway.
  case noClientConfiguration(Characteristic)
  /// The only characteristic that sends values, among several that the selector matches.
  case onlySender(Selector, GATTError.Candidate, of: Int)
  /// The attribute that an abbreviated selector matches.
  case abbreviation(Selector, Attribute)
  /// The peer's services have changed in this range. The client will discover it again.
  case servicesChanged(HandleRange)
  /// The peer echoed a part of a long write incorrectly. A reliable write would have stopped.
  case wrongEcho
  /// The last note of its kind. The client does not report later ones.
  indirect case last(ClientNote)
}
