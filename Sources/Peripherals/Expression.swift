package import ATT
import Bluetooth
package import Crypto
package import DeviceFiles
package import Text

/// Octets that are made when they are needed: parts, one behind the other.
package struct Template: Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    case octets([UInt8])
    /// The current value of an attribute.
    case valueOf(AttributeHandle)
    /// What was written; nothing where nothing was.
    case written
    /// By its number; a variable that holds octets.
    case variable(Int)
    case number(NumberExpression, ValueFormat)
    case random(octets: Int)
    /// Of the given octets, else of all parts before it.
    case checksum(Checksum, ByteOrder, of: Template?)
    case authentication(MessageAuthentication, of: Template, key: Template)
    /// Octet by octet; the second is repeated until it is as long as the first.
    case exclusiveOr(Template, with: Template)
    /// A packet of a device file.
    case frame(FrameTemplate)
    /// Octets or text of the request that was written.
    case parameter(String, Frame)
    /// Leaves out what is before `from` (negative: counted from the end), and keeps `octets` of the rest (negative: all but so many).
    case cut(Template, from: Int, octets: Int?)
  }
  package var parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  /// The octets, where they are the same at any time.
  var literal: [UInt8]? {
    var octets: [UInt8] = []
    for part in parts {
      guard case .octets(let some) = part else { return nil }
      octets += some
    }
    return octets
  }

  /// Of the parts that are the same at any time.
  var leastLength: Int {
    parts.reduce(0) { if case .octets(let octets) = $1 { $0 + octets.count } else { $0 } }
  }
}

/// A whole number of 64 bits; arithmetic wraps, and a division by zero is zero.
package indirect enum NumberExpression: Sendable, Equatable {
  case literal(Int64)
  /// By its number; a variable that holds a number.
  case variable(Int)
  case random(ClosedRange<Int64>)
  case clock(ClockField)
  /// How many octets there are.
  case length(Template)
  /// The number that the first octets are; those that are missing are zeros. The format is one of whole numbers.
  case read(Template, ValueFormat)
  /// What a field of the request that was written says.
  case parameter(String, Frame)
  /// How many clients subscribed to a characteristic.
  case subscribers(AttributeHandle)
  /// From left to right; not empty.
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
    /// Seconds since 1970-01-01T00:00:00Z.
    case unix
    case year, month, day, hour, minute, second
    /// 1 Monday to 7 Sunday.
    case weekday
    /// Milliseconds since the device came into the air; setting the clock does not change it.
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
