// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A line that controls a running device, as blectl-peripheral(5) describes it. `PeripheralLineParser` parses the text.
package enum PeripheralLine: Sendable, Equatable {
  /// The device stores a value without sending it.
  case set(Selector, [UInt8])
  /// The device stores a value and notifies the subscribers. Nil sends the current value.
  case notify(Selector, [UInt8]?)
  case indicate(Selector, [UInt8]?)
  /// The device disconnects all centrals, which receive the reason.
  case disconnect(ControllerErrorCode)
  case advertise(Bool)
  case fault(Fault)

  /// A fault that a device makes on purpose.
  package enum Fault: Sendable, Equatable {
    /// The device treats requests for an attribute wrongly. `times` is the number of requests, nil for all.
    case access(Selector, Access, times: Int?)
    /// The device answers Exchange MTU with this number, even an invalid one.
    case mtu(UInt16)
    /// The device performs a write of the attribute, and disconnects in place of the answer.
    case disconnectOnWrite(Selector)
    case refusePairing(PairingFailedReason)
    /// The device loses its keys and the subscriptions of bonded centrals.
    case forgetBonds
    /// All faults end.
    case off
  }

  /// The wrong treatment of a request or command for an attribute.
  package enum Access: Sendable, Equatable {
    /// The device refuses the request, and ignores a command.
    case error(ErrorCode)
    /// The device performs the request at once and answers later.
    case delay(Duration)
    /// The device ignores the request or command: it neither performs nor answers it.
    case silent
    /// The device performs the request and does not answer.
    case drop
    /// The device performs the request and sends only the first bytes of the answer, counted from the opcode.
    case truncate(Int)
    /// The device performs the request and sends these bytes in place of the answer.
    case raw([UInt8])

    /// Whether commands, which have no answer, meet the fault.
    var concernsCommands: Bool {
      switch self {
      case .error, .silent: true
      case .delay, .drop, .truncate, .raw: false
      }
    }

    /// The words of the line that causes the fault, without the attribute.
    package var text: String {
      switch self {
      case .error(let code): "error 0x\(Hex.encode(code.rawValue))"
      case .delay(let time): "delay \(time.wholeNanoseconds / 1_000_000)ms"
      case .silent: "silent"
      case .drop: "drop"
      case .truncate(let length): "truncate \(length)"
      case .raw(let bytes): "raw \(bytes.isEmpty ? "''" : Hex.encode(bytes))"
      }
    }
  }
}

/// The error of a line: the word that is wrong, what the line needs there, and a correct line.
package struct PeripheralLineError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The wrong word. Nil if the line ends too early.
  package let word: String?
  /// The words that the line needs in place of the wrong one, such as `an attribute`.
  package let expected: String
  package var example: String

  package var description: String {
    let found = word.map { DisplayText.quote(DisplayText.clip($0, to: 60)) } ?? "the end of the line"
    return "Expected \(expected), found \(found). Example: \(example)"
  }
}
