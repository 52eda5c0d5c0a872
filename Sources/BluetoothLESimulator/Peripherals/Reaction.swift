// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
package import BluetoothLEDeviceFiles
import BluetoothLEText

/// The reaction of a virtual peripheral to a read or write.
package struct Reaction: Sendable, Equatable {
  package var condition = Condition()
  package var answer = Answer()
  package var actions: [Action] = []

  /// The conditions under which a reaction runs. Each condition that is not nil must hold.
  package struct Condition: Sendable, Equatable {
    package var pattern: Pattern?
    /// The required length in bytes. Nil for any length.
    package var length: Int?
    /// The required sum of all bytes modulo 256. Nil for any sum.
    package var sum8: UInt8?
    /// The command that the written bytes must encode, with parameters in their ranges. Nil for any bytes.
    package var command: DeviceCommand?
    /// The condition on the device's state. Nil for any state.
    package var state: BluetoothLESimulator.Condition?

    /// Returns whether the written bytes meet all conditions except `state`.
    package func matches(_ written: [UInt8]) -> Bool {
      if let pattern, !pattern.matches(written) { return false }
      if let length, length != written.count { return false }
      if let command, command.decode(written) == nil { return false }
      if let sum8, UInt32(sum8) != Checksum.sum8.value(of: written) { return false }
      return true
    }
  }

  /// A byte pattern with wildcards, which matches a whole value or, if `isPrefix` is true, its first bytes.
  package struct Pattern: Sendable, Equatable {
    package var bytes: [UInt8?]
    package var isPrefix: Bool

    /// Parses `1b9901` (exact), `1b??01` (any second byte), `1b*` (prefix) or `*` (anything). Nil for other text.
    package init?(_ text: String) {
      let text = text.replacing(" ", with: "")
      isPrefix = text.hasSuffix("*")
      guard let bytes = Hex.pattern(String(text.dropLast(isPrefix ? 1 : 0))) else { return nil }
      self.bytes = bytes
    }

    package func matches(_ written: [UInt8]) -> Bool {
      guard isPrefix ? written.count >= bytes.count : written.count == bytes.count else { return false }
      return zip(bytes, written).allSatisfy { $0 == nil || $0 == $1 }
    }
  }

  /// The answer to a request in place of the usual response.
  package struct Answer: Sendable, Equatable {
    /// The ATT error code of the response. Nil if the request succeeds.
    package var error: ErrorCode?
    /// The time from the request to the response.
    package var delay: Duration = .zero
    package var isSent = true

    package init() {}
  }

  package struct Action: Sendable, Equatable {
    package var kind: Kind
    /// The delay after the previous action. The first action's delay starts with the event. Nil for no delay.
    package var delay: DeviceTime?
    /// The condition that must hold after the delay. Nil means that the action always runs.
    package var condition: BluetoothLESimulator.Condition?

    package init(_ kind: Kind, after delay: DeviceTime? = nil, if condition: BluetoothLESimulator.Condition? = nil) {
      (self.kind, self.delay, self.condition) = (kind, delay, condition)
    }

    package indirect enum Kind: Sendable, Equatable {
      /// The device stores a value and notifies the subscribers.
      case notify(AttributeHandle, Template)
      case indicate(AttributeHandle, Template)
      /// The device stores a value without sending it.
      case set(AttributeHandle, Template)
      /// The device resets the counter of a sink to zero.
      case reset(sink: AttributeHandle)
      case assignBytes(variable: Int, Template)
      case assignNumber(variable: Int, NumberExpression)
      /// The device sets its clock. The unit is seconds since 1970-01-01T00:00:00Z.
      case setClock(NumberExpression)
      /// The device starts or restarts the timer with this zero-based index.
      case start(timer: Int)
      case stop(timer: Int)
      case advertise(Bool)
      case disconnect(Disconnection)
      /// The firmware processes no PDUs for this duration, while its buffers fill.
      case busy(Duration)
      /// The central's controller fails with this vendor-specific code (Hardware Error, Vol 4 Part E §7.7.16).
      case failController(UInt8)
      /// The device runs the actions `times` times, or `otherwise` once if the condition of the action does not hold.
      case block([Action], times: NumberExpression, otherwise: [Action])
    }
  }

  package enum Disconnection: Sendable, Equatable {
    case terminate(ControllerErrorCode)
    /// The device loses radio contact. The device and the central notice the loss after the supervision timeout.
    case outOfRange
  }
}

/// A counter of the bytes written to a characteristic.
package struct ReactionCounter: Sendable, Equatable {
  package private(set) var count: UInt32 = 0
  private var crc = CRC32()

  package init() {}

  package mutating func add(_ bytes: [UInt8]) {
    count &+= UInt32(truncatingIfNeeded: bytes.count)
    crc.add(bytes)
  }

  /// The report: the count and the CRC-32 (as in Ethernet and zip, 0 without bytes), both u32le.
  package var report: [UInt8] {
    var writer = ByteWriter()
    writer.uint32(count)
    writer.uint32(crc.value)
    return writer.bytes
  }
}
