import Text

/// A Bluetooth device address, 48 bits. Printed most significant octet first; on the air least significant first (Vol 6 Part B §1.3).
package struct Address: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The address as a number: `A4:C1:38:00:11:22` is 0xA4C138001122. The upper 16 bits are zero.
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue & 0xFFFF_FFFF_FFFF }

  /// Six hex octets separated by colons, dashes or nothing, either case.
  package init?(_ text: some StringProtocol) {
    let text = String(text)
    if text.utf8.count == 12, let value = Hex.number(text) {
      self.init(rawValue: value)
      return
    }
    let octets = text.split(separator: text.contains("-") ? "-" : ":", omittingEmptySubsequences: false)
    guard octets.count == 6 else { return nil }
    var value: UInt64 = 0
    for octet in octets {
      guard octet.utf8.count == 2, let byte = Hex.number(octet) else { return nil }
      value = value << 8 | byte
    }
    self.init(rawValue: value)
  }

  /// - Parameter bytes: six octets, most significant first; nil for any other count.
  package init?(bigEndian bytes: some Collection<UInt8>) {
    guard bytes.count == 6 else { return nil }
    self.init(rawValue: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Most significant octet first, as printed.
  package var bigEndianBytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> (40 - 8 * UInt64($0))) } }
  /// Least significant octet first, as on the air and in `bdaddr_t`.
  package var littleEndianBytes: [UInt8] { bigEndianBytes.reversed() }

  package var description: String { Hex.encode(rawValue, octets: 6, separator: UInt8(ascii: ":"), .upper) }
}

/// Whether a device address is assigned by the IEEE or chosen by the device (Vol 6 Part B §1.3).
package enum AddressType: String, Hashable, Sendable, CaseIterable {
  case `public`
  case random
}

/// What a link is made to: the same 48 bits mean another device with the other type.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  package let address: Address
  package let type: AddressType

  package init(_ address: Address, _ type: AddressType) {
    self.address = address
    self.type = type
  }

  package var description: String { "\(address)/\(type.rawValue)" }

  /// The sub-type of a random address by its two most significant bits (Vol 6 Part B §1.3.2); nil for public ones.
  package var randomKind: RandomKind? {
    guard type == .random else { return nil }
    return switch address.rawValue >> 46 {
    case 0b11: .static
    case 0b01: .resolvablePrivate
    case 0b00: .nonResolvablePrivate
    default: .reserved
    }
  }

  package enum RandomKind: String, Sendable { case `static`, resolvablePrivate, nonResolvablePrivate, reserved }
}
