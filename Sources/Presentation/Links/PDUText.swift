package import ATT
import Text

/// Formats ATT PDUs for `-vv` in the style of btmon: `<` sent, `>` received.
package enum PDUText {
  package static func line(_ direction: ATT.Direction, _ pdu: [UInt8]) -> String {
    "\(direction == .sent ? "<" : ">") \(opcode(pdu)) \(Hex.encode(pdu))"
  }

  private static func opcode(_ pdu: [UInt8]) -> String { pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "empty" }

  /// Returns the PDU without its value: `Read Request battery_level`, with the reason of an error.
  /// - Parameter names: Returns the name of an attribute. Nil shows its handle, such as `0x0012`.
  package static func name(_ pdu: [UInt8], names: (AttributeHandle) -> String?) -> String {
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
    let handle = AttributeHandle(rawValue: UInt16(pdu[offset]) | UInt16(pdu[offset + 1]) << 8)
    return "\(opcode.description) \(names(handle) ?? handle.description)" + reason
  }
}
