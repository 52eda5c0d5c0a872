/// Characteristic Properties (Vol 3 Part G §3.3.1.1).
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

  /// The names in JSON, in the order of the bits.
  package var names: [String] { Self.all.filter { contains($0.0) }.map(\.1) }

  /// Finds a property by its name in JSON. Nil for an unknown name.
  package init?(name: String) {
    guard let found = Self.all.first(where: { $0.1 == name }) else { return nil }
    self = found.0
  }
}
