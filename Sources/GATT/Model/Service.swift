package import ATT
package import Bluetooth

/// A service and its contents (Vol 3 Part G §3.1).
package struct Service: Hashable, Sendable {
  package var uuid: UUID
  /// The handle of the declaration.
  package var handle: AttributeHandle
  package var endHandle: AttributeHandle
  package var isPrimary: Bool
  package var includes: [Include] = []
  /// The characteristics in ascending order of handles.
  package var characteristics: [Characteristic] = []

  package init(uuid: UUID, handle: AttributeHandle, endHandle: AttributeHandle, isPrimary: Bool) {
    self.uuid = uuid
    self.handle = handle
    self.endHandle = endHandle
    self.isPrimary = isPrimary
  }
}

/// An include declaration (§3.2).
package struct Include: Hashable, Sendable {
  /// The handle of the declaration.
  package var handle: AttributeHandle
  package var startHandle: AttributeHandle
  package var endHandle: AttributeHandle
  /// The UUID. Nil if the declaration has none and the client could not read the included service.
  package var uuid: UUID?

  package init(handle: AttributeHandle, startHandle: AttributeHandle, endHandle: AttributeHandle, uuid: UUID?) {
    self.handle = handle
    self.startHandle = startHandle
    self.endHandle = endHandle
    self.uuid = uuid
  }
}

/// A characteristic (§3.3).
package struct Characteristic: Hashable, Sendable {
  package var uuid: UUID
  /// The handle of the declaration.
  package var handle: AttributeHandle
  package var valueHandle: AttributeHandle
  /// The last handle before the next characteristic or the end of the service.
  package var endHandle: AttributeHandle
  package var properties: Properties
  /// The Characteristic Extended Properties: bit 0 reliable write, bit 1 writable auxiliaries. Nil without this descriptor.
  package var extendedProperties: UInt16?
  package var descriptors: [Descriptor] = []

  package init(uuid: UUID, handle: AttributeHandle, valueHandle: AttributeHandle, endHandle: AttributeHandle, properties: Properties) {
    self.uuid = uuid
    self.handle = handle
    self.valueHandle = valueHandle
    self.endHandle = endHandle
    self.properties = properties
  }

  /// The Client Characteristic Configuration descriptor. The first, if a peer has several.
  package var clientConfiguration: Descriptor? { descriptors.first { $0.uuid == .clientCharacteristicConfiguration } }

  /// Whether the characteristic notifies or indicates.
  package var sendsValues: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
}

/// A characteristic descriptor (§3.3.3).
package struct Descriptor: Hashable, Sendable {
  package var uuid: UUID
  package var handle: AttributeHandle

  package init(uuid: UUID, handle: AttributeHandle) {
    self.uuid = uuid
    self.handle = handle
  }
}

/// Attribute types of GATT itself (§3.4).
extension UUID {
  static let primaryService = UUID(0x2800)
  static let secondaryService = UUID(0x2801)
  static let include = UUID(0x2802)
  static let characteristic = UUID(0x2803)
  static let characteristicExtendedProperties = UUID(0x2900)
  static let clientCharacteristicConfiguration = UUID(0x2902)
  static let serviceChanged = UUID(0x2A05)
  static let databaseHash = UUID(0x2B2A)
}
