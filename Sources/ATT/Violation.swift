package import Bluetooth
import Text

extension BluetoothError {
  /// The peer sent something that is no answer.
  /// - Parameters:
  ///   - opcode: of the PDU at fault, or of the request that it should have answered.
  ///   - octets: the PDU; at most 32 octets of it are shown.
  package static func violation(_ opcode: Opcode, _ octets: [UInt8], _ reason: String) -> BluetoothError {
    let shown = octets.isEmpty ? "no octets" : Hex.encode(octets.prefix(32)) + (octets.count > 32 ? "… (\(octets.count) octets)" : "")
    return BluetoothError(.protocolViolation, "the peer broke the Attribute Protocol: \(opcode) [\(shown)]: \(reason)")
  }
}
