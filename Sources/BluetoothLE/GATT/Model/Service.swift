// SPDX-License-Identifier: Apache-2.0
/// A discovered service with its includes and characteristics (Vol 3 Part G §3.1).
package struct Service: Hashable, Sendable {
  package var uuid: UUID
  /// The handle of the service declaration.
  package var handle: AttributeHandle
  package var endHandle: AttributeHandle
  package var isPrimary: Bool
  /// Whether the declaration has the UUID in 16 bytes although a 16-bit form exists. Not all clients take both for equal.
  package var hasLongUUID = false
  package var includes: [Include] = []
  /// The characteristics in ascending order of handles.
  package var characteristics: [Characteristic] = []
}

/// An include declaration, by which one service refers to another (Vol 3 Part G §3.2).
package struct Include: Hashable, Sendable {
  /// The handle of the include declaration.
  package var handle: AttributeHandle
  package var startHandle: AttributeHandle
  package var endHandle: AttributeHandle
  /// The UUID of the included service. Nil if the declaration has none and the client could not read the service declaration.
  package var uuid: UUID?
}

/// A discovered characteristic with its descriptors (Vol 3 Part G §3.3).
package struct Characteristic: Hashable, Sendable {
  package var uuid: UUID
  /// The handle of the characteristic declaration.
  package var handle: AttributeHandle
  package var valueHandle: AttributeHandle
  /// The last handle of the characteristic: the handle before the next characteristic, or the last handle of the service.
  package var endHandle: AttributeHandle
  package var properties: Properties
  /// The Characteristic Extended Properties: bit 0 reliable write, bit 1 writable auxiliaries. Nil unless the client has read them.
  package var extendedProperties: UInt16?
  /// Whether the declaration has the UUID in 16 bytes although a 16-bit form exists.
  package var hasLongUUID = false
  package var descriptors: [Descriptor] = []

  /// The first Client Characteristic Configuration descriptor (CCCD). Nil if the characteristic has none.
  package var clientConfiguration: Descriptor? { descriptors.first { $0.uuid == .clientCharacteristicConfiguration } }

  /// Whether the characteristic has the notify or the indicate property.
  package var sendsValues: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
}

/// A discovered characteristic descriptor (Vol 3 Part G §3.3.3).
package struct Descriptor: Hashable, Sendable {
  package var uuid: UUID
  package var handle: AttributeHandle
}

/// The set of operations that a characteristic allows: the Characteristic Properties (Vol 3 Part G §3.3.1.1).
package struct Properties: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let broadcast = Self(rawValue: 0x01)
  package static let read = Self(rawValue: 0x02)
  package static let writeWithoutResponse = Self(rawValue: 0x04)
  package static let write = Self(rawValue: 0x08)
  package static let notify = Self(rawValue: 0x10)
  package static let indicate = Self(rawValue: 0x20)
  package static let authenticatedSignedWrites = Self(rawValue: 0x40)
  package static let extendedProperties = Self(rawValue: 0x80)

  private static let all: [(Self, String)] = [
    (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write_without_response"), (.write, "write"), (.notify, "notify"),
    (.indicate, "indicate"), (.authenticatedSignedWrites, "authenticated_signed_writes"), (.extendedProperties, "extended_properties"),
  ]

  /// The names of the properties in JSON, from bit 0 to bit 7.
  package var names: [String] { Self.all.filter { contains($0.0) }.map(\.1) }

  /// Creates a property from its name in JSON. Returns nil for an unknown name.
  package init?(name: String) {
    guard let found = Self.all.first(where: { $0.1 == name }) else { return nil }
    self = found.0
  }
}

extension ValueDescription {
  /// Collects the user description and the presentation formats in the descriptors of a characteristic.
  /// - Parameter value: returns a descriptor's value, nil if unknown. An aggregate format may list descriptors of other characteristics.
  package init(of characteristic: Characteristic, _ value: (AttributeHandle) -> [UInt8]?) {
    func values(_ type: UUID) -> [[UInt8]] { characteristic.descriptors.filter { $0.uuid == type }.compactMap { value($0.handle) } }
    self.init()
    userDescription = values(.userDescription).lazy.compactMap { String(validating: DisplayText.withoutTrailingNULs($0), as: UTF8.self) }
      .first { !$0.isEmpty }
    if let aggregate = values(.aggregateFormat).first {
      let handles = PresentationFormat.handles(inAggregate: aggregate)
      formats = handles.compactMap(value).compactMap { PresentationFormat($0) }
      if formats.count != handles.count { formats = [] }
    } else {
      formats = values(.presentationFormat).compactMap { PresentationFormat($0) }
      if formats.count != 1 { formats = [] }
    }
  }
}

extension PresentationFormat {
  /// Returns the handles in a Characteristic Aggregate Format descriptor (Vol 3 Part G §3.3.3.6), in the order of the parts of the value.
  package static func handles(inAggregate value: [UInt8]) -> [AttributeHandle] {
    stride(from: 0, to: value.count - value.count % 2, by: 2).map {
      AttributeHandle(rawValue: UInt16(value[$0]) | UInt16(value[$0 + 1]) << 8)
    }
  }
}

extension UUID {
  /// Whether the UUID is the type of a descriptor that describes a value.
  package var describesValue: Bool { self == .userDescription || self == .presentationFormat || self == .aggregateFormat }
}
