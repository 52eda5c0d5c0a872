package import SystemPackage

/// The reason why blectl cannot use an adapter. The text of a case is the adapter's name, such as `hci0`.
package enum AdapterProblem: Error, Sendable, Equatable {
  /// The kernel has no Bluetooth, or blectl runs in a container or WSL, so socket(AF_BLUETOOTH) fails.
  case kernelWithoutBluetooth
  /// The machine has no adapter. `platformBlock` is the rfkill switch that may hide an adapter from its bus.
  case none(platformBlock: RFKill.Switch?)
  /// The adapter does not exist. `others` are the names of existing adapters, empty if unknown.
  case unknown(String, others: [String])
  case down(String)
  /// An rfkill switch blocks the adapter. `by` is nil if blectl knows the block only from errno.
  case blocked(String, by: RFKill.Switch?)
  case withoutLE(String)
  /// The kernel has LE disabled on this adapter.
  case leDisabled(String)
  case notPermitted(String, to: AdapterUse)
  /// Another program owns the adapter through the HCI user channel.
  case taken(String)
  /// The kernel's stack or another program uses the adapter, so that blectl cannot open the user channel.
  case inUse(String)
  case unplugged(String)
  /// The controller did not answer the command with this opcode in the time `after`, and the kernel did not reset the controller.
  case silent(String, Opcode, after: Duration)
  case other(String, AdapterUse, Errno)

  /// Maps the errno of a raw HCI socket to a problem.
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

extension AdapterProblem: PassingError {
  /// An adapter that is gone or off may come back, as after a reset.
  package var mayPass: Bool {
    switch self {
    case .none, .unknown, .down, .unplugged: true
    default: false
    }
  }
}

/// The purpose for which the program needed an adapter.
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
