package import Bluetooth
import Text

/// An attribute handle (Vol 3 Part F §3.2.2): 0x0001…0xFFFF. 0x0000 is reserved and means no attribute in PDUs.
package struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package init(integerLiteral value: UInt16) { rawValue = value }
  /// Creates the handle nearest to a number, possibly 0x0000.
  package init(clamping number: Int) { rawValue = UInt16(clamping: number) }

  package static let last: Self = 0xFFFF

  package var number: Int { Int(rawValue) }
  package var isValid: Bool { rawValue != 0 }
  /// The next handle. 0xFFFF for the last.
  package var next: Self { Self(clamping: number + 1) }
  /// The previous handle. 0x0000 for the first.
  package var previous: Self { Self(clamping: number - 1) }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// The handle as text: `0x0012`.
  package var description: String {
    "0x" + Hex.encode(rawValue)
  }
}

/// The handle range of a request. May be invalid, because the server refuses invalid ranges (Invalid Handle, Vol 3 Part F §3.4.3.1).
package struct HandleRange: Hashable, Sendable {
  package var start: AttributeHandle
  package var end: AttributeHandle

  package init(_ start: AttributeHandle, _ end: AttributeHandle) {
    self.start = start
    self.end = end
  }

  package static let all = Self(0x0001, 0xFFFF)

  /// Whether the range is within 0x0001…0xFFFF and ascending.
  package var isValid: Bool { start.isValid && start <= end }

  package func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }
}

/// An attribute handle and its value, or a part of the value.
package struct HandleValue: Hashable, Sendable {
  package var handle: AttributeHandle
  package var value: [UInt8]

  package init(_ handle: AttributeHandle, _ value: [UInt8]) {
    self.handle = handle
    self.value = value
  }
}

/// An attribute handle and its type.
package struct HandleType: Hashable, Sendable {
  package var handle: AttributeHandle
  package var type: UUID

  package init(_ handle: AttributeHandle, _ type: UUID) {
    self.handle = handle
    self.type = type
  }
}

/// A grouping attribute, with the last handle of its group and its value.
package struct HandleGroup: Hashable, Sendable {
  package var handle: AttributeHandle
  package var endHandle: AttributeHandle
  package var value: [UInt8]

  package init(_ handle: AttributeHandle, _ endHandle: AttributeHandle, _ value: [UInt8]) {
    self.handle = handle
    self.endHandle = endHandle
    self.value = value
  }
}
