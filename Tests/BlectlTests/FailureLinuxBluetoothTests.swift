import Bluetooth
import GAP
import HCI
import LinuxBluetooth
import LinuxIO
import SystemPackage
import Testing

@testable import blectl

/// The sentences for what the kernel's sockets say, and what is to be done about it.
@Suite struct FailureLinuxBluetoothTests {
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
      "this kernel has no Bluetooth (AF_BLUETOOTH is not supported: a container, WSL, or a kernel without it); use the simulated air with -i sim, "
        + "or a controller behind tcp:, unix: or serial:"),
    Row(
      AdapterProblem.none(platformBlock: RFKill.Switch(device: "rfkill0", name: "tpacpi_bluetooth_sw", state: .softBlocked)), .adapter, 19,
      "enodev",
      "no Bluetooth adapter is there, and the switch rfkill0 (tpacpi_bluetooth_sw) is off in software: switch it on with "
        + "`rfkill unblock bluetooth`"),
    Row(
      AdapterProblem.none(platformBlock: nil), .adapter, 19, "enodev",
      "no Bluetooth adapter is there: plug one in (`lsusb` and `dmesg` show whether the kernel sees it), or use -i sim"),
    Row(
      AdapterProblem.unknown("hci2", others: ["hci0", "hci1"]), .adapter, 19, "enodev", "there is no adapter hci2; there is hci0, hci1"),
    Row(
      AdapterProblem.unknown("hci3", others: []), .adapter, 19, "enodev",
      "there is no adapter hci3; `blectl adapters` lists those that there are"),
    Row(
      AdapterProblem.down("hci0"), .adapter, 100, "enetdown",
      "hci0 is down: switch it on with `sudo hciconfig hci0 up` or `bluetoothctl power on`"),
    Row(
      AdapterProblem.blocked("hci0", by: RFKill.Switch(device: "rfkill2", name: "hci0", state: .hardBlocked)), .adapter, 132, "erfkill",
      "hci0 is blocked: the switch rfkill2 (hci0) is off in hardware, which no command changes: use the slide switch or the wireless key of the "
        + "machine, or its BIOS setup"),
    Row(
      AdapterProblem.blocked("hci0", by: RFKill.Switch(device: "rfkill2", name: "hci0", state: .softBlocked)), .adapter, 132, "erfkill",
      "hci0 is blocked: the switch rfkill2 (hci0) is off in software: switch it on with `rfkill unblock bluetooth`"),
    Row(
      AdapterProblem.blocked("hci0", by: nil), .adapter, 132, "erfkill",
      "hci0 is blocked (`rfkill list` shows by what): switch it on with `rfkill unblock bluetooth`"),
    Row(
      AdapterProblem.withoutLE("hci0"), .adapter, 95, "eopnotsupp", "hci0 cannot do Bluetooth LE; choose another adapter with -i"),
    Row(
      AdapterProblem.leDisabled("hci0"), .adapter, 111, "econnrefused",
      "Bluetooth LE is switched off on hci0: try `sudo btmgmt -i hci0 le on`"),
    Row(
      AdapterProblem.notPermitted("hci0", to: .scanning), .adapter, 1, "eperm",
      "scanning on hci0 needs the capability CAP_NET_RAW (CAP_NET_ADMIN too for user:N); give it to the program once with `sudo setcap "
        + "cap_net_raw,cap_net_admin=p \(program)`; if that changes nothing, `blectl doctor` says why"),
    Row(
      AdapterProblem.taken("hci0"), .adapter, 87, "eusers",
      "another program owns hci0 through its HCI user channel; end that program first (`sudo btmon` shows it)"),
    Row(
      AdapterProblem.inUse("hci0"), .adapter, 16, "ebusy",
      "hci0 is in use by the kernel's Bluetooth stack, so its user channel is closed: take it down first with `sudo hciconfig hci0 down` (and stop "
        + "bluetoothd if it brings it up again)"),
    Row(AdapterProblem.unplugged("hci0"), .adapter, 19, "enodev", "hci0 is gone: it was unplugged or reset"),
    Row(
      AdapterProblem.silent("hci0", LESetScanParameters.opcode, after: .seconds(3)), .adapter, nil, nil,
      "hci0 did not answer LE Set Scan Parameters (0x200b) within 3 s; if it stays silent, reset it: sudo hciconfig hci0 reset"),
    Row(
      AdapterProblem.other("hci0", .scanning, .invalidArgument), .adapter, 22, "einval",
      "scanning on hci0 failed: Invalid argument (EINVAL)"),
    Row(
      AdapterProblem.other("hci0", .connecting(peer), .noFunction), .adapter, 38, "enosys",
      "connecting to F0:F1:F2:F3:F4:F5/random on hci0 failed: Function not implemented (ENOSYS)"),
  ]

  private static func none(_ cause: NoConnection.Cause, _ errno: Errno, _ status: ControllerErrorCode? = nil) -> NoConnection {
    NoConnection(peer, adapter: "hci0", cause, errno: errno, status: status)
  }

  static let connecting: [Row] = [
    Row(
      none(.takenByAnother, .resourceBusy), .adapter, 16, "ebusy",
      "another program has or makes the connection to F0:F1:F2:F3:F4:F5/random: if it is bluetoothd, `bluetoothctl disconnect F0:F1:F2:F3:F4:F5` "
        + "frees it"),
    Row(
      none(.tooManyLinks, .tooManyLinks), .adapter, 31, "emlink",
      "hci0 has as many connections as it can have; end one first (`hcitool con` lists them)"),
    Row(
      none(.endedByPeer, .connectionReset), .linkLost, 104, "econnreset",
      "F0:F1:F2:F3:F4:F5/random ended the connection as soon as it was made"),
    Row(
      none(.givenUpHere, .connectionAbort), .linkLost, 103, "econnaborted",
      "the connection to F0:F1:F2:F3:F4:F5/random was given up on this side, perhaps by another program"),
    Row(
      none(.notEstablished, .noFunction), .linkLost, 38, "enosys",
      "the connection to F0:F1:F2:F3:F4:F5/random failed to be established; go nearer, or try again: interference is likely"),
    Row(
      none(.notEstablished, .noFunction, .connectionFailedToBeEstablished), .linkLost, 0x3E, "connection_failed_to_be_established",
      "the connection to F0:F1:F2:F3:F4:F5/random failed to be established: Connection Failed to be Established (0x3e); go nearer, or try again: "
        + "interference is likely"),
    Row(
      none(.security, .permissionDenied), .linkLost, 13, "eacces",
      "F0:F1:F2:F3:F4:F5/random refused the connection for security reasons; if it was paired, remove it on both sides and pair again"),
  ]

  static let ends: [Row] = {
    func row(_ cause: SocketEnd.Cause, _ code: Int?, _ name: String?, _ why: String) -> Row {
      Row(SocketEnd(peer, cause), .linkLost, code, name, "the connection to F0:F1:F2:F3:F4:F5/random was lost: \(why)")
    }
    return [
      row(.errno(.timedOut), 110, "etimedout", "nothing was heard from it any more; it is off or out of range"),
      row(.errno(.connectionReset), 104, "econnreset", "the peer ended it"),
      row(.errno(.connectionAbort), 103, "econnaborted", "it was ended on this side, perhaps by another program"),
      row(.errno(.noFunction), 38, "enosys", "the link layer failed (encryption, or an update that the peer did not follow)"),
      row(.errno(.networkDown), 100, "enetdown", "the adapter was switched off or unplugged"),
      row(.errno(.ioError), 5, "eio", "Input/output error (EIO)"), row(.errno(nil), nil, nil, "it was closed"),
      row(
        .reason(.remotePowerOff), 0x15, "remote_device_terminated_connection_due_to_power_off",
        "Remote Device Terminated Connection due to Power Off (0x15)"),
      row(.reason(.connectionTimeout), 8, "connection_timeout", "nothing was heard from it any more: Connection Timeout (0x08)"),
      row(.reason(.micFailure), 0x3D, "connection_terminated_due_to_mic_failure", "Connection Terminated due to MIC Failure (0x3d)"),
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
      uses.map { Failure(AdapterProblem.other("", $0, .invalidArgument)).message.prefix { $0 != "/" } }.map { String($0.prefix(12)) } == [
        "listing the ", "opening the ", "using the ad", "opening the ", "using the HC", "asking what ", "scanning on ", "connecting t",
        "changing the", "disconnectin",
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
