package import Bluetooth
import Text

/// Attribute handles as a request names them. Not checked: an invalid range is the server's to refuse (Invalid Handle, Vol 3 Part F §3.4.3.1).
package struct HandleRange: Hashable, Sendable {
  package var start: UInt16
  package var end: UInt16

  package init(_ start: UInt16, _ end: UInt16) {
    self.start = start
    self.end = end
  }

  package static let all = Self(0x0001, 0xFFFF)

  /// 0x0001…0xFFFF, ascending.
  package var isValid: Bool { start != 0 && start <= end }
}

/// An attribute and its value, or a part of it.
package struct HandleValue: Hashable, Sendable {
  package var handle: UInt16
  package var value: [UInt8]

  package init(_ handle: UInt16, _ value: [UInt8]) {
    self.handle = handle
    self.value = value
  }
}

/// An attribute and its type.
package struct HandleType: Hashable, Sendable {
  package var handle: UInt16
  package var type: UUID

  package init(_ handle: UInt16, _ type: UUID) {
    self.handle = handle
    self.type = type
  }
}

/// A grouping attribute, the last handle of its group, and its value.
package struct HandleGroup: Hashable, Sendable {
  package var handle: UInt16
  package var endHandle: UInt16
  package var value: [UInt8]

  package init(_ handle: UInt16, _ endHandle: UInt16, _ value: [UInt8]) {
    self.handle = handle
    self.endHandle = endHandle
    self.value = value
  }
}

extension Hex {
  /// Four digits, as handles are printed after `0x`.
  package static func encode(_ handle: UInt16) -> String {
    encode([UInt8(truncatingIfNeeded: handle >> 8), UInt8(truncatingIfNeeded: handle)])
  }
}
