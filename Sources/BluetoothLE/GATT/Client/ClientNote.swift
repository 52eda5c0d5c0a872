// SPDX-License-Identifier: Apache-2.0
/// A note for the user about a tolerated fault of the peer, or about an action that the client took automatically.
package enum ClientNote: Equatable, Sendable {
  /// The peer's Server Rx MTU is below the minimum (23), so ATT_MTU remains `mtu`.
  case mtuBelowLeast(offered: Int, mtu: Int)
  case mtuRefused(ErrorCode, mtu: Int)
  case mtuAnsweredWrongly(Violation, mtu: Int)
  /// The bearer ignored a faulty PDU. The case `lost` reports lost PDUs instead.
  case ignored(BearerState.Fault)
  /// The transport has lost this many PDUs so far.
  case lost(Int)
  /// Discovery has sent this many requests so far.
  case discovering(requests: Int)
  case includeWithoutUUID(AttributeHandle, UUID)
  /// Discovery found an entry that breaks a rule of the specification.
  case irregular(IrregularEntry)
  /// A Multiple Handle Value Notification ended inside its last tuple, so the client discarded the tuple.
  case cutNotification
  /// A notified value exceeded the size limit of an attribute (512 bytes), so the client cut it.
  case longNotification(AttributeHandle, Attribute?)
  /// A read value exceeded the attribute size limit (512 bytes), so the client cut it. `type` is nil if discovery found the attribute.
  case longValue(AttributeHandle, Attribute?, type: UUID?)
  /// The characteristic has no Client Characteristic Configuration to write. The client listens for its values anyway.
  case noClientConfiguration(Characteristic)
  /// The peer refused to notify, with this error code, and accepted to indicate.
  case indicationsInstead(Characteristic, ErrorCode)
  /// The candidate is the only characteristic that notifies or indicates, among `of` characteristics that the selector matches.
  case onlySender(Selector, GATTError.Candidate, of: Int)
  /// The attribute that an abbreviated selector matches.
  case abbreviation(Selector, Attribute)
  /// The peer's services have changed in this handle range, which the client will discover again.
  case servicesChanged(HandleRange)
  /// The peer probably reported a change of its services, so that this handle may now be another attribute.
  case movedHandle(AttributeHandle)
  /// The peer echoed a part of a long write incorrectly. The client continued the write.
  case wrongEcho
  /// The last note of its kind, because the client sends only a limited number of notes of each kind.
  indirect case last(ClientNote)
}

/// A discovered entry that breaks a rule of the specification (Vol 3 Part G §3, Part F §3.4.3 and §3.4.4).
/// Discovery keeps every usable entry.
package struct IrregularEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case service, include, characteristic
    /// A descriptor, or a characteristic value.
    case attribute
  }

  package enum Fault: Hashable, Sendable {
    /// The handle is 0x0000, which no attribute has. Discovery drops the entry.
    case noHandle
    /// The entry lies outside of the requested range. Discovery keeps it.
    case outside(HandleRange)
    /// The entry's handle is not above the handle of the previous entry in the response. Discovery keeps the entry.
    case outOfOrder(after: AttributeHandle)
    /// The peer listed the same entry twice. Discovery keeps the entry once.
    case repeated
    /// All entries of the answer precede the requested range. Discovery stops its search for entries of this kind.
    case notAdvancing(HandleRange)
    /// The value of the entry has an invalid length. Discovery ignores the value, and drops the entry if it is a declaration.
    case malformed([UInt8])
    /// The UUID has this many bytes, which ATT does not allow. Discovery keeps the entry, but the UUID only if it has 4 or 16 bytes.
    case uuidLength(Int)
    /// The service or include ends at this handle, before its start. Discovery extends a service to the next service, and keeps an include.
    case endsBefore(AttributeHandle)
    /// The service starts before the service with this UUID and range ends. Shared handles belong to the service that starts last.
    case overlaps(UUID, HandleRange)
    /// The characteristic value has this handle, in the wrong place. Discovery uses the value handle `found` instead, unless it is nil.
    case value(AttributeHandle, ValuePlace, found: AttributeHandle?)
    /// The entry is outside of all services. Discovery assigns it to the service with this UUID and handle, or drops it if both are nil.
    case outsideServices(UUID?, AttributeHandle?)
    /// The descriptor precedes every characteristic of its service. Users can access the attribute only by its handle.
    case noCharacteristic
    /// Find Information shows the declaration, but Read By Type or Read By Group Type does not. Discovery drops the entry.
    case unlisted
    /// The peer lists more entries of this kind than handles exist (65,535). Discovery drops the entry.
    case tooMany
  }

  /// The place of a characteristic value that does not follow its declaration.
  package enum ValuePlace: Hashable, Sendable {
    case atNoHandle, beforeDeclaration, behindNextDeclaration, outsideService
  }

  package var kind: Kind
  package var handle: AttributeHandle
  package var uuid: UUID?
  package var fault: Fault

  package init(_ kind: Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ fault: Fault) {
    (self.kind, self.handle, self.uuid, self.fault) = (kind, handle, uuid, fault)
  }
}
