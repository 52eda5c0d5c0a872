// SPDX-License-Identifier: Apache-2.0
/// The memory that a device keeps of a bonded central. The owner of the device stores it, and gives it to the next one.
package struct BondedCentral: Sendable, Equatable {
  /// A Client Characteristic Configuration that the central wrote.
  package struct Subscription: Sendable, Equatable {
    /// The handle of the characteristic's value.
    package var handle: AttributeHandle
    /// The UUID of the characteristic. The subscription is void if the handle has another one now.
    package var uuid: UUID
    /// Bit 0 notifications, bit 1 indications.
    package var bits: UInt16

    package init(handle: AttributeHandle, uuid: UUID, bits: UInt16) { (self.handle, self.uuid, self.bits) = (handle, uuid, bits) }
  }

  /// The identity address of the central.
  package let identity: PeerAddress
  /// The keys. Nil if the system has them.
  package var bond: Bond?
  package var subscriptions: [Subscription] = []
  /// The Client Supported Features that the central wrote (Vol 3 Part G §7.2). Nil if it wrote none.
  package var features: [UInt8]?
  /// The Database Hash of the attributes that the central knows, 16 bytes.
  package var databaseHash: [UInt8]

  package init(identity: PeerAddress, bond: Bond?, databaseHash: [UInt8]) {
    (self.identity, self.bond, self.databaseHash) = (identity, bond, databaseHash)
  }

  /// Whether a central with this address on its link can be this one.
  func mayBe(_ peer: PeerAddress) -> Bool {
    if identity == peer { return true }
    guard let irk = bond?.irk, peer.randomKind == .resolvablePrivate else { return false }
    return Bond.resolves(peer.address, irk: irk)
  }

  /// Returns the CCCD bits that are valid for a database, by value handle.
  package func bits(in database: AttributeDatabase) -> [AttributeHandle: UInt16] {
    var bits: [AttributeHandle: UInt16] = [:]
    for item in subscriptions {
      guard let attribute = database[item.handle], attribute.type == item.uuid,
        case .value(_, let configuration?) = attribute.role,
        case .configuration(_, let allowed)? = database[configuration]?.role, item.bits & ~allowed == 0
      else { continue }
      bits[item.handle] = item.bits
    }
    return bits
  }
}
