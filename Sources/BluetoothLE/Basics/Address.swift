// SPDX-License-Identifier: Apache-2.0
/// A Bluetooth device address of 48 bits. Text starts with the most significant byte, and packets with the least (Vol 6 Part B §1.3).
package struct Address: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The address as a number: `A4:C1:38:00:11:22` is 0xA4C138001122. The upper 16 bits are zero.
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue & 0xFFFF_FFFF_FFFF }

  /// Parses six hex bytes separated by colons, dashes or nothing, in upper or lower case. Nil for other text.
  package init?(_ text: some StringProtocol) {
    let text = String(text)
    if text.utf8.count == 12, let value = Hex.number(text) {
      self.init(rawValue: value)
      return
    }
    let bytes = text.split(separator: text.contains("-") ? "-" : ":", omittingEmptySubsequences: false)
    guard bytes.count == 6 else { return nil }
    var value: UInt64 = 0
    for byte in bytes {
      guard byte.utf8.count == 2, let byte = Hex.number(byte) else { return nil }
      value = value << 8 | byte
    }
    self.init(rawValue: value)
  }

  /// Creates an address from six bytes, most significant first. Nil for any other number of bytes.
  package init?(bigEndian bytes: some Collection<UInt8>) {
    guard bytes.count == 6 else { return nil }
    self.init(rawValue: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// The six bytes in the order of the text form, most significant first.
  package var bigEndianBytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> (40 - 8 * UInt64($0))) } }
  /// The six bytes in the order of packets and `bdaddr_t`, least significant first.
  package var littleEndianBytes: [UInt8] { bigEndianBytes.reversed() }

  package var description: String { Hex.encode(rawValue, bytes: 6, separator: UInt8(ascii: ":"), .upper) }
}

/// The type of a device address. The IEEE assigns a public address, and the device chooses a random one (Vol 6 Part B §1.3).
package enum AddressType: String, Hashable, Sendable, CaseIterable {
  case `public`
  case random
}

/// The address of a peer and the type of the address. A public and a random address with the same 48 bits belong to different devices.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  package let address: Address
  package let type: AddressType

  package init(_ address: Address, _ type: AddressType) { (self.address, self.type) = (address, type) }

  package var description: String { "\(address)/\(type.rawValue)" }

  /// The sub-type of a random address, from its two most significant bits (Vol 6 Part B §1.3.2). Nil for public addresses.
  package var randomKind: RandomKind? {
    guard type == .random else { return nil }
    return switch address.rawValue >> 46 {
    case 0b11: .static
    case 0b01: .resolvablePrivate
    case 0b00: .nonResolvablePrivate
    default: .reserved
    }
  }

  /// Whether the address never changes: a public address or a static random address.
  package var isIdentity: Bool { type == .public || randomKind == .static }

  package enum RandomKind: String, Sendable { case `static`, resolvablePrivate, nonResolvablePrivate, reserved }
}
