// SPDX-License-Identifier: Apache-2.0
/// An attribute handle, 0x0001…0xFFFF (Vol 3 Part F §3.2.2). In PDUs, the reserved handle 0x0000 means no attribute.
package struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package init(integerLiteral value: UInt16) { rawValue = value }
  /// Creates a handle from a number, clamped to 0x0000…0xFFFF.
  package init(clamping number: Int) { rawValue = UInt16(clamping: number) }

  package static let last: Self = 0xFFFF

  package var number: Int { Int(rawValue) }
  package var isValid: Bool { rawValue != 0 }
  /// The next higher handle. The handle after 0xFFFF is 0xFFFF.
  package var next: Self { Self(clamping: number + 1) }
  /// The next lower handle. The handle before 0x0000 is 0x0000.
  package var previous: Self { Self(clamping: number - 1) }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// The handle as hexadecimal text, such as `0x0012`.
  package var description: String { "0x" + Hex.encode(rawValue) }
}

/// The handle range of a request, including both ends. Servers refuse an invalid range with Invalid Handle (Vol 3 Part F §3.4.3.1).
package struct HandleRange: Hashable, Sendable {
  package var start: AttributeHandle
  package var end: AttributeHandle

  package init(_ start: AttributeHandle, _ end: AttributeHandle) { (self.start, self.end) = (start, end) }

  package static let all = Self(0x0001, 0xFFFF)

  /// Whether the range is within 0x0001…0xFFFF and ascending.
  package var isValid: Bool { start.isValid && start <= end }

  package func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }
}

/// An attribute handle and its value, or a part of the value.
package struct HandleValue: Hashable, Sendable {
  package var handle: AttributeHandle
  package var value: [UInt8]

  package init(_ handle: AttributeHandle, _ value: [UInt8]) { (self.handle, self.value) = (handle, value) }
}

/// An attribute handle and its type.
package struct HandleType: Hashable, Sendable {
  package var handle: AttributeHandle
  package var type: UUID

  package init(_ handle: AttributeHandle, _ type: UUID) { (self.handle, self.type) = (handle, type) }
}

/// The handle and value of a grouping attribute, such as a service declaration, with the last handle of its group.
package struct HandleGroup: Hashable, Sendable {
  package var handle: AttributeHandle
  package var endHandle: AttributeHandle
  package var value: [UInt8]

  package init(_ handle: AttributeHandle, _ endHandle: AttributeHandle, _ value: [UInt8]) {
    (self.handle, self.endHandle, self.value) = (handle, endHandle, value)
  }
}
