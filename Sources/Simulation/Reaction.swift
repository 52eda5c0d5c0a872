package import ATT
import Bluetooth
package import GATT
import Text

/// What a virtual peripheral does when something was written to it.
package struct Reaction: Sendable, Equatable {
  package var condition = Condition()
  package var actions: [Action] = []

  /// Everything that is given must hold.
  package struct Condition: Sendable, Equatable {
    package var pattern: Pattern?
    /// Octets.
    package var length: Int?
    /// The sum of all octets modulo 256.
    package var sum8: UInt8?

    package func matches(_ written: [UInt8]) -> Bool {
      if let pattern, !pattern.matches(written) { return false }
      if let length, length != written.count { return false }
      if let sum8, sum8 != Self.sum8(written) { return false }
      return true
    }

    static func sum8(_ octets: [UInt8]) -> UInt8 { octets.reduce(0, &+) }
  }

  /// Octets, some of which may be anything, and whether more may follow.
  package struct Pattern: Sendable, Equatable {
    package var octets: [UInt8?]
    package var isPrefix: Bool

    /// `1b9901` exactly these, `1b??01` with any second octet, `1b*` beginning with this, `*` anything. Nil for other text.
    package init?(_ text: String) {
      var digits = text.utf8.filter { $0 != 0x20 }
      isPrefix = digits.last == 0x2A
      if isPrefix { digits.removeLast() }
      octets = []
      guard digits.count % 2 == 0 else { return nil }
      for start in stride(from: 0, to: digits.count, by: 2) {
        let pair = digits[start..<start + 2]
        if pair.elementsEqual("??".utf8) {
          octets.append(nil)
        } else {
          guard let value = Hex.number(String(decoding: pair, as: UTF8.self)) else { return nil }
          octets.append(UInt8(truncatingIfNeeded: value))
        }
      }
    }

    package func matches(_ written: [UInt8]) -> Bool {
      guard isPrefix ? written.count >= octets.count : written.count == octets.count else { return false }
      return zip(octets, written).allSatisfy { $0 == nil || $0 == $1 }
    }
  }

  package enum Action: Sendable, Equatable {
    /// Keeps the value and notifies those who subscribed.
    case notify(AttributeHandle, Template, after: Duration)
    case indicate(AttributeHandle, Template, after: Duration)
    /// Keeps the value.
    case set(AttributeHandle, Template, after: Duration)
    /// Sets the counter of a sink to nothing.
    case reset(sink: AttributeHandle, after: Duration)
    /// The peripheral hangs up.
    case disconnect(after: Duration)

    /// Since the action before, or since the write.
    package var delay: Duration {
      switch self {
      case .notify(_, _, let delay), .indicate(_, _, let delay), .set(_, _, let delay), .reset(_, let delay), .disconnect(let delay): delay
      }
    }
  }

  /// A value that is made when it is sent.
  package struct Template: Sendable, Equatable {
    package enum Part: Sendable, Equatable {
      case octets([UInt8])
      /// The current value of an attribute.
      case valueOf(AttributeHandle)
      /// What was written.
      case written
      /// One octet: the sum of all octets before it, modulo 256.
      case sum8
    }
    package var parts: [Part]

    package func octets(written: [UInt8], _ database: AttributeDatabase) -> [UInt8] {
      var octets: [UInt8] = []
      for part in parts {
        switch part {
        case .octets(let literal): octets += literal
        case .valueOf(let handle): octets += database[handle]?.value ?? []
        case .written: octets += written
        case .sum8: octets.append(Condition.sum8(octets))
        }
      }
      return Array(octets.prefix(AttributeDatabase.maximumValueLength))
    }
  }
}

/// Counts what is written to a characteristic.
package struct ReactionCounter: Sendable, Equatable {
  package private(set) var count: UInt32 = 0
  private var crc = CRC32()

  package init() {}

  package mutating func add(_ octets: [UInt8]) {
    count &+= UInt32(truncatingIfNeeded: octets.count)
    crc.add(octets)
  }

  /// The count and the CRC-32 (as in Ethernet and zip; 0 for nothing), both u32le.
  package var report: [UInt8] {
    var writer = ByteWriter()
    writer.uint32(count)
    writer.uint32(crc.value)
    return writer.bytes
  }
}
