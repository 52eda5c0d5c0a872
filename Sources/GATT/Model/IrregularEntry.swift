package import ATT
package import Bluetooth

/// An entry of a peer's database that breaks a rule of discovery, and what was done with it (Vol 3 Part G §3, Part F §3.4.3 and §3.4.4).
/// One bad entry must not hide the rest: whatever can be named is kept.
package struct IrregularEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case service, include, characteristic
    /// A descriptor or a value.
    case attribute
  }

  package enum Fault: Hashable, Sendable {
    /// The handle is 0x0000, which no attribute has. Left out.
    case noHandle
    /// The entry lies outside of the range that was asked for. Kept.
    case outside(HandleRange)
    /// The entry does not follow the one before it in the answer. Kept.
    case outOfOrder(after: AttributeHandle)
    /// The same entry was there before. Kept once.
    case repeated
    /// The answer has no entry at or after the start of the range. The search for entries of this kind ends.
    case notAdvancing(HandleRange)
    /// The value has a length that no declaration has. Left out.
    case malformed([UInt8])
    /// The UUID has this many octets, which ATT does not allow. The entry is kept; its UUID only if it has 4 or 16.
    case uuidLength(Int)
    /// The group ends here, before it begins. A service is taken to end before the next one; an include is kept.
    case endsBefore(AttributeHandle)
    /// The service begins before that one ends. Kept: what lies in both belongs to the one that begins last.
    case overlaps(UUID, HandleRange)
    /// The value stands in the wrong place. Kept; `found`: where an attribute of its type stands instead.
    case value(AttributeHandle, ValuePlace, found: AttributeHandle?)
    /// The entry lies in no service. Kept with the service of this UUID and handle; nil: left out.
    case outsideServices(UUID?, AttributeHandle?)
    /// The attribute lies before every characteristic of its service. It can be used by its handle.
    case noCharacteristic
    /// Find Information shows it, but the procedure for its type does not. Left out.
    case unlisted
    /// There are more entries of this kind than handles. Left out.
    case tooMany
  }

  /// Where a value stands that does not follow its declaration.
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
