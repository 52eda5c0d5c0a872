import Text

/// The attribute opcode, the first byte of every PDU (Vol 3 Part F §3.3.1): method in bits 0–5, Command Flag in bit 6,
/// Authentication Signature Flag in bit 7.
///
/// The enum of its sender declares each opcode once. Its name, direction and answer follow from there.
package enum Opcode: Hashable, Sendable, CustomStringConvertible {
  /// Client to server: a request, which the server must answer.
  case request(RequestOpcode)
  /// Server to client: the answer to the outstanding request of this type.
  case response(RequestOpcode)
  /// Server to client: Error Response, an answer to any request.
  case error
  /// Client to server: a command, without an answer.
  case command(CommandOpcode)
  /// Server to client, unsolicited: a notification or an indication.
  case unsolicited(UnsolicitedOpcode)
  /// Client to server: the answer to an indication.
  case confirmation
  /// An unassigned opcode. A server ignores it as a command if it has the Command Flag, else refuses it as a request (§3.3.1).
  case unknown(UInt8)

  package init(rawValue: UInt8) {
    if rawValue == Self.errorValue {
      self = .error
    } else if rawValue == Self.confirmationValue {
      self = .confirmation
    } else if let request = RequestOpcode(rawValue: rawValue) {
      self = .request(request)
    } else if let request = RequestOpcode(rawValue: rawValue &- 1) {
      self = .response(request)
    } else if let command = CommandOpcode(rawValue: rawValue) {
      self = .command(command)
    } else if let event = UnsolicitedOpcode(rawValue: rawValue) {
      self = .unsolicited(event)
    } else {
      self = .unknown(rawValue)
    }
  }

  package var rawValue: UInt8 {
    switch self {
    case .request(let request): request.rawValue
    // A response always has the next number (§3.4.8).
    case .response(let request): request.rawValue + 1
    case .error: Self.errorValue
    case .command(let command): command.rawValue
    case .unsolicited(let event): event.rawValue
    case .confirmation: Self.confirmationValue
    case .unknown(let value): value
    }
  }

  private static let errorValue: UInt8 = 0x01
  private static let confirmationValue: UInt8 = 0x1E

  /// Whether the opcode is unassigned and has the Command Flag, bit 6.
  package var isUnknownCommand: Bool { if case .unknown(let value) = self { value & 0x40 != 0 } else { false } }

  /// The specification's name. For an unknown opcode, its number.
  package var description: String {
    switch self {
    case .request(let request): "\(request.name) Request"
    case .response(let request): "\(request.name) Response"
    case .error: "Error Response"
    case .command(let command): "\(command.name) Command"
    case .unsolicited(let event): event.name
    case .confirmation: "Handle Value Confirmation"
    case .unknown(let value): "Opcode 0x\(Hex.encode(value))"
    }
  }
}

/// The opcodes of requests. The response of the same name answers each.
package enum RequestOpcode: UInt8, Hashable, Sendable, CaseIterable {
  case exchangeMTU = 0x02
  case findInformation = 0x04
  case findByTypeValue = 0x06
  case readByType = 0x08
  case read = 0x0A
  case readBlob = 0x0C
  case readMultiple = 0x0E
  case readByGroupType = 0x10
  case write = 0x12
  case prepareWrite = 0x16
  case executeWrite = 0x18
  case readMultipleVariable = 0x20

  package var name: String {
    switch self {
    case .exchangeMTU: "Exchange MTU"
    case .findInformation: "Find Information"
    case .findByTypeValue: "Find By Type Value"
    case .readByType: "Read By Type"
    case .read: "Read"
    case .readBlob: "Read Blob"
    case .readMultiple: "Read Multiple"
    case .readByGroupType: "Read By Group Type"
    case .write: "Write"
    case .prepareWrite: "Prepare Write"
    case .executeWrite: "Execute Write"
    case .readMultipleVariable: "Read Multiple Variable"
    }
  }
}

package enum CommandOpcode: UInt8, Hashable, Sendable, CaseIterable {
  case write = 0x52
  case signedWrite = 0xD2

  package var name: String {
    switch self {
    case .write: "Write"
    case .signedWrite: "Signed Write"
    }
  }
}

package enum UnsolicitedOpcode: UInt8, Hashable, Sendable, CaseIterable {
  case notification = 0x1B
  case indication = 0x1D
  case multipleNotification = 0x23

  package var name: String {
    switch self {
    case .notification: "Handle Value Notification"
    case .indication: "Handle Value Indication"
    case .multipleNotification: "Multiple Handle Value Notification"
    }
  }
}
