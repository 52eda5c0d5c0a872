import CBluetoothLEBlueZ
import Glibc
import SystemPackage

extension SocketAddress {
  /// Creates a `struct sockaddr_hci`, 6 bytes.
  /// - Parameter channel: HCI_CHANNEL_RAW or HCI_CHANNEL_USER.
  static func hci(adapter: UInt16, channel: Int32) -> Self {
    var address = sockaddr_hci()
    address.hci_family = sa_family_t(AF_BLUETOOTH)
    address.hci_dev = adapter
    address.hci_channel = UInt16(truncatingIfNeeded: channel)
    return Self(address)
  }

  /// Creates a `struct sockaddr_l2`, 14 bytes, for the ATT fixed channel (PSM 0, CID 4).
  /// - Parameter address: A Bluetooth address. Nil is BDADDR_ANY.
  static func att(_ address: Address?, _ type: AddressType) -> Self {
    var result = sockaddr_l2()
    result.l2_family = sa_family_t(AF_BLUETOOTH)
    result.l2_cid = UInt16(4).littleEndian
    result.l2_bdaddr_type = UInt8(type == .public ? BDADDR_LE_PUBLIC : BDADDR_LE_RANDOM)
    if let address {
      unsafe withUnsafeMutableBytes(of: &result.l2_bdaddr) { unsafe $0.copyBytes(from: address.littleEndianBytes) }
    }
    return Self(result)
  }
}

extension SystemCall {
  /// Opens an HCI socket without a channel, which needs no capability.
  static func hciSocket() throws(Errno) -> OwnedDescriptor { try socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI) }
}

/// A filter that selects the packets for a raw HCI socket (`struct hci_filter`).
struct HCIFilter: Equatable {
  /// The packet types, a bit mask. Bit n is packet indicator n.
  var types: UInt32
  /// The events, a bit mask. Bit n is event code n, modulo 64.
  var events: UInt64

  /// The filter without a trace. Selects commands of other programs, Disconnection Complete, Encryption Change, Command
  /// Complete, Command Status and LE Meta.
  /// Without CAP_NET_RAW, the kernel removes the commands and LE Meta.
  static let needed = Self(indicators: [1, 4], events: [0x05, 0x08, 0x0E, 0x0F, 0x3E])
  /// The filter for a trace. Selects commands of other programs and all events.
  static let trace = Self(types: 1 << 1 | 1 << 4, events: .max)

  private init(types: UInt32, events: UInt64) { (self.types, self.events) = (types, events) }

  init(indicators: [UInt32], events codes: [UInt64]) {
    types = indicators.reduce(0) { $0 | 1 << $1 }
    events = codes.reduce(0) { $0 | 1 << ($1 & 63) }
  }

  var structure: hci_filter {
    var filter = hci_filter()
    filter.type_mask = types
    filter.event_mask = (UInt32(truncatingIfNeeded: events), UInt32(truncatingIfNeeded: events >> 32))
    return filter
  }
}
