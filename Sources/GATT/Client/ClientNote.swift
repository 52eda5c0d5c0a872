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

/// A database entry that breaks a rule of discovery, and what discovery does with it (Vol 3 Part G §3, Part F §3.4.3 and §3.4.4).
/// One bad entry must not hide the rest, so discovery keeps every usable entry.
package struct IrregularEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case service, include, characteristic
    /// A descriptor or a value.
    case attribute
  }

  package enum Fault: Hashable, Sendable {
    /// The handle is 0x0000, which no attribute has. Discovery drops the entry.
    case noHandle
    /// The entry lies outside of the requested range. Discovery keeps it.
    case outside(HandleRange)
    /// The entry does not follow the previous one in the answer. Discovery keeps it.
    case outOfOrder(after: AttributeHandle)
    /// The entry is a duplicate. Discovery keeps it once.
    case repeated
    /// The answer has no entry at or after the start of the range. The search for entries of this kind ends.
    case notAdvancing(HandleRange)
    /// The value has no valid length of a declaration. Discovery drops the entry.
    case malformed([UInt8])
    /// The UUID has this many bytes, which ATT does not allow. Discovery keeps the entry, and its UUID only if it has 4 or 16 bytes.
    case uuidLength(Int)
    /// The group ends at this handle, before it starts. Discovery ends a service before the next one, and keeps an include.
    case endsBefore(AttributeHandle)
    /// The service starts before this other service ends. Discovery keeps it. Shared handles belong to the service that starts last.
    case overlaps(UUID, HandleRange)
    /// The value is in the wrong place. Discovery keeps the entry, but uses `found`, the handle of an attribute of its type, if any.
    case value(AttributeHandle, ValuePlace, found: AttributeHandle?)
    /// The entry is in no service. Discovery keeps it in the service with this UUID and handle. Nil: discovery drops it.
    case outsideServices(UUID?, AttributeHandle?)
    /// The attribute precedes every characteristic of its service. It is usable by its handle.
    case noCharacteristic
    /// Find Information shows the entry, but the procedure for its type does not. Discovery drops it.
    case unlisted
    /// The peer lists more entries of this kind than there are handles. Discovery drops the entry.
    case tooMany
  }

  /// The place of a value that does not follow its declaration.
  package enum ValuePlace: Hashable, Sendable {
    case atNoHandle, beforeDeclaration, behindNextDeclaration, outsideService
  }

  package var kind: Kind
  package var handle: AttributeHandle
  package var uuid: UUID?
  package var fault: Fault

  package init(_ kind: Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ fault: Fault) {
    self.kind = kind
    self.handle = handle
    self.uuid = uuid
    self.fault = fault
  }
}
