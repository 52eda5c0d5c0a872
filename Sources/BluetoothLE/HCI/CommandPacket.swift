// SPDX-License-Identifier: Apache-2.0
/// An HCI command as opcode and bytes, for code that inspects, stores or compares commands.
package struct CommandPacket: Sendable, Equatable, CustomStringConvertible {
  package let opcode: Opcode
  package let parameters: [UInt8]

  package init(_ command: some Command) {
    var writer = ByteWriter(capacity: 44)
    command.encode(into: &writer)
    self.init(opcode: command.opcode, parameters: writer.bytes)
  }

  package init(opcode: Opcode, parameters: [UInt8]) { (self.opcode, self.parameters) = (opcode, parameters) }

  /// Parses an HCI Command packet.
  /// - Parameter reader: The reader, after the H4 indicator. Its bytes must end with the packet.
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    opcode = Opcode(rawValue: try reader.uint16("HCI command: opcode"))
    let length = Int(try reader.uint8("HCI command: length"))
    parameters = try reader.bytes(length, "HCI command: parameters")
    try reader.finish("HCI command")
  }

  /// The command in H4 form, with at most the first 255 bytes of the parameters.
  package var encoded: [UInt8] {
    let parameters = parameters.prefix(255)
    var writer = ByteWriter(capacity: parameters.count + 4)
    writer.uint8(Packet.commandIndicator)
    writer.uint16(opcode.rawValue)
    writer.uint8(UInt8(parameters.count))
    writer.append(parameters)
    return writer.bytes
  }

  /// Decodes the packet as a command.
  /// - Returns: Nil if the packet contains another command.
  /// - Throws: `MalformedPacket` if the parameters are malformed, or bytes remain.
  package func decoded<C: Command>(as _: C.Type = C.self) throws(MalformedPacket) -> C? {
    guard opcode == C.opcode else { return nil }
    var reader = ByteReader(parameters)
    let command = try C(parsing: &reader)
    try reader.finish("HCI command")
    return command
  }

  /// The name, opcode and parameters of the command, for example `LE Set Scan Enable (0x200c) 0100`.
  package var description: String { "\(opcode) \(Hex.encode(parameters))" }
}
