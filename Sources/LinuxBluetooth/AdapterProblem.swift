package import Bluetooth
package import HCI
import LinuxIO
package import SystemPackage

/// Why an adapter cannot be used. Adapters go by their names: `hci0`.
package enum AdapterProblem: Error, Sendable, Equatable {
  /// socket(AF_BLUETOOTH) fails: the kernel is built without Bluetooth, or this is a container or WSL.
  case kernelWithoutBluetooth
  /// - Parameter platformBlock: the switch that keeps one from being there.
  case none(platformBlock: RFKill.Switch?)
  /// - Parameter others: those that there are; empty when that is not known.
  case unknown(String, others: [String])
  case down(String)
  /// - Parameter by: nil where only errno tells.
  case blocked(String, by: RFKill.Switch?)
  case withoutLE(String)
  /// The kernel has LE switched off on this adapter.
  case leDisabled(String)
  case notPermitted(String, to: AdapterUse)
  /// Someone has the HCI user channel.
  case taken(String)
  /// The user channel is wanted and the kernel's stack uses the adapter.
  case inUse(String)
  case unplugged(String)
  /// The controller did not answer a command, and the kernel has not reset it.
  case silent(String, Opcode, after: Duration)
  case other(String, AdapterUse, Errno)

  /// What a raw HCI socket's errno means.
  static func of(_ error: Errno, adapter name: String, _ use: AdapterUse) -> Self {
    switch error {
    case .addressFamilyNotSupported, .protocolNotSupported: .kernelWithoutBluetooth
    case .notPermitted, .permissionDenied: .notPermitted(name, to: use)
    case .networkDown: .down(name)
    case .operationNotSupportedByDevice: .unknown(name, others: [])
    case .blockedByRFKill: .blocked(name, by: nil)
    case .tooManyUsers: .taken(name)
    case .brokenPipe, .badDescriptorState: .unplugged(name)
    default: .other(name, use, error)
    }
  }
}

/// What an adapter was wanted for.
package enum AdapterUse: Sendable, Equatable {
  case listing
  case opening
  case using
  case openingUserChannel
  case usingUserChannel
  case askingAbilities
  case scanning
  case connecting(PeerAddress)
  case changingConnection
  case disconnecting
}
