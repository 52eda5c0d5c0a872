import ATT
import Bluetooth
import Text

/// One line per ATT PDU for `-vv`, in the manner of btmon: `<` sent, `>` received.
enum PDUText {
  static func line(_ direction: ATT.Direction, _ pdu: [UInt8]) -> String { "\(direction == .sent ? "<" : ">") \(text(pdu))" }

  static func text(_ pdu: [UInt8]) -> String {
    let name = pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "empty"
    return "\(name) \(Hex.encode(pdu))"
  }
}
