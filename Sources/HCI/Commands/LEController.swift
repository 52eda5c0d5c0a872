package import Bluetooth

// Vol 4 Part E §7.8: what an LE controller is, and how it begins.

/// §7.8.1.
package struct LESetEventMask: Command {
  package static let opcode = Opcode(0x2001, "LE Set Event Mask", bit: (25, 0))
  package typealias Return = NoReturnParameters

  /// Bit n is LE Meta subevent n + 1.
  package var mask: UInt64

  package init(_ mask: UInt64) { self.mask = mask }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { mask = try reader.uint64("LE event mask") }

  package func encode(into writer: inout ByteWriter) { writer.uint64(mask) }
}

/// §7.8.2.
package struct LEReadBufferSize: ParameterlessCommand {
  package static let opcode = Opcode(0x2002, "LE Read Buffer Size", bit: (25, 1))

  package init() {}

  /// Zero length or count: the LE buffers are those of Read Buffer Size.
  package struct Return: ReturnParameters {
    package var aclLength: UInt16
    package var aclCount: UInt8

    package init(aclLength: UInt16, aclCount: UInt8) {
      self.aclLength = aclLength
      self.aclCount = aclCount
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      aclLength = try reader.uint16("LE ACL length")
      aclCount = try reader.uint8("LE ACL count")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(aclLength)
      writer.uint8(aclCount)
    }
  }
}

/// §7.8.3.
package struct LEReadLocalSupportedFeatures: ParameterlessCommand {
  package static let opcode = Opcode(0x2003, "LE Read Local Supported Features", bit: (25, 2))

  package init() {}

  package struct Return: ReturnParameters {
    package var features: LEFeatures

    package init(_ features: LEFeatures) { self.features = features }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      features = LEFeatures(rawValue: try reader.uint64("LE features"))
    }

    package func encode(into writer: inout ByteWriter) { writer.uint64(features.rawValue) }
  }
}

/// §7.8.4.
package struct LESetRandomAddress: Command {
  package static let opcode = Opcode(0x2005, "LE Set Random Address", bit: (25, 4))
  package typealias Return = NoReturnParameters

  package var address: Address

  package init(_ address: Address) { self.address = address }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { address = try reader.address("random address") }

  package func encode(into writer: inout ByteWriter) { writer.address(address) }
}
