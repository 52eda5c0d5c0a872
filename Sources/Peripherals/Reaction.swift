package import ATT
package import Bluetooth
package import DeviceFiles
import Text

/// What a virtual peripheral does when something is written to it, or read.
package struct Reaction: Sendable, Equatable {
  package var condition = Condition()
  package var answer = Answer()
  package var actions: [Action] = []

  /// Everything that is given must hold.
  package struct Condition: Sendable, Equatable {
    package var pattern: Pattern?
    /// Octets.
    package var length: Int?
    /// The sum of all octets modulo 256.
    package var sum8: UInt8?
    /// The octets are this command, its parameters are in their ranges.
    package var command: DeviceCommand?
    /// Nil: whatever the device's state is.
    package var state: Peripherals.Condition?

    /// Whether `state` may be asked.
    package func matches(_ written: [UInt8]) -> Bool {
      if let pattern, !pattern.matches(written) { return false }
      if let length, length != written.count { return false }
      if let command, command.decode(written) == nil { return false }
      if let sum8, UInt32(sum8) != Checksum.sum8.value(of: written) { return false }
      return true
    }
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

  /// What comes of a request beside its usual response.
  package struct Answer: Sendable, Equatable {
    /// Nil: it is granted.
    package var error: ErrorCode?
    /// How late the response is.
    package var delay: Duration = .zero
    package var isSent = true

    package init() {}
  }

  package struct Action: Sendable, Equatable {
    package var kind: Kind
    /// Since the action before, or since what set off the actions.
    package var delay: Duration
    /// Asked after the delay; nil: always.
    package var condition: Peripherals.Condition?

    package init(_ kind: Kind, after delay: Duration = .zero, if condition: Peripherals.Condition? = nil) {
      self.kind = kind
      self.delay = delay
      self.condition = condition
    }

    package indirect enum Kind: Sendable, Equatable {
      /// Keeps the value and notifies those who subscribed.
      case notify(AttributeHandle, Template)
      case indicate(AttributeHandle, Template)
      /// Keeps the value.
      case set(AttributeHandle, Template)
      /// Sets the counter of a sink to nothing.
      case reset(sink: AttributeHandle)
      case assignOctets(variable: Int, Template)
      case assignNumber(variable: Int, NumberExpression)
      /// Seconds since 1970.
      case setClock(NumberExpression)
      /// A timer by its number, which begins anew when it runs already.
      case start(timer: Int)
      case stop(timer: Int)
      case advertise(Bool)
      case disconnect(Disconnection)
      /// The firmware takes nothing from its buffers meanwhile.
      case busy(Duration)
      /// The central's controller fails with this code of its manufacturer's (Hardware Error, Vol 4 Part E §7.7.16).
      case failController(UInt8)
      /// Several actions, so many times, or the others when the condition does not hold.
      case block([Action], times: NumberExpression, otherwise: [Action])
    }
  }

  package enum Disconnection: Sendable, Equatable {
    case terminate(ControllerErrorCode)
    /// Both sides notice when the supervision timeout is over.
    case outOfRange
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
