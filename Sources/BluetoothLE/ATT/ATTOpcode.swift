// SPDX-License-Identifier: Apache-2.0
/// The attribute opcode, which is the first byte of every PDU (Vol 3 Part F §3.3.1).
/// Bits 0–5 contain the method, bit 6 the Command Flag, and bit 7 the Authentication Signature Flag.
package enum ATTOpcode: Hashable, Sendable, CustomStringConvertible {
  /// A request from client to server, which the server must answer.
  case request(RequestOpcode)
  /// A response from server to client, to the outstanding request with this opcode.
  case response(RequestOpcode)
  /// An Error Response from server to client, which can answer any request.
  case error
  /// A command from client to server, which has no response.
  case command(CommandOpcode)
  /// A notification or an indication from server to client.
  case unsolicited(UnsolicitedOpcode)
  /// A Handle Value Confirmation from client to server, which answers an indication.
  case confirmation
  /// An unassigned opcode. A server ignores an opcode with the Command Flag, and refuses any other as a request (Vol 3 Part F §3.3.1).
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

  /// The specification's name of the PDU, or the hexadecimal number of an unknown opcode.
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

/// The opcodes of requests. The server answers each request with the response of the same name.
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
