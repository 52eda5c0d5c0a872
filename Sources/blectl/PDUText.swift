import ATT
import Bluetooth
import Text

/// One line per ATT PDU for `-vv`, in the manner of btmon: `<` sent, `>` received.
enum PDUText {
  static func line(_ direction: ATT.Direction, _ pdu: [UInt8]) -> String {
    "\(direction == .sent ? "<" : ">") \(opcode(pdu)) \(Hex.encode(pdu))"
  }

  private static func opcode(_ pdu: [UInt8]) -> String { pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "empty" }

  /// Without the octets: `Read Request 0x0012`, with the handle where there is one, and the reason of an error.
  static func name(_ pdu: [UInt8]) -> String {
    guard let first = pdu.first else { return "empty" }
    let opcode = ATT.Opcode(rawValue: first)
    let offset: Int? =
      switch opcode {
      case .request(.read), .request(.readBlob), .request(.write), .request(.prepareWrite), .response(.prepareWrite), .command,
        .unsolicited(.notification), .unsolicited(.indication):
        1
      case .error: 2
      case .request, .response, .unsolicited, .confirmation, .unknown: nil
      }
    guard let offset, pdu.count >= offset + 2 else { return opcode.description }
    let reason = opcode == .error && pdu.count > offset + 2 ? ": \(ErrorCode(rawValue: pdu[offset + 2]))" : ""
    return "\(opcode.description) 0x" + Hex.encode([pdu[offset + 1], pdu[offset]]) + reason
  }
}
