package import BluetoothLE

/// Functions that read fields of encoded HCI packets at fixed offsets, without decoding the packets.
package enum RecordedEvent {
  private static let enableEncryption = Opcode(rawValue: 0x2019)

  enum Kind: Equatable {
    case answer(Opcode)
    case report
    case connectionComplete
    case disconnectionComplete
    case completedPackets
    case other
  }

  /// Returns the kind of an HCI packet that starts with its H4 indicator byte.
  static func kind(_ bytes: [UInt8]) -> Kind {
    guard bytes.count >= 3, bytes[0] == Packet.eventIndicator else { return .other }
    switch bytes[1] {
    case 0x05: return .disconnectionComplete
    case 0x0E where bytes.count >= 6: return .answer(Opcode(rawValue: bytes.uint16(at: 4)))
    case 0x0F where bytes.count >= 7: return .answer(Opcode(rawValue: bytes.uint16(at: 5)))
    case 0x13: return .completedPackets
    case 0x3E where bytes.count >= 4:
      switch bytes[3] {
      case 0x02, 0x0B, 0x0D: return .report
      case 0x01, 0x0A, 0x29: return .connectionComplete
      default: return .other
      }
    default: return .other
    }
  }

  /// Returns a copy of the packet with another connection handle. A nil offset stands for `LinkPacket.handleOffset`.
  static func with(_ handle: ConnectionHandle, _ bytes: [UInt8], at offset: Int? = nil) -> [UInt8] {
    guard let offset = offset ?? LinkPacket.handleOffset(bytes), offset + 2 <= bytes.count else { return bytes }
    var bytes = bytes
    bytes[offset] = UInt8(truncatingIfNeeded: handle.rawValue)
    // The upper four bits are flags in data, reserved in events.
    bytes[offset + 1] = bytes[offset + 1] & 0xF0 | UInt8(truncatingIfNeeded: handle.rawValue >> 8)
    return bytes
  }

  /// Returns whether the event reports the outcome of a procedure that a command with this opcode started.
  static func ends(_ bytes: [UInt8], _ opcode: Opcode) -> Bool {
    guard bytes.count >= 4, bytes[0] == Packet.eventIndicator else { return false }
    return switch (bytes[1], opcode) {
    case (0x05, Disconnect.opcode), (0x0C, ReadRemoteVersion.opcode), (0x08, enableEncryption), (0x30, enableEncryption): true
    case (0x3E, LEConnectionUpdate.opcode): bytes[3] == 0x03
    case (0x3E, LEReadRemoteFeatures.opcode): bytes[3] == 0x04
    case (0x3E, LESetDataLength.opcode): bytes[3] == 0x07
    case (0x3E, LESetPHY.opcode): bytes[3] == 0x0C
    default: false
    }
  }

  /// Returns whether the event has only one report, which is a scan response. A passive scan does not receive such an event.
  static func isScanResponse(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 7, bytes[1] == 0x3E, bytes[4] == 1 else { return false }
    return bytes[3] == 0x02 ? bytes[5] == 0x04 : bytes[3] == 0x0D && bytes[5] & 0x08 != 0
  }
}

/// The connection handles that controllers use only to send diagnostics as ACL data to their vendor's tools. No link has these handles.
/// Examples are 0x0EDC (Qualcomm) and 0x0FF1 (Samsung).
package struct VendorHandles: Sendable {
  /// Whether the log of an adapter starts with Reset and so contains the start of every link, by adapter number.
  private var isFromStart: [UInt16: Bool] = [:]
  /// The adapters and connection handles that occur in events, as `key` combines them.
  private var opened: Set<UInt32> = []
  /// Whether the log lacks no packet. A lost packet may be the event that opened a link.
  package var isWhole = true

  package init() {}

  /// Adds the next packet of the log. Add the whole log before `contains`, because data can precede the event that opens its link.
  package mutating func note(_ record: Snoop.Record) {
    let packet = record.packet
    let isReset = packet.starts(with: [Packet.commandIndicator, 0x03, 0x0C])
    // Connection Complete of BR/EDR has its handle at the same place as Disconnection Complete.
    let isClassic = packet.starts(with: [Packet.eventIndicator, 0x03]) && packet.count >= 6
    let offset = isClassic ? 4 : LinkPacket.handleOffset(packet)
    let handle = offset.map { ConnectionHandle(packet.uint16(at: $0)) }
    guard isReset || handle?.isReserved == false else { return }
    isFromStart[record.adapter] = isFromStart[record.adapter] ?? isReset
    // Diagnostics come from the controller, and may look like a frame.
    let isSent = record.direction == .hostToController
    if let handle, packet[0] == Packet.eventIndicator || isSent && Self.isFrame(packet) { opened.insert(Self.key(handle, record.adapter)) }
  }

  /// Returns whether ACL data starts an L2CAP frame of ATT, signaling or pairing.
  private static func isFrame(_ packet: [UInt8]) -> Bool {
    packet.count > 9 && Int(packet.uint16(at: 5)) >= packet.count - 9 && (4...6).contains(packet.uint16(at: 7)) && packet[2] >> 4 & 3 != 1
  }

  package func contains(_ handle: ConnectionHandle, _ adapter: UInt16) -> Bool {
    handle.isReserved || isWhole && isFromStart[adapter] == true && !opened.contains(Self.key(handle, adapter))
  }

  package static func key(_ handle: ConnectionHandle, _ adapter: UInt16) -> UInt32 { UInt32(adapter) << 16 | UInt32(handle.rawValue) }
}
