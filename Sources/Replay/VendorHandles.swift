package import Captures
package import HCI

/// The connection handles of a log that controllers use for diagnostics to their vendor's tools, as ACL data: Qualcomm 0x0EDC, Samsung
/// 0x0FF1. No link has them.
package struct VendorHandles: Sendable {
  /// Whether the log starts with Reset, and so has the start of every link, by adapter.
  private var isFromStart: [UInt16: Bool] = [:]
  /// The adapters and handles in events.
  private var opened: Set<UInt32> = []
  /// Whether the log lacks no packet. A lost packet may be the event that opened a link.
  package var isWhole = true

  package init() {}

  /// Takes the next packet. Data may appear before the event that opens its link, so pass the whole log first.
  package mutating func note(_ record: Snoop.Record) {
    let packet = record.packet
    let isReset = packet.starts(with: [Packet.commandIndicator, 0x03, 0x0C])
    // Connection Complete of BR/EDR has its handle at the same place as Disconnection Complete.
    let isClassic = packet.starts(with: [Packet.eventIndicator, 0x03]) && packet.count >= 6
    let offset = isClassic ? 4 : RecordedEvent.handleOffset(packet)
    let handle = offset.map { ConnectionHandle(UInt16(packet[$0]) | UInt16(packet[$0 + 1]) << 8) }
    guard isReset || handle?.isReserved == false else { return }
    isFromStart[record.adapter] = isFromStart[record.adapter] ?? isReset
    if let handle, packet[0] == Packet.eventIndicator { opened.insert(Self.key(handle, record.adapter)) }
  }

  package func contains(_ handle: ConnectionHandle, _ adapter: UInt16) -> Bool {
    handle.isReserved || isWhole && isFromStart[adapter] == true && !opened.contains(Self.key(handle, adapter))
  }

  package static func key(_ handle: ConnectionHandle, _ adapter: UInt16) -> UInt32 { UInt32(adapter) << 16 | UInt32(handle.rawValue) }
}
