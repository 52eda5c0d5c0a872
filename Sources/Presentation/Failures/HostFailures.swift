package import BluetoothLE

extension ControllerError: FailureConvertible {
  package var failure: Failure {
    switch fault {
    case .refused(let opcode, let status):
      .hci("\(adapter) refused \(opcode): \(status.name) (\(status.tag)).\(Self.hint(status))", status)
    case .silent(let opcode, let limit):
      .adapter(
        "\(adapter) did not answer \(opcode) in \(limit.secondsText) s. Check that it is a Bluetooth controller, is powered, "
          + "and is not in use.")
    case .starved(let opcode, let limit):
      .adapter(
        "\(adapter) accepts no commands: no credit for \(opcode) in \(limit.secondsText) s (Num_HCI_Command_Packets is 0). "
          + "Reset or replug it.")
    case .unreadable(let opcode, let reason): .protocolViolation("\(adapter) sent an invalid answer to \(opcode): \(reason)")
    case .hardware(let code):
      Failure(
        .adapter, "\(adapter) reported a hardware error (0x\(Hex.encode(code))). Reset or replug it.", code: Int(code),
        name: "hardware_error")
    case .overflow:
      Failure(
        .linkLost, "Connection lost: \(adapter) dropped data that it had no buffer for (Data Buffer Overflow)",
        code: 0x1A, name: "data_buffer_overflow")
    case .withoutLE: .adapter("\(adapter) does not support Bluetooth LE: it is a Bluetooth Classic controller.")
    case .withoutBuffers: .adapter("\(adapter) reports no data buffers.")
    case .notStarted: .adapter("\(adapter) is not started.")
    case .closed: .adapter("\(adapter) was closed.")
    }
  }

  private static func hint(_ status: ControllerErrorCode) -> String {
    switch status {
    case .unknownCommand, .unsupportedFeature: " It does not support this command."
    case .unsupportedRemoteFeature: " The device does not support this."
    case .commandDisallowed: " Another program may be using the adapter."
    case .unknownConnectionIdentifier: " It has no such connection."
    default: ""
    }
  }
}

extension HostError: FailureConvertible {
  package var failure: Failure {
    let disallowed = ControllerErrorCode.commandDisallowed
    let reason = "now: \(disallowed.name) (\(disallowed.tag))"
    return switch self {
    case .cannotConnect(let adapter, let peer):
      .hci("\(adapter) cannot connect to \(peer.address) \(reason). Another program may be scanning or connecting with it", disallowed)
    case .hasLinkAlready(let adapter, let peer): .hci("\(adapter) is already connected to \(peer.address)", .connectionAlreadyExists)
    case .cannotScan(let adapter, let isExtended):
      .hci(
        "\(adapter) cannot scan \(reason). It may be connecting, or another program may have sent it "
          + "\(isExtended ? "legacy" : "extended") commands.", disallowed)
    case .cannotAdvertise(let adapter, let isExtended):
      .hci(
        "\(adapter) cannot advertise \(reason). Another program may be advertising with it, or may have sent it "
          + "\(isExtended ? "legacy" : "extended") commands.", disallowed)
    }
  }
}

extension GAPError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .intervalOutOfRange(let interval):
      .usage("Invalid connection interval \(interval.millisecondsText) ms. Use 7.5 to 4000 ms.")
    case .dataLengthOutOfRange(let bytes): .usage("Invalid data length \(bytes). Use 27 to 251 bytes.")
    case .noPrimaryPHY: .usage("Cannot scan on these PHYs: devices advertise on 1M or coded.")
    case .advertisingIntervalOutOfRange(let interval):
      .usage("Invalid advertising interval \(interval.millisecondsText) ms. Use 20 to 10240 ms.")
    case .advertisingTooLong(_, .data, let count, let limit):
      .usage("The advertisement has \(count.counted("byte")) of data, but the limit is \(limit).")
    case .advertisingTooLong(_, .scanResponse, _, limit: 0):
      .usage("This extended advertisement cannot have a scan response: it is connectable or has data.")
    case .advertisingTooLong(_, .scanResponse, let count, let limit):
      .usage("The scan response has \(count.counted("byte")), but the limit is \(limit).")
    case .cannotAdvertiseExtended(let adapter): .adapter("\(adapter) has no extended advertising (Bluetooth 5).")
    case .cannotScan(let adapter, let phy, hasExtended: true): .adapter("\(adapter) cannot scan on the \(phy.name) PHY.")
    case .cannotScan(let adapter, _, hasExtended: false):
      .adapter("\(adapter) can scan only on the 1M PHY: it has no extended advertising (Bluetooth 5).")
    case .unsupported(let adapter, .connectionInterval): Self.unsupported(adapter, "other connection intervals")
    case .unsupported(let adapter, .phy): Self.unsupported(adapter, "PHYs other than 1M")
    case .unsupported(let adapter, .dataLength): Self.unsupported(adapter, "longer data packets")
    case .isScanning(let adapter): .adapter("\(adapter) is already scanning.")
    case .scanEnded(let adapter, let peer):
      .adapter("The scan on \(adapter) ended: the kernel needs the radio to connect to \(peer.address).")
    case .noConnection(let peer, let limit):
      .timeout(
        "Cannot connect to \(peer.address): no answer in \(limit.secondsText) s (off, out of range, or connected elsewhere)")
    case .connectionFailed(let peer, let status):
      Failure(
        status == .connectionFailedToBeEstablished ? .linkLost : .hci, "Cannot connect to \(peer.address): \(status.explanation)", status)
    case .noAnswer(let peer, let procedure):
      Failure(.timeout, "\(peer.address) did not answer the request for \(procedure.text).", name: "no_answer")
    case .notAgreed(let peer, let procedure, let status):
      .hci("\(peer.address) did not accept \(procedure.text): \(status.name) (\(status.tag)).", status)
    }
  }

  private static func unsupported(_ adapter: String, _ what: String) -> Failure {
    .hci("\(adapter) does not support \(what).", .unsupportedFeature)
  }
}

extension Disconnection: FailureConvertible {
  package var failure: Failure {
    let link = "Connection to \(peer.address)"
    return switch cause {
    case .lost(let reason): .linkLost("\(link) lost: \(reason.explanation)", reason)
    // blectl asked for it, so ignore the controller's reason.
    case .endedHere(let reason?): .linkLost("\(link) closed by blectl", reason)
    case .endedHere(nil): .linkLost("\(link) closed. The controller did not confirm it")
    case .handleReused(let adapter): .linkLost("\(link) lost: \(adapter) gave its handle to another connection")
    case .channelClosed: .linkLost("\(link) closed by blectl")
    }
  }
}

extension MalformedPacket: FailureConvertible { package var failure: Failure { .protocolViolation("\(self)") } }

extension ControllerErrorCode {
  /// The error code as messages show it, such as `HCI 0x13`.
  var tag: String { "HCI 0x\(Hex.encode(rawValue))" }

  /// The reason why a connection ended or failed, followed by the HCI status.
  var explanation: String {
    let reason =
      switch self {
      case .connectionTimeout, .llResponseTimeout: "the device stopped answering, and may be off or out of range"
      case .remoteUserTerminated: "the device closed it"
      case .remoteLowResources: "the device closed it for lack of resources"
      case .remotePowerOff: "the device switched off"
      case .terminatedByLocalHost: "blectl closed it"
      case .connectionFailedToBeEstablished: Self.notEstablished
      default: name
      }
    return "\(reason) (\(tag))"
  }

  static let notEstablished = "the device did not answer the first packets"
}

extension LinkProcedure {
  fileprivate var text: String {
    switch self {
    case .connectionInterval(let interval): "a connection interval of \(interval.millisecondsText) ms"
    case .phy(let phy): "the \(phy.name) PHY"
    case .dataLength(let bytes): "a data length of \(bytes) bytes"
    }
  }
}

extension GAPNote {
  /// One line for users that describes the event and its consequence.
  package var text: String {
    switch self {
    case .tryingAgain(let peer, .notEstablished): return "\(peer.address) did not answer the first packets. Trying again."
    case .tryingAgain(let peer, .closedByPeer): return "\(peer.address) closed the connection before it answered. Trying again."
    case .intervalChanged(let peer, let interval, let wish):
      let change = "\(peer) changed the connection interval to \(interval.millisecondsText) ms."
      return wish.map { "\(change) Requesting \($0.millisecondsText) ms again." } ?? change
    case .unreadableReports(let adapter, let count):
      return "Skipped \(count.counted("advertising report")) of \(adapter): malformed or of an unknown type."
    case .droppedPackets(let adapter, let count):
      return "The kernel dropped \(count.counted("HCI packet")) of \(adapter), because blectl was too slow. Advertisements may be missing."
    case .malformedPackets(let adapter, let count):
      return "Ignored \(count.counted("unknown or malformed HCI packet")) of \(adapter) so far. To see them, use --trace FILE."
    case .centralTaken(let adapter, let central):
      return "\(central) connected to \(adapter), but another program took the connection: of all programs that serve, the newest gets it."
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
