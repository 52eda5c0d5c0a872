package import ATT
package import Bluetooth

/// What an attribute is, where the trace has told it.
package struct AttributeName: Sendable, Equatable {
  package var type: UUID
  /// Of a descriptor, the characteristic that it belongs to.
  package var characteristic: UUID?

  package init(type: UUID, characteristic: UUID? = nil) {
    self.type = type
    self.characteristic = characteristic
  }

  /// Where the names of a server's attributes come from.
  package typealias Source = (AttributeHandle) -> AttributeName?
}
