/// The reason why blectl cannot use keys or pair through the kernel.
package enum KernelPairingProblem: Error, Sendable, Equatable {
  /// A bond of blectl while bluetoothd runs. bluetoothd has keys of its own, and loading ours would replace them.
  case bluetoothdRuns(PeerAddress)
  /// The process lacks CAP_NET_ADMIN.
  case notPermitted(String)
  /// The kernel has no Security Manager for the adapter, because `hciconfig up` switched it on.
  case noSecurityManager(String)
  /// The kernel displays a passkey of its own choice, but the user chose one.
  case choosesPasskey(String)
  /// Another pairing on the adapter does not end. It locks the folder.
  case otherPairing(String, _ folder: String)
  /// The kernel refused the management command with a status of the management channel.
  case refused(String, command: UInt16, status: UInt8)
  /// The kernel did not answer the management command.
  case silent(String, command: UInt16)

  /// Creates the problem for a status of the management channel other than success.
  init(_ adapter: String, _ command: ManagementCommand, _ status: UInt8) {
    self =
      status == ManagementStatus.permissionDenied ? .notPermitted(adapter) : .refused(adapter, command: command.opcode, status: status)
  }
}
