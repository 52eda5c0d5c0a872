import SystemPackage
import TestSupport

@testable import BluetoothLELinux

/// The errors of the kernel's adapters as users of the library get them.
@Suite(.timeLimit(.minutes(15))) struct LibraryErrorTests {
  private static let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
  private static let name = "F0:F1:F2:F3:F4:F5/random"

  private static func none(_ cause: NoConnection.Cause, _ status: ControllerErrorCode? = nil) -> NoConnection {
    NoConnection(peer: peer, adapter: "hci0", cause: cause, errno: .noFunction, status: status)
  }

  private static func refused(_ name: String, _ text: String = "No") -> BluetoothDaemonProblem {
    .refused("org.bluez.Device1.Pair", name: name, text: text)
  }

  static let rows: [(any Error, BluetoothError.Reason, String)] = [
    (AdapterProblem.down("hci0"), .adapter, "hci0 is down. Run: bluetoothctl power on"),
    (
      none(.takenByAnother), .adapter,
      "The connection to \(name) failed: another program uses or makes it. If that is bluetoothd, run: bluetoothctl disconnect "
        + "F0:F1:F2:F3:F4:F5"
    ),
    (none(.tooManyLinks), .adapter, "The connection to \(name) failed: hci0 has no room for another link. End a connection first."),
    (none(.endedByPeer), .disconnected, "The connection to \(name) failed: the device ended it immediately."),
    (none(.givenUpHere), .disconnected, "The connection to \(name) failed: this machine canceled it, perhaps for another program."),
    (
      none(.notEstablished), .disconnected,
      "The connection to \(name) failed: Connection Failed to be Established (0x3e). Bring the device closer, or try again."
    ),
    (
      none(.notEstablished, .micFailure), .disconnected,
      "The connection to \(name) failed: Connection Terminated due to MIC Failure (0x3d). Bring the device closer, or try again."
    ),
    (
      none(.security), .security,
      "The connection to \(name) failed: the device refused for security reasons. If it was paired, remove the bond on both sides, and pair "
        + "again."
    ),
    (
      SocketEnd(peer, .reason(.remoteUserTerminated)), .disconnected,
      "The link to \(name) is lost: Remote User Terminated Connection (0x13)."
    ),
    (SocketEnd(peer, .errno(.connectionReset)), .disconnected, "The link to \(name) is lost: the device closed it."),
    (SocketEnd(peer, .errno(.ioError)), .disconnected, "The link to \(name) is lost: Input/output error (EIO)."),
    (SocketEnd(peer, .errno(nil)), .disconnected, "The link to \(name) is closed."),
    (SocketEnd(peer, .adapterGone("hci0")), .disconnected, "The link to \(name) is lost: hci0 was switched off or unplugged."),
    (
      KernelPairingProblem.bluetoothdRuns(peer), .adapter,
      "The bond with \(name) is of no use while bluetoothd runs, which has keys of its own. Remove it from the key ring, and pair again."
    ),
    (KernelPairingProblem.notPermitted("hci0"), .adapter, "Keys on hci0 need CAP_NET_ADMIN: see setcap(8)."),
    (
      KernelPairingProblem.noSecurityManager("hci0"), .adapter,
      "hci0 cannot encrypt, because hciconfig switched it on. Run: sudo btmgmt -i hci0 power off && sudo btmgmt -i hci0 power on"
    ),
    (
      KernelPairingProblem.choosesPasskey("hci0"), .unsupported,
      "The kernel chooses the passkey that hci0 shows. Use the user channel to choose it."
    ),
    (
      KernelPairingProblem.otherPairing("hci0", "/sys"), .adapter,
      "Another pairing is running on hci0. Pair again when it has ended."
    ),
    (
      KernelPairingProblem.refused("hci0", command: 0x19, status: 0x0D), .adapter,
      "hci0 refused the management command 0x0019 with status 0x0d."
    ),
    (KernelPairingProblem.silent("hci0", command: 0x19), .adapter, "hci0 did not answer the management command 0x0019."),
    (
      BluetoothDaemonProblem.noLibrary, .adapter,
      "libdbus-1.so.3 cannot be opened, without which bluetoothd cannot pair. Run: sudo apt install libdbus-1-3"
    ),
    (
      BluetoothDaemonProblem.silent, .adapter,
      "bluetoothd does not answer, or does not know the device. Run: sudo systemctl restart bluetooth"
    ),
    (
      refused("org.freedesktop.DBus.Error.AccessDenied"), .adapter,
      "bluetoothd does not permit org.bluez.Device1.Pair to this user. Run: sudo usermod -aG bluetooth \"$USER\""
    ),
    (
      refused("org.bluez.Error.Failed", "No\u{1B}"), .pairing,
      "bluetoothd refused org.bluez.Device1.Pair: No\\x1b (org.bluez.Error.Failed)."
    ),
    (
      BluetoothDaemonProblem.isPaired(peer), .pairing,
      "bluetoothd has a bond with \(name) that gives less security. Run: bluetoothctl remove F0:F1:F2:F3:F4:F5"
    ),
    (MalformedPacket("settings of an adapter", at: 13), .protocolViolation, "A packet is malformed: settings of an adapter (at byte 13)."),
  ]

  @Test func reasonsAndSentences() {
    for (error, reason, sentence) in Self.rows {
      let found = BluetoothError(error)
      #expect(found.reason == reason, "\(found)")
      #expect(found.description == sentence)
    }
  }
}
