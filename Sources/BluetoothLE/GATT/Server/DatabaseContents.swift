// SPDX-License-Identifier: Apache-2.0
// What a client can learn of a database: its table and its hash.

extension AttributeTable {
  /// Creates the table that a client would discover in a database with all permissions.
  package init(_ database: AttributeDatabase) {
    self.init(services: [])
    for attribute in database.attributes {
      let last = services.count - 1
      switch attribute.role {
      case .service(let end):
        let uuid = UUID(littleEndian: attribute.value) ?? UUID(0)
        services.append(Service(uuid: uuid, handle: attribute.handle, endHandle: end, isPrimary: attribute.type == .primaryService))
      case .value(let properties, _):
        guard last >= 0 else { continue }
        services[last].characteristics.append(
          Characteristic(
            uuid: attribute.type, handle: attribute.handle.previous, valueHandle: attribute.handle, endHandle: attribute.handle,
            properties: properties))
      case .configuration, .plain:
        guard last >= 0, let item = services[last].characteristics.indices.last, !AttributeDatabase.isDeclaration(attribute.type) else {
          continue
        }
        services[last].characteristics[item].descriptors.append(Descriptor(uuid: attribute.type, handle: attribute.handle))
        services[last].characteristics[item].endHandle = attribute.handle
      }
    }
  }
}

extension AttributeDatabase {
  /// The Database Hash (Vol 3 Part G §7.3.1): the AES-CMAC of all declarations and descriptors, as 16 bytes in the order of the PDU.
  package var databaseHash: [UInt8] {
    var message: [UInt8] = []
    for attribute in attributes {
      guard let short = attribute.type.short, (0x2800...0x2803).contains(short) || (0x2900...0x2905).contains(short) else { continue }
      message += [UInt8(truncatingIfNeeded: attribute.handle.rawValue), UInt8(attribute.handle.rawValue >> 8)] + attribute.type.attBytes
      // The values of the other descriptors may change.
      if short <= 0x2900 { message += attribute.value }
    }
    let code = AES128(key: 0).authenticationCode(of: message)
    return (0..<16).map { UInt8(truncatingIfNeeded: code >> (8 * UInt128($0))) }
  }

  /// Writes the hash into the characteristic Database Hash, if the database has one.
  package mutating func updateHash() {
    let hash = databaseHash
    for attribute in attributes where attribute.type == .databaseHash { setValue(hash, of: attribute.handle) }
  }
}
