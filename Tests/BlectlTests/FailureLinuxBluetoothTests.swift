import SystemPackage
import TestSupport

@testable import BluetoothLELinux
@testable import Presentation

/// The messages for errors of the kernel's sockets, with advice.
@Suite(.timeLimit(.minutes(15))) struct FailureLinuxBluetoothTests {
  struct Row: Sendable {
    let error: any Error
    let kind: Failure.Kind
    let code: Int?
    let name: String?
    let sentence: String

    init(_ error: any Error, _ kind: Failure.Kind, _ code: Int?, _ name: String?, _ sentence: String) {
      (self.error, self.kind, self.code, self.name, self.sentence) = (error, kind, code, name, sentence)
    }
  }

  static let program = Failure.quoted(ThisProcess.executable() ?? "")
  static let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)

  static let adapters: [Row] = [
    Row(
      AdapterProblem.kernelWithoutBluetooth, .adapter, 97, "eafnosupport",
      "No Bluetooth in this kernel (AF_BLUETOOTH is not supported; container or WSL?). Use the simulator (blectl -i sim scan), or a controller on tcp:, "
        + "unix: or serial:."),
    Row(
      AdapterProblem.none(platformBlock: RFKill.Switch(device: "rfkill0", name: "tpacpi_bluetooth_sw", state: .softBlocked)), .adapter, 19,
      "enodev",
      "No Bluetooth adapter found: the switch rfkill0 (tpacpi_bluetooth_sw) is off in software. Run: rfkill unblock bluetooth"),
    Row(
      AdapterProblem.none(platformBlock: nil), .adapter, 19, "enodev",
      "No Bluetooth adapter found. Plug one in (check with lsusb and dmesg), or use the simulator: blectl -i sim scan"),
    Row(
      AdapterProblem.unknown("hci2", others: ["hci0", "hci1"]), .adapter, 19, "enodev", "No adapter hci2. Found: hci0, hci1"),
    Row(
      AdapterProblem.unknown("hci3", others: []), .adapter, 19, "enodev",
      "No adapter hci3. List the adapters: blectl adapters"),
    Row(
      AdapterProblem.down("hci0"), .adapter, 100, "enetdown",
      "hci0 is down. Run bluetoothctl power on, or: sudo btmgmt -i hci0 power on"),
    Row(
      AdapterProblem.blocked("hci0", by: RFKill.Switch(device: "rfkill2", name: "hci0", state: .hardBlocked)), .adapter, 132, "erfkill",
      "hci0 is blocked: the switch rfkill2 (hci0) is off in hardware, and no command changes that. Use the machine's slide switch, wireless key "
        + "or BIOS setup."),
    Row(
      AdapterProblem.blocked("hci0", by: RFKill.Switch(device: "rfkill2", name: "hci0", state: .softBlocked)), .adapter, 132, "erfkill",
      "hci0 is blocked: the switch rfkill2 (hci0) is off in software. Run: rfkill unblock bluetooth"),
    Row(
      AdapterProblem.blocked("hci0", by: nil), .adapter, 132, "erfkill",
      "hci0 is blocked. To see the switch, run rfkill list. To unblock it: rfkill unblock bluetooth"),
    Row(
      AdapterProblem.withoutLE("hci0"), .adapter, 95, "eopnotsupp",
      "hci0 does not support Bluetooth LE. Use another adapter (-i ADAPTER). To list them: blectl adapters"),
    Row(
      AdapterProblem.leDisabled("hci0"), .adapter, 111, "econnrefused",
      "Bluetooth LE is off on hci0. Run: sudo btmgmt -i hci0 le on"),
    Row(
      AdapterProblem.notPermitted("hci0", to: .scanning), .adapter, 1, "eperm",
      "Cannot scan on hci0: this needs CAP_NET_RAW (for user:N also CAP_NET_ADMIN). Run once: `sudo setcap cap_net_raw,cap_net_admin=p "
        + "\(program)`. If that does not help: blectl doctor"),
    Row(
      AdapterProblem.taken("hci0"), .adapter, 87, "eusers",
      "hci0 is in use: another program owns its HCI user channel. Stop that program. To find it: sudo btmon"),
    Row(
      AdapterProblem.inUse("hci0"), .adapter, 16, "ebusy",
      "Cannot open the HCI user channel of hci0: the kernel's Bluetooth stack uses it. Run: `sudo hciconfig hci0 down`. "
        + "If bluetoothd switches it on again, stop bluetoothd."),
    Row(AdapterProblem.unplugged("hci0"), .adapter, 19, "enodev", "hci0 was unplugged or reset."),
    Row(
      AdapterProblem.silent("hci0", LESetScanParameters.opcode, after: .seconds(3)), .adapter, nil, nil,
      "hci0 did not answer LE Set Scan Parameters (0x200b) in 3 s. If it stays silent, reset it: sudo hciconfig hci0 reset"),
    Row(
      AdapterProblem.other("hci0", .scanning, .invalidArgument), .adapter, 22, "einval",
      "Cannot scan on hci0: Invalid argument (EINVAL)"),
    Row(
      AdapterProblem.other("hci0", .connecting(peer), .noFunction), .adapter, 38, "enosys",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random on hci0: Function not implemented (ENOSYS)"),
  ]

  private static func none(_ cause: NoConnection.Cause, _ errno: Errno, _ status: ControllerErrorCode? = nil) -> NoConnection {
    NoConnection(peer: peer, adapter: "hci0", cause: cause, errno: errno, status: status)
  }

  static let connecting: [Row] = [
    Row(
      none(.takenByAnother, .resourceBusy), .adapter, 16, "ebusy",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: another program is using or making this connection. If it is bluetoothd, run: bluetoothctl "
        + "disconnect F0:F1:F2:F3:F4:F5"),
    Row(
      none(.tooManyLinks, .tooManyLinks), .adapter, 31, "emlink",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: hci0 has reached its connection limit. End a connection first. To list them: hcitool con"
    ),
    Row(
      none(.endedByPeer, .connectionReset), .linkLost, 104, "econnreset",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: it closed the connection immediately"),
    Row(
      none(.givenUpHere, .connectionAbort), .linkLost, 103, "econnaborted",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: this computer canceled the connection, perhaps for another program"),
    Row(
      none(.notEstablished, .noFunction), .linkLost, 38, "enosys",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: the device did not answer the first packets. Move closer, or use --retries N"),
    Row(
      none(.notEstablished, .noFunction, .connectionFailedToBeEstablished), .linkLost, 0x3E, "connection_failed_to_be_established",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: the device did not answer the first packets (HCI 0x3e). Move closer, or use --retries N"),
    Row(
      none(.security, .permissionDenied), .linkLost, 13, "eacces",
      "Cannot connect to F0:F1:F2:F3:F4:F5/random: it refused for security reasons. If it was paired, remove the pairing on both sides, then pair "
        + "again"),
  ]

  static let ends: [Row] = {
    func row(_ cause: SocketEnd.Cause, _ code: Int?, _ name: String?, _ why: String) -> Row {
      Row(SocketEnd(peer, cause), .linkLost, code, name, "Connection to F0:F1:F2:F3:F4:F5/random lost: \(why)")
    }
    return [
      row(.errno(.timedOut), 110, "etimedout", "the device stopped answering, and may be off or out of range"),
      row(.errno(.connectionReset), 104, "econnreset", "the device closed it"),
      row(.errno(.connectionAbort), 103, "econnaborted", "this computer closed it, perhaps for another program"),
      row(.errno(.noFunction), 38, "enosys", "the Link Layer failed (encryption, or an update that the device did not follow)"),
      row(.errno(.networkDown), 100, "enetdown", "the adapter was switched off or unplugged"),
      row(.errno(.ioError), 5, "eio", "Input/output error (EIO)"), row(.errno(nil), nil, nil, "it was closed"),
      row(
        .reason(.remotePowerOff), 0x15, "remote_device_terminated_connection_due_to_power_off",
        "the device switched off (HCI 0x15)"),
      row(.reason(.connectionTimeout), 8, "connection_timeout", "the device stopped answering, and may be off or out of range (HCI 0x08)"),
      row(.reason(.micFailure), 0x3D, "connection_terminated_due_to_mic_failure", "Connection Terminated due to MIC Failure (HCI 0x3d)"),
      row(.adapterGone("hci0"), nil, nil, "hci0 was switched off or unplugged"),
    ]
  }()

  @Test(arguments: [adapters, connecting, ends]) func sentences(_ rows: [Row]) {
    for row in rows {
      let failure = Failure(row.error)
      #expect(failure == Failure(row.kind, row.sentence, code: row.code, name: row.name))
    }
  }

  @Test func everyUseHasItsWords() {
    let uses: [AdapterUse] = [
      .listing, .opening, .using, .openingUserChannel, .usingUserChannel, .askingAbilities, .scanning, .connecting(Self.peer),
      .changingConnection, .disconnecting,
    ]
    #expect(
      uses.map { String(Failure(AdapterProblem.other("hci0", $0, .invalidArgument)).message.dropFirst("Cannot ".count).prefix(8)) } == [
        "list the", "open hci", "use hci0", "open the", "use the ", "read the", "scan on ", "connect ", "change t", "disconne",
      ])
  }

  @Test func theProgramIsNamedAsAShellTakesIt() throws {
    #expect(try #require(ThisProcess.executable()).hasPrefix("/"))
    #expect(Failure.quoted("/usr/bin/blectl") == "/usr/bin/blectl")
    #expect(Failure.quoted("/a b/it's") == "'/a b/it'\\''s'")
    #expect(Failure.quoted("/a;rm") == "'/a;rm'")
    #expect(Failure.quoted("/a|b") == "'/a|b'")
  }
}
