import Bluetooth
package import GAP
import Text

extension Failure {
  init(_ error: GAPError) {
    switch error {
    case .intervalOutOfRange(let interval):
      self.init(.usage, "Invalid connection interval \(interval.millisecondsText) ms. Use 7.5 to 4000 ms.")
    case .dataLengthOutOfRange(let octets): self.init(.usage, "Invalid data length \(octets). Use 27 to 251 bytes.")
    case .noPrimaryPHY: self.init(.usage, "Cannot scan on these PHYs: devices advertise on 1M or coded.")
    case .cannotScan(let adapter, let phy, let hasExtended):
      self.init(
        .adapter,
        hasExtended
          ? "\(adapter) cannot scan on the \(phy.name) PHY."
          : "\(adapter) can scan only on the 1M PHY: it has no extended advertising (Bluetooth 5).")
    case .unsupported(let adapter, let procedure):
      let what =
        switch procedure {
        case .connectionInterval: "other connection intervals"
        case .phy: "PHYs other than 1M"
        case .dataLength: "longer data packets"
        }
      self.init(.hci, "\(adapter) does not support \(what).", status: .unsupportedFeature)
    case .isScanning(let adapter): self.init(.adapter, "\(adapter) is already scanning.")
    case .scanEnded(let adapter, let peer):
      self.init(.adapter, "The scan on \(adapter) ended: the kernel needs the radio to connect to \(peer.address).")
    case .noConnection(let peer, let limit):
      let reason = "no answer in \(limit.secondsText) s (off, out of range, or connected elsewhere)"
      self.init(.timeout, "Cannot connect to \(peer.address): \(reason)")
    case .connectionFailed(let peer, let status):
      let kind = status == .connectionFailedToBeEstablished ? Kind.linkLost : .hci
      self.init(kind, "Cannot connect to \(peer.address): \(Self.words(status))", status: status)
    case .noAnswer(let peer, let procedure):
      self.init(.timeout, "\(peer.address) did not answer the request for \(Self.words(procedure)).", name: "no_answer")
    case .notAgreed(let peer, let procedure, let status):
      let reason = "\(status.name) (\(status.tag))"
      self.init(.hci, "\(peer.address) did not accept \(Self.words(procedure)): \(reason).", status: status)
    }
  }

  init(_ error: Disconnection) {
    let link = "Connection to \(error.peer.address)"
    switch error.cause {
    case .lost(let reason): self.init(.linkLost, "\(link) lost: \(Self.words(reason))", status: reason)
    // blectl asked for it, so ignore the controller's reason.
    case .endedHere(let reason?): self.init(.linkLost, "\(link) closed by blectl", status: reason)
    case .endedHere(nil): self.init(.linkLost, "\(link) closed. The controller did not confirm it")
    case .handleReused(let adapter): self.init(.linkLost, "\(link) lost: \(adapter) gave its handle to another connection")
    case .channelClosed: self.init(.linkLost, "\(link) closed by blectl")
    }
  }

  /// Explains why a connection ended or failed, with the HCI status.
  static func words(_ status: ControllerErrorCode) -> String {
    let reason =
      switch status {
      case .connectionTimeout, .llResponseTimeout: "the device stopped answering, and may be off or out of range"
      case .remoteUserTerminated: "the device closed it"
      case .remoteLowResources: "the device closed it for lack of resources"
      case .remotePowerOff: "the device switched off"
      case .terminatedByLocalHost: "blectl closed it"
      case .connectionFailedToBeEstablished: notEstablished
      default: status.name
      }
    return "\(reason) (\(status.tag))"
  }

  static let notEstablished = "the device did not answer the first packets"

  private static func words(_ procedure: LinkProcedure) -> String {
    switch procedure {
    case .connectionInterval(let interval): "a connection interval of \(interval.millisecondsText) ms"
    case .phy(let phy): "the \(phy.name) PHY"
    case .dataLength(let octets): "a data length of \(octets) bytes"
    }
  }
}

extension GAPNote {
  /// The note as one line for users.
  package var text: String {
    switch self {
    case .tryingAgain(let peer, .notEstablished): return "\(peer.address) did not answer the first packets. Trying again."
    case .tryingAgain(let peer, .closedByPeer): return "\(peer.address) closed the connection before it answered. Trying again."
    case .intervalChanged(let peer, let interval, let wish):
      let change = "\(peer) changed the connection interval to \(interval.millisecondsText) ms."
      return wish.map { "\(change) Requesting \($0.millisecondsText) ms again." } ?? change
    case .unreadableReports(let adapter, let count):
      return "Skipped \(count) advertising report(s) of \(adapter) that were malformed or of an unknown type."
    case .droppedPackets(let adapter, let count):
      return "The kernel dropped \(count) HCI packet(s) of \(adapter), because blectl was too slow. Advertisements may be missing."
    case .malformedPackets(let adapter, let count):
      return "Ignored \(count) unknown or malformed HCI packet(s) of \(adapter) so far. To see them, use --trace FILE."
    case .scan(let adapter, .piggyBack):
      return "Another program is scanning on \(adapter). Showing its results, which may lack repeated packets and scan responses."
    case .scan(let adapter, .noRepeats):
      return "Another program is also scanning on \(adapter). Until it stops, repeated packets are missing."
    case .scan(let adapter, .noScanResponses):
      return "Another program is also scanning on \(adapter), passively. Until it stops, scan responses are missing."
    case .scan(let adapter, .interrupted):
      return "Another program keeps stopping the scan on \(adapter). The scan restarts every few seconds and misses packets in between."
    }
  }
}
