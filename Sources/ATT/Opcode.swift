import Bluetooth
import Text

/// Attribute opcode, the first octet of every PDU (Vol 3 Part F §3.3.1): method in bits 0–5, Command Flag in bit 6,
/// Authentication Signature Flag in bit 7.
package struct Opcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let errorResponse = Self(rawValue: 0x01)
  package static let exchangeMTURequest = Self(rawValue: 0x02)
  package static let exchangeMTUResponse = Self(rawValue: 0x03)
  package static let findInformationRequest = Self(rawValue: 0x04)
  package static let findInformationResponse = Self(rawValue: 0x05)
  package static let findByTypeValueRequest = Self(rawValue: 0x06)
  package static let findByTypeValueResponse = Self(rawValue: 0x07)
  package static let readByTypeRequest = Self(rawValue: 0x08)
  package static let readByTypeResponse = Self(rawValue: 0x09)
  package static let readRequest = Self(rawValue: 0x0A)
  package static let readResponse = Self(rawValue: 0x0B)
  package static let readBlobRequest = Self(rawValue: 0x0C)
  package static let readBlobResponse = Self(rawValue: 0x0D)
  package static let readMultipleRequest = Self(rawValue: 0x0E)
  package static let readMultipleResponse = Self(rawValue: 0x0F)
  package static let readByGroupTypeRequest = Self(rawValue: 0x10)
  package static let readByGroupTypeResponse = Self(rawValue: 0x11)
  package static let writeRequest = Self(rawValue: 0x12)
  package static let writeResponse = Self(rawValue: 0x13)
  package static let prepareWriteRequest = Self(rawValue: 0x16)
  package static let prepareWriteResponse = Self(rawValue: 0x17)
  package static let executeWriteRequest = Self(rawValue: 0x18)
  package static let executeWriteResponse = Self(rawValue: 0x19)
  package static let handleValueNotification = Self(rawValue: 0x1B)
  package static let handleValueIndication = Self(rawValue: 0x1D)
  package static let handleValueConfirmation = Self(rawValue: 0x1E)
  package static let readMultipleVariableRequest = Self(rawValue: 0x20)
  package static let readMultipleVariableResponse = Self(rawValue: 0x21)
  package static let multipleHandleValueNotification = Self(rawValue: 0x23)
  package static let writeCommand = Self(rawValue: 0x52)
  package static let signedWriteCommand = Self(rawValue: 0xD2)

  /// Who sends a PDU, and whether something comes back (Vol 3 Part F §3.3).
  package enum Kind: Sendable {
    /// Client to server; the server shall answer, with Request Not Supported (0x06) when it does not know the opcode.
    case request
    /// Server to client, the answer to the one outstanding request.
    case response
    /// Client to server, no answer; unknown ones are ignored.
    case command
    /// Server to client: notification or indication.
    case unsolicited
    /// Client to server: the answer to an indication.
    case confirmation
  }

  /// Unknown opcodes are commands when the Command Flag is set, else requests: that is how a server has to treat them (§3.3.1).
  package var kind: Kind {
    switch rawValue {
    case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21: .response
    case 0x1B, 0x1D, 0x23: .unsolicited
    case 0x1E: .confirmation
    default: rawValue & 0x40 != 0 ? .command : .request
    }
  }

  package var isKnown: Bool { Self.names[rawValue] != nil }

  /// The specification's name; for an unknown opcode its number.
  package var description: String { Self.names[rawValue] ?? "Opcode 0x\(Hex.encode(CollectionOfOne(rawValue)))" }

  private static let names: [UInt8: String] = [
    0x01: "Error Response",
    0x02: "Exchange MTU Request",
    0x03: "Exchange MTU Response",
    0x04: "Find Information Request",
    0x05: "Find Information Response",
    0x06: "Find By Type Value Request",
    0x07: "Find By Type Value Response",
    0x08: "Read By Type Request",
    0x09: "Read By Type Response",
    0x0A: "Read Request",
    0x0B: "Read Response",
    0x0C: "Read Blob Request",
    0x0D: "Read Blob Response",
    0x0E: "Read Multiple Request",
    0x0F: "Read Multiple Response",
    0x10: "Read By Group Type Request",
    0x11: "Read By Group Type Response",
    0x12: "Write Request",
    0x13: "Write Response",
    0x16: "Prepare Write Request",
    0x17: "Prepare Write Response",
    0x18: "Execute Write Request",
    0x19: "Execute Write Response",
    0x1B: "Handle Value Notification",
    0x1D: "Handle Value Indication",
    0x1E: "Handle Value Confirmation",
    0x20: "Read Multiple Variable Request",
    0x21: "Read Multiple Variable Response",
    0x23: "Multiple Handle Value Notification",
    0x52: "Write Command",
    0xD2: "Signed Write Command",
  ]
}
