package import ATT
package import Bluetooth
package import EventLoop

/// The interface of the radios: scan and connect. Implemented by the kernel's sockets and by our own host.
@LoopActor
package protocol Central: AnyObject {
  /// The handler of notes on actions on the user's behalf.
  var onNote: (@LoopActor (GAPNote) -> Void)? { get set }

  /// The reason why the adapter is unusable, for example because the user unplugged it. Nil while it works.
  var failure: (any Error)? { get }

  /// The controller of our own host. Nil if the kernel's host uses the controller.
  var controllerFacts: ControllerFacts? { get }

  /// Scans until the caller cancels the task. The scan is off when this function returns or throws.
  /// - Parameter started: runs once, when the controller has confirmed the scan.
  /// - Throws: CancellationError at the end. GAPError, ControllerError or an error of the host if scanning is impossible.
  func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws

  /// Connects to a device, and opens its ATT channel. The address type must be right, so scan first.
  /// If the host cannot scan and connect at once, a scan ends with GAPError.scanEnded.
  /// - Parameters:
  ///   - retries: the number of retries if the link fails to be established (0x3E), or the device closes it before `confirm` returns.
  ///   - confirm: receives each new link and the number of remaining retries. Its error disconnects the link.
  /// - Throws: GAPError.noConnection after `timeout`, GAPError, Disconnection, ControllerError, a host's error, CancellationError. No link stays.
  func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value

  /// Looks up a device that needs no scan. Either any program has already connected it to this adapter, so it may not advertise,
  /// or a recording contains only its connection.
  /// - Returns: nil if there is no such device, or the host does not know.
  func connectedPeer(_ address: Address) -> PeerAddress?

  /// Disconnects all links, stops the scan and closes descriptors. Takes a few seconds at most. Works in a canceled task.
  func close() async
}

extension Central {
  package var controllerFacts: ControllerFacts? { nil }
}

/// The controller of our own host.
package struct ControllerFacts: Sendable, Equatable {
  /// The adapter in the syntax of `--adapter`.
  package let name: String
  /// The public address. Nil if it has none.
  package let address: Address?
  /// The abilities, in the words of the command `adapters`.
  package let features: [String]

  package init(name: String, address: Address?, features: [String]) {
    self.name = name
    self.address = address
    self.features = features
  }
}

/// The scan parameters (Vol 4 Part E §7.8.10 and §7.8.64).
package struct ScanParameters: Sendable, Equatable {
  /// Whether to send scan requests, which is necessary for scan responses.
  package var isActive = true
  /// The PHYs: 1M, coded or both. 2M is never a primary advertising PHY.
  package var phys: Set<PHY> = [.le1M]

  package init() {}
}

/// One LE ACL link with its ATT channel.
@LoopActor
package protocol Link: AnyObject, Sendable {
  var peer: PeerAddress { get }
  var channel: any ATT.Channel { get }

  /// The handler of the link's known parameters. Runs after each change, whatever caused it, until the link is down.
  var onParameters: (@LoopActor (LinkParameters) -> Void)? { get set }

  /// Queries the current parameters of the link from the controller. Unknown parts are nil.
  func parameters() async throws -> LinkParameters

  /// Requests a connection interval (LE Connection Update). Returns the agreed parameters.
  /// - Parameter interval: 7.5 ms … 4 s.
  func requestInterval(_ interval: Duration) async throws -> LinkParameters
  /// Requests a PHY for transmitter and receiver (LE Set PHY). Returns the agreed parameters.
  func requestPHY(_ phy: PHY) async throws -> LinkParameters
  /// Requests a data length (LE Set Data Length). Returns the agreed parameters.
  /// - Parameter octets: 27…251.
  func requestDataLength(_ octets: Int) async throws -> LinkParameters

  /// Disconnects the link. Returns when the link is down, or after a few seconds. Idempotent. Works in a canceled task.
  func disconnect() async
}

package struct LinkParameters: Sendable, Equatable {
  /// The connection interval.
  package var interval: Duration?
  /// The peripheral latency, in connection events.
  package var latency: Int?
  package var supervisionTimeout: Duration?
  /// The PHY of the transmitter.
  package var phy: PHY?
  /// The largest LL payload that we may send, 27…251 bytes.
  package var maxTxOctets: Int?
  package var maxRxOctets: Int?
  /// The RSSI in dBm.
  package var rssi: Int8?

  package init() {}
}
