package import Bluetooth

// Vol 4 Part E §7.4: what a controller is.

/// §7.4.1.
package struct ReadLocalVersion: ParameterlessCommand {
  package static let opcode = Opcode(0x1001, "Read Local Version Information", bit: (14, 3))

  package init() {}

  package struct Return: ReturnParameters {
    /// Core version: 6 is 4.0, 13 is 5.4.
    package var hciVersion: UInt8
    package var hciSubversion: UInt16
    package var lmpVersion: UInt8
    package var company: UInt16
    package var lmpSubversion: UInt16

    package init(hciVersion: UInt8, hciSubversion: UInt16, lmpVersion: UInt8, company: UInt16, lmpSubversion: UInt16) {
      self.hciVersion = hciVersion
      self.hciSubversion = hciSubversion
      self.lmpVersion = lmpVersion
      self.company = company
      self.lmpSubversion = lmpSubversion
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      hciVersion = try reader.uint8("HCI version")
      hciSubversion = try reader.uint16("HCI subversion")
      lmpVersion = try reader.uint8("LMP version")
      company = try reader.uint16("company")
      lmpSubversion = try reader.uint16("LMP subversion")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint8(hciVersion)
      writer.uint16(hciSubversion)
      writer.uint8(lmpVersion)
      writer.uint16(company)
      writer.uint16(lmpSubversion)
    }
  }
}

/// §7.4.2.
package struct ReadLocalSupportedCommands: ParameterlessCommand {
  package static let opcode = Opcode(0x1002, "Read Local Supported Commands", bit: nil)

  package init() {}

  package struct Return: ReturnParameters {
    package var commands: SupportedCommands

    package init(_ commands: SupportedCommands) { self.commands = commands }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      commands = SupportedCommands(octets: try reader.slice(64, "supported commands"))
    }

    package func encode(into writer: inout ByteWriter) { writer.append(commands.octets) }
  }
}

/// §7.4.3.
package struct ReadLocalSupportedFeatures: ParameterlessCommand {
  package static let opcode = Opcode(0x1003, "Read Local Supported Features", bit: (14, 5))

  package init() {}

  package struct Return: ReturnParameters {
    /// LMP features (Vol 2 Part C §3.3).
    package var features: UInt64

    package init(_ features: UInt64) { self.features = features }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) { features = try reader.uint64("LMP features") }

    package func encode(into writer: inout ByteWriter) { writer.uint64(features) }
  }
}

/// §7.4.5.
package struct ReadBufferSize: ParameterlessCommand {
  package static let opcode = Opcode(0x1005, "Read Buffer Size", bit: (14, 7))

  package init() {}

  /// Lengths in octets.
  package struct Return: ReturnParameters {
    package var aclLength: UInt16
    package var synchronousLength: UInt8
    package var aclCount: UInt16
    package var synchronousCount: UInt16

    package init(aclLength: UInt16, synchronousLength: UInt8, aclCount: UInt16, synchronousCount: UInt16) {
      self.aclLength = aclLength
      self.synchronousLength = synchronousLength
      self.aclCount = aclCount
      self.synchronousCount = synchronousCount
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      aclLength = try reader.uint16("ACL length")
      synchronousLength = try reader.uint8("synchronous length")
      aclCount = try reader.uint16("ACL count")
      synchronousCount = try reader.uint16("synchronous count")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(aclLength)
      writer.uint8(synchronousLength)
      writer.uint16(aclCount)
      writer.uint16(synchronousCount)
    }
  }
}

/// §7.4.6.
package struct ReadBDADDR: ParameterlessCommand {
  package static let opcode = Opcode(0x1009, "Read BD_ADDR", bit: (15, 1))

  package init() {}

  package struct Return: ReturnParameters {
    package var address: Address

    package init(_ address: Address) { self.address = address }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) { address = try reader.address("BD_ADDR") }

    package func encode(into writer: inout ByteWriter) { writer.address(address) }
  }
}
