package import ATT
package import Bluetooth

/// A database entry that breaks a rule of discovery, and how it is handled (Vol 3 Part G §3, Part F §3.4.3 and §3.4.4).
/// One bad entry must not hide the rest: every usable entry is kept.
package struct IrregularEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case service, include, characteristic
    /// A descriptor or a value.
    case attribute
  }

  package enum Fault: Hashable, Sendable {
    /// The handle is 0x0000, which no attribute has. Dropped.
    case noHandle
    /// The entry lies outside of the requested range. Kept.
    case outside(HandleRange)
    /// The entry does not follow the previous one in the answer. Kept.
    case outOfOrder(after: AttributeHandle)
    /// The entry is a duplicate. Kept once.
    case repeated
    /// The answer has no entry at or after the start of the range. The search for entries of this kind ends.
    case notAdvancing(HandleRange)
    /// The value has no valid length of a declaration. Dropped.
    case malformed([UInt8])
    /// The UUID has this many bytes, which ATT does not allow. The entry is kept, its UUID only if it has 4 or 16.
    case uuidLength(Int)
    /// The group ends here, before it starts. A service is assumed to end before the next one. An include is kept.
    case endsBefore(AttributeHandle)
    /// The service starts before that other one ends. Kept: shared handles belong to the service that starts last.
    case overlaps(UUID, HandleRange)
    /// The value is in the wrong place. Kept. `found`: the handle of an attribute of its type, used instead.
    case value(AttributeHandle, ValuePlace, found: AttributeHandle?)
    /// The entry is in no service. Kept in the service with this UUID and handle. Nil: dropped.
    case outsideServices(UUID?, AttributeHandle?)
    /// The attribute precedes every characteristic of its service. It is usable by its handle.
    case noCharacteristic
    /// Find Information shows the entry, but the procedure for its type does not. Dropped.
    case unlisted
    /// There are more entries of this kind than handles. Dropped.
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
