package import Bluetooth

// Vol 4 Part E §7.3.

/// §7.3.1.
package struct SetEventMask: Command {
  package static let opcode = Opcode(0x0C01, "Set Event Mask", bit: (5, 6))
  package typealias Return = NoReturnParameters

  /// Bit n is event n + 1, with exceptions.
  package var mask: UInt64

  package init(_ mask: UInt64) { self.mask = mask }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { mask = try reader.uint64("event mask") }

  package func encode(into writer: inout ByteWriter) { writer.uint64(mask) }
}

/// §7.3.2.
package struct Reset: ParameterlessCommand {
  package static let opcode = Opcode(0x0C03, "Reset", bit: (5, 7))
  package typealias Return = NoReturnParameters

  package init() {}
}
