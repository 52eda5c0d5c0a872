package import Bluetooth
import Text

/// The PEER of the command line.
package enum PeerSelector: Sendable, Equatable, CustomStringConvertible {
  /// Without a type, that is found by scanning.
  case address(Address, AddressType?)
  /// A glob, case-insensitive.
  case name(String)
  /// The MAC that the advertisement carries inside its data.
  case mac(Address)
  case service(UUID)
  /// The one connected last.
  case last
  /// From the configuration file.
  case alias(String)

  package init?(_ text: String) {
    if text == "@last" {
      self = .last
    } else if text.hasPrefix("@"), text.count > 1 {
      self = .alias(String(text.dropFirst()))
    } else if let pattern = text.after("name:"), !pattern.isEmpty {
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
    case .last: "@last"
    case .alias(let name): "@\(name)"
    }
  }

  /// One match is all there can be: no need to wait for a stronger one.
  package var isUnique: Bool {
    switch self {
    case .address, .mac: true
    default: false
    }
  }
}
