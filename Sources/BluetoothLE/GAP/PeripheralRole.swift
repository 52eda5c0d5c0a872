// SPDX-License-Identifier: Apache-2.0
/// The interface of a host that advertises and takes connections. The kernel's sockets and blectl's own host implement the interface.
@LoopActor
package protocol PeripheralRole: AnyObject {
  /// The address that scanners see. Nil while the host does not know it: the kernel hides the sender of advertisements that are not
  /// connectable behind a private address.
  var advertisedAddress: PeerAddress? { get }
  /// Whether the links have a `manager`, so that the host pairs as the device demands. Otherwise the system pairs.
  var hasSecurityManager: Bool { get }

  /// Starts to advertise, or changes the data and the schedule of the advertisements. Nil stops them.
  /// Returns when the controller has confirmed the change. The host goes on advertising while centrals are connected, and afterwards.
  /// Set `onCentral` first: a central may connect before this function returns.
  /// - Throws: GAPError, ControllerError or an error of the host if the adapter cannot advertise exactly that.
  func advertise(_ advertising: Advertising?) async throws

  /// The handler of each link that a central established. Start the link's channel at once, because PDUs may already be waiting.
  /// Without a handler, the host disconnects such links.
  var onCentral: (@LoopActor (any CentralLink) -> Void)? { get set }
  /// The handler of the error that makes the adapter unusable. The links of centrals end on their own, before or after.
  var onFailure: (@LoopActor (any Error) -> Void)? { get set }

  /// Stops advertising, disconnects the centrals, and leaves the adapter as it was, in a few seconds at most. Idempotent.
  /// Does not close the adapter. Also works in a canceled task.
  func end() async
}

/// A link that a central established with our device.
@LoopActor
package protocol CentralLink: Link {
  /// The level of the link's encryption.
  var securityLevel: SecurityLevel { get }
  /// The handler that runs after each change of `securityLevel`.
  var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)? { get set }
  /// The Security Manager of the link, as peripheral. Nil if the kernel pairs.
  var manager: SecurityManager? { get }
  /// Disconnects the central, which receives `reason` where the host can choose it. Returns when the link is down, or after a few seconds.
  func disconnect(reason: ControllerErrorCode) async
}

/// The content and the schedule of a device's advertisements (Vol 4 Part E §7.8.5, §7.8.53).
package struct Advertising: Sendable, Equatable {
  /// The advertising data: at most 31 bytes in legacy PDUs.
  package var data: [UInt8] = []
  /// The data that answers scan requests, at most 31 bytes. Empty in connectable extended advertisements.
  package var scanResponse: [UInt8] = []
  package var isConnectable = true
  /// Whether the device uses extended PDUs, which hold up to 1,650 bytes where the controller can.
  package var isExtended = false
  /// The advertising interval, 20 ms to 10.24 s.
  package var interval: Duration = .milliseconds(100)

  package init() {}
}
