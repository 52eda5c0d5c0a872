package import Bluetooth
import Text

/// A command as it crosses a transport: opcode and octets. For who looks at the commands of others, keeps different ones, or compares them.
package struct CommandPacket: Sendable, Equatable, CustomStringConvertible {
  package let opcode: Opcode
  package let parameters: [UInt8]

  package init(_ command: some Command) {
    var writer = ByteWriter(capacity: 44)
    command.encode(into: &writer)
    self.init(opcode: command.opcode, parameters: writer.bytes)
  }

  package init(opcode: Opcode, parameters: [UInt8]) {
    self.opcode = opcode
    self.parameters = parameters
  }

  /// - Parameter reader: after the H4 indicator; must end with the packet.
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    opcode = Opcode(rawValue: try reader.uint16("HCI command: opcode"))
    let length = Int(try reader.uint8("HCI command: length"))
    parameters = try reader.bytes(length, "HCI command: parameters")
    try reader.finish("HCI command")
  }

  /// H4 form. The length field holds at most 255 octets of parameters; more is cut.
  package var encoded: [UInt8] {
    let parameters = parameters.prefix(255)
    var writer = ByteWriter(capacity: parameters.count + 4)
    writer.uint8(Packet.commandIndicator)
    writer.uint16(opcode.rawValue)
    writer.uint8(UInt8(parameters.count))
    writer.append(parameters)
    return writer.bytes
  }

  /// - Returns: nil when it is another command.
  /// - Throws: when the parameters do not follow the command's format, to the last octet.
  package func decoded<C: Command>(as _: C.Type = C.self) throws(MalformedPacket) -> C? {
    guard opcode == C.opcode else { return nil }
    var reader = ByteReader(parameters)
    let command = try C(parsing: &reader)
    try reader.finish("HCI command")
    return command
  }

  /// `LE Set Scan Enable (0x200c) 0100`.
  package var description: String { "\(opcode) \(Hex.encode(parameters))" }
}
