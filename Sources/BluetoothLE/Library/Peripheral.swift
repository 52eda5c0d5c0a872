// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The address of a device (Vol 6 Part B §1.3). Two addresses of one device, such as successive private addresses, are two values.
///
/// A ``Discovery`` has one, ``Adapter/find(_:within:)`` returns one, and ``Adapter/withConnection(to:_:_:)`` takes one.
public struct Peripheral: Hashable, Sendable, CustomStringConvertible {
  let peer: PeerAddress
  /// The name that a scan heard. A bond keeps it, so that ``Adapter/find(_:within:)`` refuses another device of this name.
  let name: UntrustedText?

  init(_ peer: PeerAddress, name: UntrustedText? = nil) { (self.peer, self.name) = (peer, name) }

  /// Creates a peripheral from an address that is known without a scan.
  /// - Parameters:
  ///   - address: Six bytes in hex, the most significant first, such as `D1:00:00:00:00:10`.
  ///   - isRandom: Whether the address is random (Vol 6 Part B §1.3). Only a scan or the maker of the device can tell.
  /// - Returns: Nil if the text is not an address.
  public init?(address: String, isRandom: Bool) {
    guard let address = Address(address) else { return nil }
    self.init(PeerAddress(address, isRandom ? .random : .public))
  }

  /// The address in hex, such as `D1:00:00:00:00:10`.
  public var address: String { peer.address.description }

  /// Whether the address is random.
  public var isRandom: Bool { peer.type == .random }

  /// The address and its type, such as `D1:00:00:00:00:10/random`.
  public var description: String { peer.description }

  public static func == (one: Self, other: Self) -> Bool { one.peer == other.peer }

  public func hash(into hasher: inout Hasher) { hasher.combine(peer) }
}
