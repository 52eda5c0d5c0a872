import BluetoothLELinux
import BluetoothLESimulator
import Presentation
import SystemPackage
import TestSupport

/// The messages for controllers, and for connections that our own host makes with them.
@Suite(.timeLimit(.minutes(15))) struct FailureHostTests {
  static let peer = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
  static let nonsense = MalformedPacket("no status", at: 0)

  @Test(
    arguments: [
      (
        .silent(Reset.opcode, after: .seconds(4)), .adapter, nil, nil,
        "tcp:h:1 did not answer Reset (0x0c03) in 4 s. Check that it is a Bluetooth controller, is powered, and is not in use."
      ),
      (
        .starved(Reset.opcode, after: .seconds(4)), .adapter, nil, nil,
        "tcp:h:1 accepts no commands: no credit for Reset (0x0c03) in 4 s (Num_HCI_Command_Packets is 0). Reset or replug it."
      ),
      (
        .refused(SetEventMask.opcode, .invalidParameters), .hci, 0x12, "invalid_hci_command_parameters",
        "tcp:h:1 refused Set Event Mask (0x0c01): Invalid HCI Command Parameters (HCI 0x12)."
      ),
      (
        .refused(LESetPHY.opcode, .unknownCommand), .hci, 1, "unknown_hci_command",
        "tcp:h:1 refused LE Set PHY (0x2032): Unknown HCI Command (HCI 0x01). It does not support this command."
      ),
      (
        .refused(LEConnectionUpdate.opcode, .unsupportedRemoteFeature), .hci, 0x1A, nil,
        "tcp:h:1 refused LE Connection Update (0x2013): Unsupported Remote Feature (HCI 0x1a). The device does not support this."
      ),
      (
        .refused(LESetScanEnable.opcode, .commandDisallowed), .hci, 0x0C, "command_disallowed",
        "tcp:h:1 refused LE Set Scan Enable (0x200c): Command Disallowed (HCI 0x0c). Another program may be using the adapter."
      ),
      (
        .refused(ReadRSSI.opcode, .unknownConnectionIdentifier), .hci, 2, "unknown_connection_identifier",
        "tcp:h:1 refused Read RSSI (0x1405): Unknown Connection Identifier (HCI 0x02). It has no such connection."
      ),
      (
        .unreadable(ReadBufferSize.opcode, nonsense), .protocolViolation, nil, nil,
        "tcp:h:1 sent an invalid answer to Read Buffer Size (0x1005): \(nonsense)"
      ),
      (
        .hardware(0x42), .adapter, 0x42, "hardware_error",
        "tcp:h:1 reported a hardware error (0x42). Reset or replug it."
      ),
      (
        .overflow, .linkLost, 0x1A, "data_buffer_overflow",
        "Connection lost: tcp:h:1 dropped data that it had no buffer for (Data Buffer Overflow)"
      ),
      (.withoutLE, .adapter, nil, nil, "tcp:h:1 does not support Bluetooth LE: it is a Bluetooth Classic controller."),
      (.withoutBuffers, .adapter, nil, nil, "tcp:h:1 reports no data buffers."),
      (.notStarted, .adapter, nil, nil, "tcp:h:1 is not started."), (.closed, .adapter, nil, nil, "tcp:h:1 was closed."),
    ] as [(ControllerError.Fault, Failure.Kind, Int?, String?, String)])
  func controllers(_ fault: ControllerError.Fault, _ kind: Failure.Kind, _ code: Int?, _ name: String?, _ sentence: String) {
    let failure = Failure(ControllerError("tcp:h:1", fault))
    #expect(failure.message == sentence)
    #expect(failure.kind == kind && failure.code == code)
    if let name { #expect(failure.name == name) }
  }

  @Test(
    arguments: [
      (
        .cannotConnect(adapter: "sim", peer), 0x0C,
        "sim cannot connect to D1:00:00:00:00:02 now: Command Disallowed (HCI 0x0c). Another program may be scanning or connecting with it"
      ),
      (.hasLinkAlready(adapter: "sim", peer), 0x0B, "sim is already connected to D1:00:00:00:00:02"),
      (
        .cannotScan(adapter: "sim", isExtended: false), 0x0C,
        "sim cannot scan now: Command Disallowed (HCI 0x0c). It may be connecting, or another program may have sent it extended commands."
      ),
      (
        .cannotScan(adapter: "sim", isExtended: true), 0x0C,
        "sim cannot scan now: Command Disallowed (HCI 0x0c). It may be connecting, or another program may have sent it legacy commands."
      ),
      (
        .cannotAdvertise(adapter: "sim", isExtended: true), 0x0C,
        "sim cannot advertise now: Command Disallowed (HCI 0x0c). Another program may be advertising with it, "
          + "or may have sent it legacy commands."
      ),
    ] as [(HostError, UInt8, String)]) func hosts(_ error: HostError, _ code: UInt8, _ sentence: String)
  {
    let status = ControllerErrorCode(rawValue: code)
    #expect(Failure(error) == Failure(.hci, sentence, code: Int(code), name: status.snakeName))
  }

  @Test(
    arguments: [
      (
        .lost(.connectionTimeout), 8, "connection_timeout",
        "Connection to D1:00:00:00:00:02 lost: the device stopped answering, and may be off or out of range (HCI 0x08)"
      ),
      (
        .lost(.remoteUserTerminated), 0x13, "remote_user_terminated_connection",
        "Connection to D1:00:00:00:00:02 lost: the device closed it (HCI 0x13)"
      ),
      (
        .lost(.terminatedByLocalHost), 0x16, "connection_terminated_by_local_host",
        "Connection to D1:00:00:00:00:02 lost: blectl closed it (HCI 0x16)"
      ),
      (
        .lost(.connectionFailedToBeEstablished), 0x3E, "connection_failed_to_be_established",
        "Connection to D1:00:00:00:00:02 lost: the device did not answer the first packets (HCI 0x3e)"
      ),
      (
        .endedHere(.terminatedByLocalHost), 0x16, "connection_terminated_by_local_host",
        "Connection to D1:00:00:00:00:02 closed by blectl"
      ),
      (.endedHere(nil), nil, nil, "Connection to D1:00:00:00:00:02 closed. The controller did not confirm it"),
      (
        .handleReused(adapter: "sim"), nil, nil, "Connection to D1:00:00:00:00:02 lost: sim gave its handle to another connection"
      ), (.channelClosed, nil, nil, "Connection to D1:00:00:00:00:02 closed by blectl"),
    ] as [(Disconnection.Cause, Int?, String?, String)]) func links(
      _ cause: Disconnection.Cause, _ code: Int?, _ name: String?, _ sentence: String
    )
  { #expect(Failure(Disconnection(Self.peer, cause)) == Failure(.linkLost, sentence, code: code, name: name)) }

  @Test func connections() {
    let late = { (limit: Duration) in Failure(GAPError.noConnection(Self.peer, within: limit)) }
    #expect(
      late(.seconds(20))
        == Failure(
          .timeout, "Cannot connect to D1:00:00:00:00:02: no answer in 20 s (off, out of range, or connected elsewhere)"))
    #expect(late(.milliseconds(500)).message.contains("in 0.5 s"))
    #expect(late(.seconds(4_000_000_000)).message.contains("in 4000000000 s"))
    #expect(
      Failure(GAPError.connectionFailed(Self.peer, .connectionFailedToBeEstablished))
        == Failure(
          .linkLost, "Cannot connect to D1:00:00:00:00:02: the device did not answer the first packets (HCI 0x3e)", code: 0x3E,
          name: "connection_failed_to_be_established"))
    #expect(Failure(GAPError.connectionFailed(Self.peer, .connectionTimeout)).kind == .hci)
  }

  @Test(
    arguments: [
      (.advertisingIntervalOutOfRange(.milliseconds(10)), .usage, "Invalid advertising interval 10 ms. Use 20 to 10240 ms."),
      (
        .advertisingTooLong(adapter: "sim", .data, 32, limit: 31), .usage,
        "The advertisement has 32 bytes of data, but the limit is 31."
      ),
      (.advertisingTooLong(adapter: "sim", .scanResponse, 40, limit: 31), .usage, "The scan response has 40 bytes, but the limit is 31."),
      (
        .advertisingTooLong(adapter: "sim", .scanResponse, 1, limit: 0), .usage,
        "This extended advertisement cannot have a scan response: it is connectable or has data."
      ),
      (.cannotAdvertiseExtended(adapter: "sim"), .adapter, "sim has no extended advertising (Bluetooth 5)."),
    ] as [(GAPError, Failure.Kind, String)]) func advertising(_ error: GAPError, _ kind: Failure.Kind, _ sentence: String)
  {
    #expect(Failure(error).message == sentence)
    #expect(Failure(error).kind == kind)
  }

  @Test func transports() {
    #expect(
      Failure(TransportError.closedByOtherSide(transport: "unix:/s"))
        == Failure(.adapter, "unix:/s: the controller closed the connection. Check that its program still runs."))
    #expect(
      Failure(TransportError.notH4(transport: "unix:/s", Self.nonsense))
        == Failure(
          .adapter,
          "unix:/s: this is not H4 (\(Self.nonsense)). Check the baud rate, and that it speaks H4, not H5 or BCSP."
        ))
    #expect(
      Failure(TransportError.lost(transport: "unix:/s", .brokenPipe))
        == Failure(
          .adapter, "unix:/s: the connection to the controller was lost: Broken pipe (EPIPE)", code: 32, name: "epipe"))
  }
}
