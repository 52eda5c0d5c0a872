// SPDX-License-Identifier: Apache-2.0
/// A refusal of the controller because of its other activities, perhaps for another program.
package enum HostError: Error, Sendable, Equatable {
  /// Command Disallowed (0x0C) after LE (Extended) Create Connection (Vol 4 Part E §7.8.12, §7.8.66).
  /// This host had already canceled the attempt that another host left behind.
  case cannotConnect(adapter: String, PeerAddress)

  /// Connection Already Exists (0x0B) for a link that this host does not know.
  case hasLinkAlready(adapter: String, PeerAddress)

  /// Command Disallowed (0x0C) after the commands of a scan, although this host disabled the scan that another host had left on.
  /// - Parameter isExtended: Whether the host sent the commands of an extended scan.
  case cannotScan(adapter: String, isExtended: Bool)

  /// Command Disallowed (0x0C) after the commands of advertising.
  /// - Parameter isExtended: Whether the host sent commands of extended advertising.
  case cannotAdvertise(adapter: String, isExtended: Bool)
}

extension HostError: PassingError { package var mayPass: Bool { true } }

extension ControllerError: PassingError {
  /// Only a lost link may pass, not a controller out of order.
  package var mayPass: Bool { fault == .overflow }
}
