package import ATT
package import Bluetooth

/// What a peer does wrong without ending anything, and what was done on the user's behalf.
package enum ClientNote: Equatable, Sendable {
  /// The peer's Server Rx MTU is below the least, 23: ATT_MTU stays `mtu`.
  case mtuBelowLeast(offered: Int, mtu: Int)
  case mtuRefused(ErrorCode, mtu: Int)
  case mtuAnsweredWrongly(Violation, mtu: Int)
  /// A PDU was ignored; `.lost` is told as `lost`.
  case ignored(BearerState.Fault)
  /// This many PDUs were lost by the transport so far.
  case lost(Int)
  /// Discovery took this many requests so far.
  case discovering(requests: Int)
  case includeWithoutUUID(AttributeHandle, UUID)
  /// Discovery found something that breaks a rule.
  case irregular(IrregularEntry)
  /// A Multiple Handle Value Notification ended inside its last tuple, which is lost.
  case cutNotification
  /// A notified value was longer than an attribute can hold, and was cut.
  case longNotification(AttributeHandle, Attribute?)
  /// A value that was read was longer than an attribute can hold, and was cut. `type`: where discovery has not seen it.
  case longValue(AttributeHandle, Attribute?, type: UUID?)
  /// There is no Client Characteristic Configuration to write: the values are listened for all the same.
  case noClientConfiguration(Characteristic)
  /// Of several characteristics that a selector may mean, only this one sends values.
  case onlySender(Selector, GATTError.Candidate, of: Int)
  /// The attribute that an abbreviated selector means.
  case abbreviation(Selector, Attribute)
  /// The peer's services have changed in this range, which will be discovered anew.
  case servicesChanged(HandleRange)
  /// A part of a long write was echoed wrongly; a reliable write would have stopped.
  case wrongEcho
  /// As the note in it; more of its kind are not told.
  indirect case last(ClientNote)
}
