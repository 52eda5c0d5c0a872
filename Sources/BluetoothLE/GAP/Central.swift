// SPDX-License-Identifier: Apache-2.0
/// The interface of a host that scans and connects. The kernel's sockets and blectl's own host implement the interface.
@LoopActor
package protocol Central: AnyObject {
  /// The handler of notes about actions and observations of the host.
  var onNote: (@LoopActor (GAPNote) -> Void)? { get set }

  /// The reason why the adapter is unusable, for example because the user unplugged it. Nil while the adapter works.
  var failure: (any Error)? { get }

  /// The identity address of the adapter, for which the key store keeps bonds. Nil if this host does not pair.
  var identity: PeerAddress? { get }

  /// Gives the host the bonds of the adapter, which the kernel needs as a whole.
  func useBonds(_ bonds: @escaping @LoopActor () throws -> [Bond])

  /// The controller of blectl's own host. Nil if the kernel's host uses the controller.
  var controllerFacts: ControllerFacts? { get }

  /// The peripheral role on the same adapter. Nil if this host cannot advertise and take connections.
  var peripheral: (any PeripheralRole)? { get }

  /// Scans until the caller cancels the task. The host has stopped the scan when this function returns or throws.
  /// - Parameter started: runs once, after the controller has confirmed the scan.
  /// - Throws: CancellationError after cancellation. GAPError, ControllerError or an error of the host if scanning is impossible.
  func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws

  /// Connects to a device, and opens its ATT channel. Scan first to learn the address type. No link remains after an error.
  /// If the host cannot scan and connect at the same time, a running scan ends with `GAPError.scanEnded`.
  /// - Parameters:
  ///   - retries: the number of retries if the link fails to be established (0x3E), or the device closes it before `confirm` returns.
  ///   - confirm: receives each new link and the number of remaining retries. If `confirm` throws, the host disconnects the link.
  /// - Throws: GAPError.noConnection after `timeout`, GAPError, Disconnection, ControllerError, an error of the host, CancellationError.
  func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value

  /// Finds a device that needs no scan. Either a program has already connected it to this adapter, so that it may not advertise,
  /// or a recording contains only its connection.
  /// - Returns: nil if no such device exists, or if the host does not know.
  func connectedPeer(_ address: Address) -> PeerAddress?

  /// Disconnects all links, stops the scan and closes the descriptors, in a few seconds at most. Also works in a canceled task.
  func close() async
}

extension Central {
  package var controllerFacts: ControllerFacts? { nil }
  package var identity: PeerAddress? { nil }
  package var peripheral: (any PeripheralRole)? { nil }
  package func useBonds(_ bonds: @escaping @LoopActor () throws -> [Bond]) {}
}

/// The properties of the controller that blectl's own host uses.
package struct ControllerFacts: Sendable, Equatable {
  /// The adapter's name in the syntax of `--adapter`.
  package let name: String
  /// The controller's public address. Nil if it has none.
  package let address: Address?
  /// The names of the controller's features, such as `extended_advertising`, as `blectl adapters` prints them.
  package let features: [String]
}

/// The parameters of a scan (Vol 4 Part E §7.8.10 and §7.8.64).
package struct ScanParameters: Sendable, Equatable {
  /// Whether the controller sends scan requests, without which it receives no scan responses.
  package var isActive = true
  /// The PHYs on which to scan: 1M, Coded or both. 2M is never a primary advertising PHY.
  package var phys: Set<PHY> = [.le1M]

  package init() {}
}

/// One LE ACL link with its ATT channel.
@LoopActor
package protocol Link: AnyObject, Sendable {
  var peer: PeerAddress { get }
  var channel: any Channel { get }

  /// The pairing and the encryption of the link. Nil if this host does not pair.
  var security: (any SecurityProcedures)? { get }

  /// The handler of the link's known parameters. Runs after each change, until the link is down.
  var onParameters: (@LoopActor (LinkParameters) -> Void)? { get set }

  /// Queries the current parameters of the link. Parameters that the controller does not report are nil.
  func parameters() async throws -> LinkParameters

  /// Requests a connection interval (LE Connection Update). Returns the parameters in effect after the procedure.
  /// - Parameter interval: the connection interval, 7.5 ms…4 s.
  func requestInterval(_ interval: Duration) async throws -> LinkParameters
  /// Requests a PHY for transmitter and receiver (LE Set PHY). Returns the parameters in effect after the procedure.
  func requestPHY(_ phy: PHY) async throws -> LinkParameters
  /// Requests a data length (LE Set Data Length). Returns the parameters in effect after the procedure.
  /// - Parameter bytes: the largest link-layer payload in each packet, 27…251 bytes.
  func requestDataLength(_ bytes: Int) async throws -> LinkParameters

  /// Disconnects the link. Returns when the link is down, or after a few seconds. Idempotent. Works in a canceled task.
  func disconnect() async
}

extension Link { package var security: (any SecurityProcedures)? { nil } }

package struct LinkParameters: Sendable, Equatable {
  /// The connection interval. Nil if unknown.
  package var interval: Duration?
  /// The peripheral latency, in connection events. Nil if unknown.
  package var latency: Int?
  package var supervisionTimeout: Duration?
  /// The PHY on which the local controller sends. Nil if unknown.
  package var phy: PHY?
  /// The largest link-layer payload that the local controller may send, 27…251 bytes. Nil if unknown.
  package var maxTxOctets: Int?
  package var maxRxOctets: Int?
  /// The RSSI of the link in dBm. Nil if unknown.
  package var rssi: Int8?

  package init() {}
}
