package import Bluetooth

// Vol 4 Part E §7.1, §7.5: links, whatever their kind.

/// §7.1.6.
package struct Disconnect: HandleReasonCommand {
  package static let opcode = Opcode(0x0406, "Disconnect", bit: (0, 5))
  package typealias Return = AnsweredByStatus

  package var handle: ConnectionHandle
  package var reason: ControllerErrorCode

  package init(handle: ConnectionHandle, reason: ControllerErrorCode) {
    self.handle = handle
    self.reason = reason
  }
}

/// §7.1.23.
package struct ReadRemoteVersion: HandleCommand {
  package static let opcode = Opcode(0x041D, "Read Remote Version Information", bit: (2, 7))
  package typealias Return = AnsweredByStatus

  package let handle: ConnectionHandle

  package init(handle: ConnectionHandle) { self.handle = handle }
}

/// §7.5.4.
package struct ReadRSSI: HandleCommand {
  package static let opcode = Opcode(0x1405, "Read RSSI", bit: (15, 5))

  package let handle: ConnectionHandle

  package init(handle: ConnectionHandle) { self.handle = handle }

  package struct Return: ReturnParameters {
    package var handle: ConnectionHandle
    /// dBm, 127 when not available.
    package var rssi: Int8

    package init(handle: ConnectionHandle, rssi: Int8) {
      self.handle = handle
      self.rssi = rssi
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      handle = try reader.handle()
      rssi = try reader.int8("RSSI")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.handle(handle)
      writer.int8(rssi)
    }
  }
}
