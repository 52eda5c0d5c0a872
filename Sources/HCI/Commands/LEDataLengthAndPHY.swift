package import Bluetooth

// Vol 4 Part E §7.8: how long data packets are and how they are sent.

/// How long the packets are that one side sends.
package struct TransmissionLength: ReturnParameters {
  /// 27…251.
  package var txOctets: UInt16
  /// µs, 328…17 040.
  package var txTime: UInt16

  package init(txOctets: UInt16, txTime: UInt16) { (self.txOctets, self.txTime) = (txOctets, txTime) }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    txOctets = try reader.uint16("TX octets")
    txTime = try reader.uint16("TX time")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(txOctets)
    writer.uint16(txTime)
  }
}

/// §7.8.33.
package struct LESetDataLength: Command {
  package static let opcode = Opcode(0x2022, "LE Set Data Length", bit: (33, 6))
  package typealias Return = HandleReturned

  package var handle: ConnectionHandle
  package var length: TransmissionLength

  package init(handle: ConnectionHandle, txOctets: UInt16, txTime: UInt16) {
    self.handle = handle
    length = TransmissionLength(txOctets: txOctets, txTime: txTime)
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    length = try TransmissionLength(parsing: &reader)
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    length.encode(into: &writer)
  }
}

/// §7.8.34.
package struct LEReadSuggestedDefaultDataLength: ParameterlessCommand {
  package static let opcode = Opcode(0x2023, "LE Read Suggested Default Data Length", bit: (33, 7))
  package typealias Return = TransmissionLength

  package init() {}
}

/// §7.8.35.
package struct LEWriteSuggestedDefaultDataLength: Command {
  package static let opcode = Opcode(0x2024, "LE Write Suggested Default Data Length", bit: (34, 0))
  package typealias Return = NoReturnParameters

  package var length: TransmissionLength

  package init(txOctets: UInt16, txTime: UInt16) { length = TransmissionLength(txOctets: txOctets, txTime: txTime) }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { length = try TransmissionLength(parsing: &reader) }

  package func encode(into writer: inout ByteWriter) { length.encode(into: &writer) }
}

/// §7.8.46.
package struct LEReadMaximumDataLength: ParameterlessCommand {
  package static let opcode = Opcode(0x202F, "LE Read Maximum Data Length", bit: (35, 3))

  package init() {}

  /// Octets and µs.
  package struct Return: ReturnParameters {
    package var txOctets: UInt16
    package var txTime: UInt16
    package var rxOctets: UInt16
    package var rxTime: UInt16

    package init(txOctets: UInt16, txTime: UInt16, rxOctets: UInt16, rxTime: UInt16) {
      self.txOctets = txOctets
      self.txTime = txTime
      self.rxOctets = rxOctets
      self.rxTime = rxTime
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      txOctets = try reader.uint16("TX octets")
      txTime = try reader.uint16("TX time")
      rxOctets = try reader.uint16("RX octets")
      rxTime = try reader.uint16("RX time")
    }

    package func encode(into writer: inout ByteWriter) {
      for value in [txOctets, txTime, rxOctets, rxTime] { writer.uint16(value) }
    }
  }
}

/// §7.8.47.
package struct LEReadPHY: HandleCommand {
  package static let opcode = Opcode(0x2030, "LE Read PHY", bit: (35, 4))

  package let handle: ConnectionHandle

  package init(handle: ConnectionHandle) { self.handle = handle }

  package struct Return: ReturnParameters {
    package var handle: ConnectionHandle
    /// 1 is 1M, 2 is 2M, 3 is coded; unknown values survive.
    package var tx: UInt8
    package var rx: UInt8

    package init(handle: ConnectionHandle, tx: UInt8, rx: UInt8) {
      self.handle = handle
      self.tx = tx
      self.rx = rx
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      handle = try reader.handle()
      tx = try reader.uint8("TX PHY")
      rx = try reader.uint8("RX PHY")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.handle(handle)
      writer.uint8(tx)
      writer.uint8(rx)
    }
  }
}

/// §7.8.48.
package struct LESetDefaultPHY: Command {
  package static let opcode = Opcode(0x2031, "LE Set Default PHY", bit: (35, 5))
  package typealias Return = NoReturnParameters

  /// Bit 0: no transmitter preference; bit 1: no receiver preference.
  package var allPHYs: UInt8
  package var tx: PHYMask
  package var rx: PHYMask

  package init(allPHYs: UInt8, tx: PHYMask, rx: PHYMask) {
    self.allPHYs = allPHYs
    self.tx = tx
    self.rx = rx
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    allPHYs = try reader.uint8("all PHYs")
    tx = PHYMask(rawValue: try reader.uint8("TX PHYs"))
    rx = PHYMask(rawValue: try reader.uint8("RX PHYs"))
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(allPHYs)
    writer.uint8(tx.rawValue)
    writer.uint8(rx.rawValue)
  }
}

/// §7.8.49.
package struct LESetPHY: Command {
  package static let opcode = Opcode(0x2032, "LE Set PHY", bit: (35, 6))
  package typealias Return = AnsweredByStatus

  package var handle: ConnectionHandle
  /// As in LE Set Default PHY.
  package var allPHYs: UInt8
  package var tx: PHYMask
  package var rx: PHYMask
  /// Coded PHY: 0 any coding, 1 S=2, 2 S=8.
  package var options: UInt16

  package init(handle: ConnectionHandle, allPHYs: UInt8 = 0, tx: PHYMask, rx: PHYMask, options: UInt16 = 0) {
    self.handle = handle
    self.allPHYs = allPHYs
    self.tx = tx
    self.rx = rx
    self.options = options
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    allPHYs = try reader.uint8("all PHYs")
    tx = PHYMask(rawValue: try reader.uint8("TX PHYs"))
    rx = PHYMask(rawValue: try reader.uint8("RX PHYs"))
    options = try reader.uint16("PHY options")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint8(allPHYs)
    writer.uint8(tx.rawValue)
    writer.uint8(rx.rawValue)
    writer.uint16(options)
  }
}
