package import Bluetooth
import HCI

extension Recording {
  /// A device that the host connected, and whose advertisements are not in the recording: its connection tells the type of its address.
  package func unheardPeer(_ address: Address) -> PeerAddress? {
    let fitting = attempts.filter { $0.peer?.address == address }
    guard let attempt = fitting.first(where: { $0.link != nil }) ?? fitting.first else { return nil }
    return scans.contains { $0.reports.contains { Self.reports($0.octets, address) } } ? nil : attempt.peer
  }

  private static func reports(_ octets: [UInt8], _ address: Address) -> Bool {
    switch try? HCI.Packet(octets) {
    case .event(.leAdvertisingReports(let list))?: list.reports.contains { $0.address == address }
    case .event(.leExtendedAdvertisingReports(let list))?: list.reports.contains { $0.address == address }
    case .event(.leDirectedAdvertisingReports(let list))?: list.reports.contains { $0.address == address }
    default: false
    }
  }
}
