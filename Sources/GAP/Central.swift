package import ATT
package import Bluetooth
package import EventLoop

/// The seam above the radios: scan and connect. Implemented by the kernel's sockets and by our own host.
@LoopActor
package protocol Central: AnyObject {
  /// What is done on the user's behalf without being asked.
  var onNote: (@LoopActor (GAPNote) -> Void)? { get set }

  /// Why nothing can be done with the adapter any more, as after it was pulled out; nil as long as it works.
  var failure: (any Error)? { get }

  /// The controller of our own host. Nil if the kernel's host uses the controller.
  var controllerFacts: ControllerFacts? { get }

  /// Scans until the task is cancelled; the scan is off when this returns or throws.
  /// - Parameter started: called once when the controller has confirmed that it scans.
  /// - Throws: CancellationError at the end; GAPError, ControllerError, or an error of the host when scanning is impossible.
  func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws

  /// Makes a link and its ATT channel. A scan ends with GAPError.scanEnded where the host cannot do both. The type of the address must be right: scan for it before.
  /// - Parameters:
  ///   - retries: how often it is tried again when it fails to be established (0x3E), or the device closes it before `confirm` has returned.
  ///   - confirm: runs on each link that is made, with the number of retries that are left. What it throws takes the link down.
  /// - Throws: GAPError.noConnection after `timeout`; GAPError, LinkEnd, ControllerError, or an error of the host; CancellationError. Nothing
  ///   is left behind.
  func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value

  /// Looks up a device that can be used without a scan: it is already connected to this adapter, by any program, and so may not advertise; or it
  /// is in a recording that has its connection only.
  /// - Returns: nil when there is no such device, or the host cannot tell.
  func connectedPeer(_ address: Address) -> PeerAddress?

  /// Links down, scan off, descriptors closed. Limits itself to a few seconds; works in a cancelled task.
  func close() async
}

extension Central {
  package var controllerFacts: ControllerFacts? { nil }
}

/// The controller of our own host.
package struct ControllerFacts: Sendable, Equatable {
  /// The adapter as `--adapter` names it.
  package let name: String
  /// The public address. Nil if it has none.
  package let address: Address?
  /// The words of `adapters` for its abilities.
  package let features: [String]

  package init(name: String, address: Address?, features: [String]) {
    self.name = name
    self.address = address
    self.features = features
  }
}

/// Vol 4 Part E §7.8.10 and §7.8.64.
package struct ScanParameters: Sendable, Equatable {
  /// Sends scan requests and so sees scan responses.
  package var isActive = true
  /// 1M, coded or both; 2M is never a primary advertising PHY.
  package var phys: Set<PHY> = [.le1M]

  package init() {}
}

/// One LE ACL link with its ATT channel.
@LoopActor
package protocol Link: AnyObject, Sendable {
  var peer: PeerAddress { get }
  var channel: any ATT.Channel { get }

  /// Told what is known of the link when that changes, whoever asked for it, until the link is down.
  var onParameters: (@LoopActor (LinkParameters) -> Void)? { get set }

  /// What the controller reports about the link now; unknown parts are nil.
  func parameters() async throws -> LinkParameters

  /// LE Connection Update. - Parameter interval: 7.5 ms … 4 s. Returns what was agreed.
  func requestInterval(_ interval: Duration) async throws -> LinkParameters
  /// LE Set PHY, transmitter and receiver alike. Returns what was agreed.
  func requestPHY(_ phy: PHY) async throws -> LinkParameters
  /// LE Set Data Length. - Parameter octets: 27…251. Returns what was agreed.
  func requestDataLength(_ octets: Int) async throws -> LinkParameters

  /// Returns when the link is down, or after a few seconds at most. Idempotent; works in a cancelled task.
  func disconnect() async
}

package struct LinkParameters: Sendable, Equatable {
  /// Connection interval.
  package var interval: Duration?
  /// Peripheral latency, in connection events.
  package var latency: Int?
  package var supervisionTimeout: Duration?
  /// Transmitter PHY.
  package var phy: PHY?
  /// Largest LL payload we may send, 27…251 octets.
  package var maxTxOctets: Int?
  package var maxRxOctets: Int?
  /// dBm.
  package var rssi: Int8?

  package init() {}
}
