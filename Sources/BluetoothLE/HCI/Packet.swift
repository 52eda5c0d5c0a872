// SPDX-License-Identifier: Apache-2.0
/// An HCI packet. Its H4 form starts with an indicator byte (Vol 4 Part A §2).
package enum Packet: Sendable, Equatable {
  /// A command. `CommandPacket.decoded` validates its parameters.
  case command(CommandPacket)
  case event(Event)
  case acl(ACLData)
  /// A packet of synchronous or isochronous data, or with an unknown indicator. `bytes` are the bytes after the indicator.
  case unknown(indicator: UInt8, bytes: [UInt8])

  package static let commandIndicator: UInt8 = 0x01
  package static let aclIndicator: UInt8 = 0x02
  package static let synchronousIndicator: UInt8 = 0x03
  package static let eventIndicator: UInt8 = 0x04
  package static let isochronousIndicator: UInt8 = 0x05

  /// Parses a packet in H4 form.
  /// - Throws: `MalformedPacket` for missing or remaining bytes, and for malformed event parameters.
  package init(_ bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let indicator = try reader.uint8("HCI packet: indicator")
    switch indicator {
    case Self.commandIndicator: self = .command(try CommandPacket(parsing: &reader))
    case Self.eventIndicator: self = .event(try Event(parsing: &reader))
    case Self.aclIndicator: self = .acl(try ACLData(parsing: &reader))
    default: self = .unknown(indicator: indicator, bytes: reader.rest())
    }
  }
}
