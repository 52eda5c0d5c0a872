import Bluetooth
import EventLoop
import GAP
import HCI
import Text

extension Failure {
  init(_ error: GAPError) {
    switch error {
    case .intervalOutOfRange(let interval):
      self.init(.usage, "a connection interval is 7.5 ms to 4 s, not \(interval.inMilliseconds) ms")
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
    case .noConnection(let peer, let limit):
      self.init(
        .timeout, "\(peer.address) did not connect within \(Self.seconds(limit)): it is off, out of range, or connected to someone else")
    case .connectionFailed(let peer, let status):
      self.init(
        status == .connectionFailedToBeEstablished ? .linkLost : .hci, "no connection to \(peer.address): \(status)", status: status)
    case .noAnswer(let peer, let procedure):
      self.init(.timeout, "\(peer.address) did not answer the request for \(Self.words(procedure))", name: "no_answer")
    case .notAgreed(let peer, let procedure, let status):
      self.init(.hci, "\(Self.words(procedure)) was not agreed with \(peer.address): \(status)", status: status)
    }
  }

  init(_ error: ControllerError) {
    let name = error.adapter
    switch error.fault {
    case .refused(let opcode, let status):
      let hint =
        switch status {
        case .unknownCommand, .unsupportedFeature: ": it does not support that"
        case .unsupportedRemoteFeature: ": the other device does not support that"
        case .commandDisallowed: ": not in its present state; another program may be using it"
        case .unknownConnectionIdentifier: ": it has no such link"
        default: ""
        }
      self.init(.hci, "\(name) refused \(opcode): \(status)\(hint)", status: status)
    case .silent(let opcode, let limit):
      self.init(
        .adapter,
        "\(name) did not answer \(opcode) within \(Self.seconds(limit)): is it a Bluetooth controller, powered, and not used by another program?"
      )
    case .unreadable(let opcode, let reason): self.init(.protocolViolation, "\(name) answered \(opcode) with nonsense: \(reason)")
    case .hardware(let code):
      self.init(
        .adapter, "the controller \(name) reported a hardware error (0x\(Hex.encode(CollectionOfOne(code)))): reset or replug it",
        code: Int(code), name: "hardware_error")
    case .withoutLE: self.init(.adapter, "\(name) is a Bluetooth Classic controller without Low Energy")
    case .withoutBuffers: self.init(.adapter, "\(name) says that it has no buffers for data")
    case .notStarted: self.init(.adapter, "\(name) is not started")
    case .closed: self.init(.adapter, "\(name) was closed")
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

  init(_ kind: Kind, _ message: String, status: ControllerErrorCode) {
    self.init(kind, message, code: Int(status.rawValue), name: status.snakeName)
  }

  /// `20 s`, `0.5 s`.
  static func seconds(_ limit: Duration) -> String {
    let seconds = limit.inSeconds
    return (seconds == seconds.rounded() ? String(Int(clamping: Int64(seconds))) : String(seconds)) + " s"
  }

  private static func words(_ procedure: LinkProcedure) -> String {
    switch procedure {
    case .connectionInterval(let interval): "a connection interval of \(interval.inMilliseconds) ms"
    case .phy(let phy): "the \(phy.name) PHY"
    case .dataLength(let octets): "a data length of \(octets) octets"
    }
  }
}

extension GAPNote {
  /// What the user reads.
  var text: String {
    switch self {
    case .tryingAgain(let peer): return "the connection to \(peer.address) failed to be established; trying once more"
    case .intervalChanged(let peer, let interval, let wish):
      let change = "\(peer) has asked for another connection interval and got it: \(interval.inMilliseconds) ms"
      return wish.map { "\(change); asking for \($0.inMilliseconds) ms once more" } ?? change
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
