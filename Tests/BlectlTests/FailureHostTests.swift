import Bluetooth
import GAP
import HCI
import LEHost
import LinuxIO
import Simulation
import SystemPackage
import Testing

@testable import blectl

/// The sentences for controllers, and for the links that our own host makes with them.
@Suite struct FailureHostTests {
  static let peer = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
  static let nonsense = MalformedPacket("no status", at: 0)

  @Test(
    arguments: [
      (
        .silent(Reset.opcode, after: .seconds(4)), .adapter, nil, nil,
        "tcp:h:1 did not answer Reset (0x0c03) within 4 s: is it a Bluetooth controller, powered, and not used by another program?"
      ),
      (
        .starved(Reset.opcode, after: .seconds(4)), .adapter, nil, nil,
        "tcp:h:1 accepts no commands: it gave no credit for Reset (0x0c03) within 4 s (Num_HCI_Command_Packets is 0). Reset or replug it."
      ),
      (
        .refused(SetEventMask.opcode, .invalidParameters), .hci, 0x12, "invalid_hci_command_parameters",
        "tcp:h:1 refused Set Event Mask (0x0c01): Invalid HCI Command Parameters (0x12)"
      ),
      (
        .refused(LESetPHY.opcode, .unknownCommand), .hci, 1, "unknown_hci_command",
        "tcp:h:1 refused LE Set PHY (0x2032): Unknown HCI Command (0x01): it does not support that"
      ),
      (
        .refused(LEConnectionUpdate.opcode, .unsupportedRemoteFeature), .hci, 0x1A, nil,
        "tcp:h:1 refused LE Connection Update (0x2013): \(ControllerErrorCode.unsupportedRemoteFeature): the other device does not support that"
      ),
      (
        .refused(LESetScanEnable.opcode, .commandDisallowed), .hci, 0x0C, "command_disallowed",
        "tcp:h:1 refused LE Set Scan Enable (0x200c): Command Disallowed (0x0c): not in its present state; another program may be using it"
      ),
      (
        .refused(ReadRSSI.opcode, .unknownConnectionIdentifier), .hci, 2, "unknown_connection_identifier",
        "tcp:h:1 refused Read RSSI (0x1405): Unknown Connection Identifier (0x02): it has no such link"
      ),
      (
        .unreadable(ReadBufferSize.opcode, nonsense), .protocolViolation, nil, nil,
        "tcp:h:1 answered Read Buffer Size (0x1005) with nonsense: \(nonsense)"
      ),
      (
        .hardware(0x42), .adapter, 0x42, "hardware_error",
        "the controller tcp:h:1 reported a hardware error (0x42): reset or replug it"
      ),
      (
        .overflow, .linkLost, 0x1A, "data_buffer_overflow",
        "the controller tcp:h:1 dropped data that it had no buffer for (Data Buffer Overflow), so the link was ended. Connect again"
      ),
      (.withoutLE, .adapter, nil, nil, "tcp:h:1 is a Bluetooth Classic controller without Low Energy"),
      (.withoutBuffers, .adapter, nil, nil, "tcp:h:1 says that it has no buffers for data"),
      (.notStarted, .adapter, nil, nil, "tcp:h:1 is not started"), (.closed, .adapter, nil, nil, "tcp:h:1 was closed"),
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
        "sim cannot connect to D1:00:00:00:00:02 now: Command Disallowed (0x0c). It may be scanning or connecting for another program"
      ),
      (.hasLinkAlready(adapter: "sim", peer), 0x0B, "sim has a link to D1:00:00:00:00:02 already"),
      (
        .cannotScan(adapter: "sim", isExtended: false), 0x0C,
        "sim cannot scan now: Command Disallowed (0x0c). It may be connecting, or have been used with extended commands by another program"
      ),
      (
        .cannotScan(adapter: "sim", isExtended: true), 0x0C,
        "sim cannot scan now: Command Disallowed (0x0c). It may be connecting, or have been used with legacy commands by another program"
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
        "the link to D1:00:00:00:00:02 was lost, Connection Timeout (0x08): it went silent; out of range or switched off?"
      ),
      (
        .lost(.remoteUserTerminated), 0x13, "remote_user_terminated_connection",
        "the link to D1:00:00:00:00:02 was lost, Remote User Terminated Connection (0x13): the device closed it"
      ),
      (
        .lost(.terminatedByLocalHost), 0x16, "connection_terminated_by_local_host",
        "the link to D1:00:00:00:00:02 was lost, Connection Terminated By Local Host (0x16): closed by this side"
      ),
      (
        .lost(.connectionFailedToBeEstablished), 0x3E, "connection_failed_to_be_established",
        "the link to D1:00:00:00:00:02 was lost, Connection Failed to be Established (0x3e): the device did not answer the first packets; try again"
      ),
      (
        .endedHere(.terminatedByLocalHost), 0x16, "connection_terminated_by_local_host",
        "the link to D1:00:00:00:00:02 was closed by this side"
      ),
      (.endedHere(nil), nil, nil, "the link to D1:00:00:00:00:02 was closed; the controller did not confirm it"),
      (
        .handleReused(adapter: "sim"), nil, nil, "the link to D1:00:00:00:00:02 was lost: sim gave its handle to another one"
      ), (.channelClosed, nil, nil, "the ATT bearer was closed by this side"),
    ] as [(LinkEnd.Cause, Int?, String?, String)]) func links(_ cause: LinkEnd.Cause, _ code: Int?, _ name: String?, _ sentence: String)
  { #expect(Failure(LinkEnd(Self.peer, cause)) == Failure(.linkLost, sentence, code: code, name: name)) }

  @Test func connections() {
    let late = { (limit: Duration) in Failure(GAPError.noConnection(Self.peer, within: limit)) }
    #expect(
      late(.seconds(20))
        == Failure(
          .timeout, "D1:00:00:00:00:02 did not connect within 20 s: it is off, out of range, or connected to someone else"))
    #expect(late(.milliseconds(500)).message.contains("within 0.5 s"))
    #expect(late(.seconds(4_000_000_000)).message.contains("within 4000000000 s"))
    #expect(
      Failure(GAPError.connectionFailed(Self.peer, .connectionFailedToBeEstablished))
        == Failure(
          .linkLost, "no connection to D1:00:00:00:00:02: Connection Failed to be Established (0x3e)", code: 0x3E,
          name: "connection_failed_to_be_established"))
    #expect(Failure(GAPError.connectionFailed(Self.peer, .connectionTimeout)).kind == .hci)
  }

  @Test func transports() {
    #expect(
      Failure(TransportError.closedByOtherSide(transport: "unix:/s"))
        == Failure(.adapter, "unix:/s: the controller closed the connection; is its program still running?"))
    #expect(
      Failure(TransportError.notH4(transport: "unix:/s", Self.nonsense))
        == Failure(
          .adapter,
          "unix:/s: what arrives is not H4 (\(Self.nonsense)); is there a controller, at this baud rate, that speaks H4 and not H5 or BCSP?"
        ))
    #expect(
      Failure(TransportError.lost(transport: "unix:/s", .brokenPipe))
        == Failure(
          .adapter, "unix:/s: the connection to the controller was lost: Broken pipe (EPIPE)", code: 32, name: "epipe"))
    #expect(Failure(ControllerUnplugged()) == Failure(.adapter, "the simulated adapter was removed"))
  }
}
