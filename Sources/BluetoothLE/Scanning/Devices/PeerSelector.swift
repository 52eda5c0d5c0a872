// SPDX-License-Identifier: Apache-2.0
/// A rule that selects a device by address, name, MAC or service.
package enum PeerSelector: Sendable, Equatable, CustomStringConvertible {
  /// The device's address. An address without a type needs a scan to learn the type.
  case address(Address, AddressType?)
  /// The device's name as a glob, ignoring case.
  case name(String)
  /// The MAC inside the device's advertising data.
  case mac(Address)
  /// A service UUID in the device's advertisement, in a list of services or with service data.
  case service(UUID)

  /// Parses `AA:BB:CC:DD:EE:FF`, `AA:BB:CC:DD:EE:FF/random`, `name:GLOB`, `mac:AA:BB:CC:DD:EE:FF` or `service:UUID`. Nil for other text.
  package init?(_ text: String) {
    if let pattern = text.after("name:"), !pattern.isEmpty {
      self = .name(pattern)
    } else if let mac = text.after("mac:") {
      guard let address = Address(mac) else { return nil }
      self = .mac(address)
    } else if let service = text.after("service:") {
      guard let uuid = AssignedNumbers.uuid(named: service) ?? UUID(service) else { return nil }
      self = .service(uuid)
    } else {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard let first = parts.first, let address = Address(first) else { return nil }
      switch parts.count {
      case 1: self = .address(address, nil)
      case 2:
        guard let type = AddressType(rawValue: parts[1].lowercased()) else { return nil }
        self = .address(address, type)
      default: return nil
      }
    }
  }

  package var description: String {
    switch self {
    case .address(let address, let type): "\(address)" + (type.map { "/\($0.rawValue)" } ?? "")
    case .name(let pattern): "name:\(pattern)"
    case .mac(let address): "mac:\(address)"
    case .service(let uuid): "service:\(uuid)"
    }
  }

  /// Whether at most one device can match, so that a search can stop at the first match.
  package var isUnique: Bool {
    switch self {
    case .address, .mac: true
    case .name, .service: false
    }
  }

  /// Whether the user named one device: by its address, or by a name without wildcards.
  package var isPlain: Bool {
    switch self {
    case .address: true
    case .name(let pattern): Glob(pattern).isLiteral
    case .mac, .service: false
    }
  }

  /// Returns whether the address or the name alone shows that the selector selects this peer. False for a MAC or a service.
  /// - Parameter name: The peer's name. Nil if no report had a name.
  package func means(_ peer: PeerAddress, named name: UntrustedText?) -> Bool {
    switch self {
    case .address(let address, let type): address == peer.address && (type == nil || type == peer.type)
    case .name(let pattern): name.map { Glob.matches(pattern, $0.raw) } ?? false
    case .mac, .service: false
    }
  }

  /// Returns whether the selector is the name of a bonded device, without wildcards. It then means this device, not another one of that name.
  package func isName(of stored: StoredBond) -> Bool {
    guard case .name(let pattern) = self, let name = stored.name else { return false }
    let glob = Glob(pattern)
    return glob.isLiteral && glob.matches(name)
  }

  /// Returns the selector of the identity that `identity` returns for an address. Otherwise, the same selector.
  package func identified(by identity: (PeerAddress) -> PeerAddress?) -> Self {
    guard case .address(let address, let type) = self, let known = identity(PeerAddress(address, type ?? .random)) else { return self }
    return .address(known.address, known.type)
  }

  /// Returns whether both selectors select the same device everywhere. Equal addresses match if either has no type.
  package func isSame(as other: Self) -> Bool {
    guard case .address(let address, let type) = self, case .address(address, let otherType) = other else { return self == other }
    return type == nil || otherType == nil || type == otherType
  }

  package func matches(_ device: DeviceView) -> Bool {
    switch self {
    case .address:
      means(device.peer, named: nil) || device.identity?.address.map { means($0, named: nil) } ?? false
    case .name: means(device.peer, named: device.name)
    case .mac: isIn(device.payloads.values)
    case .service(let uuid): device.services.contains(uuid)
    }
  }

  /// Returns whether advertising payloads contain the selector's service, or its whole MAC, forward or reversed, anywhere in the data.
  /// False for an address or a name.
  package func isIn(_ payloads: some Collection<[UInt8]>) -> Bool {
    payloads.contains {
      let data = Advertisement($0)
      return switch self {
      case .address, .name: false
      case .mac(let mac): MACFinder.learn(in: data, sender: mac).contains { !$0.isPartial }
      case .service(let uuid): data.serviceUUIDs.contains(uuid) || data.serviceData.contains { $0.uuid == uuid }
      }
    }
  }
}
