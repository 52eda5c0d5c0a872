// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
package import BluetoothLEDeviceFiles
package import BluetoothLEText

/// A list of parts from which a device computes the bytes of a value.
package struct Template: Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    case bytes([UInt8])
    /// The current value of an attribute.
    case valueOf(AttributeHandle)
    /// The value that the client wrote. Empty if no write started the reaction.
    case written
    /// The bytes in the variable with this zero-based index.
    case variable(Int)
    case number(NumberExpression, ValueFormat)
    case random(bytes: Int)
    /// A checksum of the template `of`, or of all preceding parts if `of` is nil.
    case checksum(Checksum, ByteOrder, of: Template?)
    case authentication(MessageAuthentication, of: Template, key: Template)
    /// The exclusive or of two values. The bytes of the second value repeat up to the length of the first value.
    case exclusiveOr(Template, with: Template)
    /// A packet whose layout a device file describes.
    case frame(FrameTemplate)
    /// The bytes or the text of the named field in the request that a client wrote.
    case parameter(String, Frame)
    /// A slice of a value: `bytes` bytes, or all if nil, from the zero-based byte `from`. Negative numbers count from the end.
    case cut(Template, from: Int, bytes: Int?)
  }
  package var parts: [Part]

  /// The bytes of a template that never changes. Nil if the device computes any part.
  var literal: [UInt8]? {
    var bytes: [UInt8] = []
    for part in parts {
      guard case .bytes(let some) = part else { return nil }
      bytes += some
    }
    return bytes
  }

  /// The total length, in bytes, of the parts that never change.
  var leastLength: Int { parts.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } } }
}

/// An expression whose value is a 64-bit integer. Arithmetic wraps around, and a division by zero gives 0.
package indirect enum NumberExpression: Sendable, Equatable {
  case literal(Int64)
  /// The number in the variable with this zero-based index.
  case variable(Int)
  case random(ClosedRange<Int64>)
  case clock(ClockField)
  /// The length of a value in bytes.
  case length(Template)
  /// The integer in the first bytes of a value. Missing bytes are zero.
  case read(Template, ValueFormat)
  /// The number in the named field of the request that a client wrote.
  case parameter(String, Frame)
  /// The number of clients that subscribed to a characteristic.
  case subscribers(AttributeHandle)
  /// An operation on several numbers, from left to right. The list is not empty.
  case arithmetic(Operation, [NumberExpression])

  package enum Operation: String, Sendable, CaseIterable {
    case sum, difference, product, quotient, remainder, minimum, maximum

    func callAsFunction(_ left: Int64, _ right: Int64) -> Int64 {
      switch self {
      case .sum: left &+ right
      case .difference: left &- right
      case .product: left &* right
      case .quotient: right == 0 ? 0 : left.dividedReportingOverflow(by: right).partialValue
      case .remainder: right == 0 ? 0 : left.remainderReportingOverflow(dividingBy: right).partialValue
      case .minimum: min(left, right)
      case .maximum: max(left, right)
      }
    }
  }

  package enum ClockField: String, Sendable, CaseIterable {
    /// The seconds since 1970-01-01T00:00:00Z.
    case unix
    case year, month, day, hour, minute, second
    /// The day of the week: 1 Monday to 7 Sunday.
    case weekday
    /// The milliseconds since the creation of the device. Setting the clock does not change them.
    case uptime_ms
  }
}

/// A time in milliseconds, which the device may compute when it needs it.
package struct DeviceTime: Sendable, Equatable {
  let number: NumberExpression
  /// The limits in milliseconds. A computed number outside becomes the nearest limit.
  let range: ClosedRange<Int64>

  package static func milliseconds(_ count: Int) -> Self { Self(number: .literal(Int64(count)), range: Int64(count)...Int64(count)) }
}

package indirect enum Condition: Sendable, Equatable {
  case all([Condition])
  case any([Condition])
  case not(Condition)
  case number(NumberExpression, Comparison, NumberExpression)
  case bytes(Template, isEqual: Bool, Template)
  case matches(Template, Reaction.Pattern)

  package enum Comparison: String, Sendable, CaseIterable {
    case isEqual = "is"
    case isNot = "is_not"
    case below, above
    case atLeast = "at_least"
    case atMost = "at_most"

    func callAsFunction(_ left: Int64, _ right: Int64) -> Bool {
      switch self {
      case .isEqual: left == right
      case .isNot: left != right
      case .below: left < right
      case .above: left > right
      case .atLeast: left >= right
      case .atMost: left <= right
      }
    }
  }
}
