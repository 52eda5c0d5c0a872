package import ATT
import Bluetooth
package import Crypto
package import DeviceFiles
package import Text

/// A list of parts from which a device computes bytes when it needs them.
package struct Template: Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    case octets([UInt8])
    /// The current value of an attribute.
    case valueOf(AttributeHandle)
    /// The written value, or nothing without a write.
    case written
    /// The variable with this number, which holds bytes.
    case variable(Int)
    case number(NumberExpression, ValueFormat)
    case random(octets: Int)
    /// A checksum of the given bytes, or of all preceding parts.
    case checksum(Checksum, ByteOrder, of: Template?)
    case authentication(MessageAuthentication, of: Template, key: Template)
    /// The exclusive or of two values. The second repeats until it is as long as the first.
    case exclusiveOr(Template, with: Template)
    /// A packet of a device file.
    case frame(FrameTemplate)
    /// The bytes or the text of a field of the written request.
    case parameter(String, Frame)
    /// A part of a value: `octets` bytes from byte `from`. A negative `from` counts from the end, a negative `octets` omits the last bytes.
    case cut(Template, from: Int, octets: Int?)
  }
  package var parts: [Part]

  /// The bytes if they never change. Otherwise nil.
  var literal: [UInt8]? {
    var octets: [UInt8] = []
    for part in parts {
      guard case .octets(let some) = part else { return nil }
      octets += some
    }
    return octets
  }

  /// The total length, in bytes, of the parts that never change.
  var leastLength: Int {
    parts.reduce(0) { if case .octets(let octets) = $1 { $0 + octets.count } else { $0 } }
  }
}

/// A 64-bit integer. Arithmetic wraps, and a division by zero is zero.
package indirect enum NumberExpression: Sendable, Equatable {
  case literal(Int64)
  /// The variable with this number, which holds a number.
  case variable(Int)
  case random(ClosedRange<Int64>)
  case clock(ClockField)
  /// The length of a value in bytes.
  case length(Template)
  /// The integer in the first bytes of a value. Missing bytes are zero.
  case read(Template, ValueFormat)
  /// The value of a field of the written request.
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

package indirect enum Condition: Sendable, Equatable {
  case all([Condition])
  case any([Condition])
  case not(Condition)
  case number(NumberExpression, Comparison, NumberExpression)
  case octets(Template, isEqual: Bool, Template)
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
