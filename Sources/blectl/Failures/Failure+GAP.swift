import Bluetooth
import GAP

extension Failure {
  init(_ error: GAPError) {
    switch error {
    case .intervalOutOfRange(let interval):
      self.init(.usage, "a connection interval is 7.5 ms to 4 s, not \(interval.millisecondsText) ms")
    case .dataLengthOutOfRange(let octets): self.init(.usage, "a data length is 27 to 251 octets, not \(octets)")
    case .noPrimaryPHY: self.init(.usage, "devices advertise on the 1M or the coded PHY")
    case .cannotScan(let adapter, let phy, let hasExtended):
      self.init(
        .adapter,
        hasExtended
          ? "\(adapter) cannot scan on the \(phy.name) PHY"
          : "\(adapter) can only scan on the 1M PHY: it has no extended advertising (Bluetooth 5)")
    case .unsupported(let adapter, let procedure):
      let what =
        switch procedure {
        case .connectionInterval: "other connection intervals"
        case .phy: "other PHYs than 1M"
        case .dataLength: "longer data packets"
        }
      self.init(.hci, "\(adapter) does not support \(what)", status: .unsupportedFeature)
    case .isScanning(let adapter): self.init(.adapter, "\(adapter) is scanning already")
    case .scanEnded(let adapter, let peer):
      self.init(.adapter, "the scan on \(adapter) ended, because the kernel needs the radio to connect to \(peer.address)")
    case .noConnection(let peer, let limit):
      self.init(
        .timeout, "\(peer.address) did not connect within \(limit.secondsText) s: it is off, out of range, or connected to someone else")
    case .connectionFailed(let peer, let status):
      self.init(
        status == .connectionFailedToBeEstablished ? .linkLost : .hci, "no connection to \(peer.address): \(status)", status: status)
    case .noAnswer(let peer, let procedure):
      self.init(.timeout, "\(peer.address) did not answer the request for \(Self.words(procedure))", name: "no_answer")
    case .notAgreed(let peer, let procedure, let status):
      self.init(.hci, "\(Self.words(procedure)) was not agreed with \(peer.address): \(status)", status: status)
    }
  }

  init(_ error: LinkEnd) {
    let link = "the link to \(error.peer.address)"
    switch error.cause {
    case .lost(let reason):
      let hint =
        switch reason {
        case .connectionTimeout, .llResponseTimeout: ": it went silent; out of range or switched off?"
        case .remoteUserTerminated, .remoteLowResources, .remotePowerOff: ": the device closed it"
        case .terminatedByLocalHost: ": closed by this side"
        case .connectionFailedToBeEstablished: ": the device did not answer the first packets; try again"
        default: ""
        }
      self.init(.linkLost, "\(link) was lost, \(reason)\(hint)", status: reason)
    // We asked for it, whatever reason the controller gives.
    case .endedHere(let reason?): self.init(.linkLost, "\(link) was closed by this side", status: reason)
    case .endedHere(nil): self.init(.linkLost, "\(link) was closed; the controller did not confirm it")
    case .handleReused(let adapter): self.init(.linkLost, "\(link) was lost: \(adapter) gave its handle to another one")
    case .channelClosed: self.init(.linkLost, "the ATT bearer was closed by this side")
    }
  }

  private static func words(_ procedure: LinkProcedure) -> String {
    switch procedure {
    case .connectionInterval(let interval): "a connection interval of \(interval.millisecondsText) ms"
    case .phy(let phy): "the \(phy.name) PHY"
    case .dataLength(let octets): "a data length of \(octets) octets"
    }
  }
}

extension GAPNote {
  /// What the user reads.
  var text: String {
    switch self {
    case .tryingAgain(let peer, .notEstablished): return "the connection to \(peer.address) failed to be established; trying again"
    case .tryingAgain(let peer, .closedByPeer): return "\(peer.address) closed the connection before it answered anything; trying again"
    case .intervalChanged(let peer, let interval, let wish):
      let change = "\(peer) has asked for another connection interval and got it: \(interval.millisecondsText) ms"
      return wish.map { "\(change); asking for \($0.millisecondsText) ms once more" } ?? change
    case .unreadableReports(let adapter, let count):
      return "\(count) advertising report(s) of \(adapter) are missing: they were malformed, or of a type that nobody has defined yet"
    case .scan(let adapter, .piggyBack):
      return
        "another program is scanning on \(adapter); showing what that scan finds, perhaps without repeated and scan response packets"
    case .scan(let adapter, .noRepeats):
      return "another program is scanning on \(adapter) too; while it does, repeated packets are missing"
    case .scan(let adapter, .noScanResponses):
      return "another program is scanning on \(adapter) too, and only listens; while it does, scan responses are missing"
    case .scan(let adapter, .interrupted):
      return
        "another program keeps stopping the scan on \(adapter); it is started again every few seconds, and misses what is sent in between"
    }
  }
}
