// SPDX-License-Identifier: Apache-2.0
/// Functions that find the connection handle of an encoded HCI packet at its fixed offset, without decoding the packet.
package enum LinkPacket {
  /// The commands whose first parameter is a connection handle.
  package static let commands: Set<Opcode> = [
    Disconnect.opcode, ReadRemoteVersion.opcode, ReadRSSI.opcode, Opcode(rawValue: 0x0C2D), LEConnectionUpdate.opcode,
    LEReadRemoteFeatures.opcode, Opcode(rawValue: 0x2019), Opcode(rawValue: 0x201A), Opcode(rawValue: 0x201B),
    LERemoteConnectionParameterRequestReply.opcode, LERemoteConnectionParameterRequestNegativeReply.opcode, LESetDataLength.opcode,
    LEReadPHY.opcode, LESetPHY.opcode, Opcode(rawValue: 0x2015), Opcode(rawValue: 0x2076), Opcode(rawValue: 0x2077),
    Opcode(rawValue: 0x2078), Opcode(rawValue: 0x2079), Opcode(rawValue: 0x207A), Opcode(rawValue: 0x207E),
  ]

  /// Returns the byte offset of the connection handle in an event or in ACL data. Nil if the packet concerns no link.
  package static func handleOffset(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 3 else { return nil }
    let offset: Int?
    switch bytes[0] {
    case Packet.aclIndicator: offset = 1
    case Packet.eventIndicator:
      switch bytes[1] {
      // Disconnection Complete, Encryption Change, Read Remote Version Complete, Encryption Key Refresh, Encryption Change v2.
      case 0x05, 0x08, 0x0C, 0x30, 0x59: offset = 4
      // Authenticated Payload Timeout Expired.
      case 0x57: offset = 3
      case 0x3E where bytes.count >= 4:
        switch bytes[3] {
        case 0x01, 0x0A, 0x29, 0x03, 0x04, 0x0C, 0x21, 0x23: offset = 5
        case 0x05, 0x06, 0x07, 0x14, 0x20: offset = 4
        default: offset = nil
        }
      default: offset = nil
      }
    default: offset = nil
    }
    return offset.flatMap { $0 + 2 <= bytes.count ? $0 : nil }
  }

  package static func handle(_ bytes: [UInt8]) -> ConnectionHandle? {
    handleOffset(bytes).map { ConnectionHandle(bytes.uint16(at: $0)) }
  }

  /// Returns the connection handle that a command concerns. Nil for other commands and other packets.
  package static func handle(ofCommand bytes: [UInt8]) -> ConnectionHandle? {
    guard bytes.count >= 6, bytes[0] == Packet.commandIndicator, commands.contains(Opcode(rawValue: bytes.uint16(at: 1))) else {
      return nil
    }
    return ConnectionHandle(bytes.uint16(at: 4))
  }
}
