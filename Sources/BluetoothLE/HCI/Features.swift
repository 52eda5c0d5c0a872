// SPDX-License-Identifier: Apache-2.0
/// The LE feature set of the controller or of a peer (Vol 6 Part B §4.6).
package struct LEFeatures: OptionSet, Sendable, Hashable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let encryption = Self(rawValue: 1 << 0)
  package static let connectionParametersRequest = Self(rawValue: 1 << 1)
  package static let extendedReject = Self(rawValue: 1 << 2)
  package static let peripheralInitiatedFeatures = Self(rawValue: 1 << 3)
  package static let dataLengthExtension = Self(rawValue: 1 << 5)
  package static let extendedScannerFilter = Self(rawValue: 1 << 7)
  package static let phy2M = Self(rawValue: 1 << 8)
  package static let phyCoded = Self(rawValue: 1 << 11)
  package static let extendedAdvertising = Self(rawValue: 1 << 12)
  package static let channelSelection2 = Self(rawValue: 1 << 14)
}

/// A set of LE PHYs in HCI commands (Vol 4 Part E §7.8.49): bit 0 1M, bit 1 2M, bit 2 coded. Preserves reserved bits.
package struct PHYMask: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package init(_ phys: some Sequence<PHY>) { self.init(phys.map { Self($0) }) }

  package init(_ phy: PHY) {
    switch phy {
    case .le1M: self = .le1M
    case .le2M: self = .le2M
    case .coded: self = .coded
    }
  }

  package static let le1M = Self(rawValue: 1)
  package static let le2M = Self(rawValue: 2)
  package static let coded = Self(rawValue: 4)

  /// The PHYs of the known bits, in the order of the bits.
  package var phys: [PHY] { PHY.allCases.filter { contains(Self($0)) } }
}

extension PeerAddress {
  /// Creates an address from an HCI address type. 0 and 2 are public, and 1, 3 and 0xFE are random.
  /// The types 2 and 3 mean a resolved identity, 0xFE an unresolved address. Nil for other types, such as 0xFF (anonymous).
  package init?(hciType: UInt8, _ address: Address) {
    switch hciType {
    case 0x00, 0x02: self.init(address, .public)
    case 0x01, 0x03, 0xFE: self.init(address, .random)
    default: return nil
    }
  }
}

extension AddressType {
  /// The address type in HCI commands and events. 0 is public, 1 is random.
  package var hciValue: UInt8 { self == .public ? 0 : 1 }
}
