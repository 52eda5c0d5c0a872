package import Bluetooth

/// What a controller does not do for its host because of what else it does, perhaps for another program.
package enum HostError: Error, Sendable, Equatable {
  /// Command Disallowed (0x0C) in answer to LE (Extended) Create Connection (Vol 4 Part E §7.8.12, §7.8.66), although an attempt that was left
  /// behind has been cancelled.
  case cannotConnect(adapter: String, PeerAddress)

  /// Connection Already Exists (0x0B): a link that this host does not know.
  case hasLinkAlready(adapter: String, PeerAddress)

  /// Command Disallowed (0x0C) in answer to the commands of a scan, although a scan that was left on has been switched off.
  /// - Parameter isExtended: whether they were those of extended scanning.
  case cannotScan(adapter: String, isExtended: Bool)
}
