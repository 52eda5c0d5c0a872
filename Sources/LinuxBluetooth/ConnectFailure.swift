import Bluetooth
import GAP
import Glibc
import LinuxIO
import SystemPackage

/// What the errno of an ATT socket's connect() means. The kernel folds the controller's status into errno (`bt_to_errno`), and everything
/// that it has no errno for into ENOSYS.
struct ConnectFailure: ConnectionError, Equatable {
  enum Stage {
    /// From connect() itself: nothing has happened on the air.
    case starting
    /// From SO_ERROR, later.
    case completing
  }

  let errno: Errno
  let stage: Stage
  /// The status of the LE Connection Complete event, when we may see events.
  var status: ControllerErrorCode?
  /// The adapter was switched off meanwhile, which the kernel reports like a change of mind (ECONNABORTED).
  var isAdapterDown = false

  /// Connection Failed to be Established (0x3e) is chance: the peer did not hear the first packets. Once more usually works.
  var isWorthRetrying: Bool {
    stage == .completing && (errno == .noFunction && (status ?? .connectionFailedToBeEstablished) == .connectionFailedToBeEstablished)
  }

  /// - Parameters:
  ///   - seconds: the limit that the connection attempt had.
  func error(_ peer: PeerAddress, adapter: String, seconds: Double) -> BluetoothError {
    switch (stage, errno) {
    case (.starting, .connectionRefused):
      make(.adapter, "Bluetooth LE is switched off on \(adapter): try `sudo btmgmt -i \(adapter) le on`")
    case (.starting, .noRouteToHost): AdapterProblem.down(adapter).error
    case (.completing, .connectionAbort) where isAdapterDown: AdapterProblem.down(adapter).error
    case (.completing, .connectionRefused), (.completing, .timedOut): Self.timeout(peer, seconds: seconds)
    case (_, .resourceBusy):
      make(
        .adapter,
        "another program has or makes the connection to \(peer): if it is bluetoothd, `bluetoothctl disconnect \(peer.address)` frees it")
    case (_, .tooManyLinks): make(.adapter, "\(adapter) has as many connections as it can have; end one first (`hcitool con` lists them)")
    case (.completing, .connectionReset): make(.linkLost, "\(peer) ended the connection as soon as it was made")
    case (.completing, .connectionAbort): make(.linkLost, "the connection to \(peer) was given up on this side, perhaps by another program")
    case (.completing, .noFunction):
      make(
        .linkLost,
        "the connection to \(peer) failed to be established\(status.map { ": \($0)" } ?? ""); go nearer, or try again: interference is likely"
      )
    case (.completing, .permissionDenied), (.completing, .invalidExchange):
      make(.linkLost, "\(peer) refused the connection for security reasons; if it was paired, remove it on both sides and pair again")
    case (_, .operationNotSupportedByDevice), (_, .brokenPipe), (.completing, .noRouteToHost), (.completing, .networkDown):
      AdapterProblem.unplugged(adapter).error
    default: AdapterProblem.of(errno, adapter: adapter, purpose: "connecting to \(peer)").error
    }
  }

  static func timeout(_ peer: PeerAddress, seconds: Double) -> BluetoothError {
    let limit = seconds == seconds.rounded() ? String(Int(clamping: Int64(seconds))) : String(seconds)
    return BluetoothError(
      .timeout, "\(peer.address) did not connect within \(limit) s: it is off, out of range, or connected to someone else")
  }

  private func make(_ kind: BluetoothError.Kind, _ message: String) -> BluetoothError {
    guard let status else { return BluetoothError(kind, message, code: Int(errno.rawValue), name: errno.snakeName) }
    return BluetoothError(kind, message, code: Int(status.rawValue), name: status.snakeName)
  }
}

/// Why a link that was up is down.
enum SocketEnd {
  /// - Parameters:
  ///   - errno: what the ATT socket said; nil when it was just closed.
  ///   - reason: of the Disconnection Complete event, when we may see events.
  static func error(_ peer: PeerAddress, _ errno: Errno?, reason: ControllerErrorCode?) -> BluetoothError {
    let why =
      switch errno {
      case _ where reason != nil: reason.map { $0 == .connectionTimeout ? "nothing was heard from it any more: \($0)" : "\($0)" } ?? ""
      case .timedOut: "nothing was heard from it any more; it is off or out of range"
      case .connectionReset: "the peer ended it"
      case .connectionAbort: "it was ended on this side, perhaps by another program"
      case .noFunction: "the link layer failed (encryption, or an update that the peer did not follow)"
      case .operationNotSupportedByDevice, .networkDown, .brokenPipe: "the adapter was switched off or unplugged"
      case nil: "it was closed"
      case .some(let errno): errno.words
      }
    let message = "the connection to \(peer) was lost: \(why)"
    if let reason { return BluetoothError(.linkLost, message, code: Int(reason.rawValue), name: reason.snakeName) }
    return BluetoothError(.linkLost, message, code: errno.map { Int($0.rawValue) }, name: errno?.snakeName)
  }
}
