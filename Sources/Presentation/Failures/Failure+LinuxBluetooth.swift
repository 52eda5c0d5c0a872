import Bluetooth
import LinuxBluetooth
import LinuxIO
import SystemPackage
import Text

extension Failure {
  init(_ error: AdapterProblem) {
    switch error {
    case .kernelWithoutBluetooth:
      self.init(
        .adapter,
        "No Bluetooth in this kernel (AF_BLUETOOTH is not supported; container or WSL?). Use the simulator (-i sim), or a controller "
          + "on tcp:, unix: or serial:.", .addressFamilyNotSupported)
    case .none(let platformBlock):
      self.init(
        .adapter,
        platformBlock.map { "No Bluetooth adapter found: \(Self.words($0))" }
          ?? "No Bluetooth adapter found. Plug one in (check with lsusb and dmesg), or use the simulator: -i sim",
        .operationNotSupportedByDevice)
    case .unknown(let name, let others):
      self.init(
        .adapter,
        "No adapter \(name). " + (others.isEmpty ? "List the adapters: blectl adapters" : "Found: \(others.joined(separator: ", "))"),
        .operationNotSupportedByDevice)
    case .down(let name):
      self.init(.adapter, "\(name) is down. Run bluetoothctl power on, or: sudo hciconfig \(name) up", .networkDown)
    case .blocked(let name, let block):
      self.init(
        .adapter,
        block.map { "\(name) is blocked: \(Self.words($0))" }
          ?? "\(name) is blocked. To see the switch, run rfkill list. To unblock it: rfkill unblock bluetooth", .blockedByRFKill)
    case .withoutLE(let name):
      self.init(.adapter, "\(name) does not support Bluetooth LE. Use another adapter: -i ADAPTER", .notSupportedOnSocket)
    case .leDisabled(let name):
      self.init(.adapter, "Bluetooth LE is off on \(name). Run: sudo btmgmt -i \(name) le on", .connectionRefused)
    case .notPermitted(let name, let use):
      self.init(
        .adapter,
        "\(Self.words(use, name)): this needs CAP_NET_RAW (for user:N also CAP_NET_ADMIN). "
          + "Run once: `\(Self.setcap(ThisProcess.executable() ?? "blectl"))`. If that does not help: blectl doctor", .notPermitted)
    case .taken(let name):
      self.init(
        .adapter, "\(name) is in use: another program owns its HCI user channel. Stop that program. To find it: sudo btmon", .tooManyUsers)
    case .inUse(let name):
      self.init(
        .adapter,
        "Cannot open the HCI user channel of \(name): the kernel's Bluetooth stack uses it. Run: `sudo hciconfig \(name) down`. "
          + "If bluetoothd switches it on again, stop bluetoothd.", .resourceBusy)
    case .unplugged(let name): self.init(.adapter, "\(name) was unplugged or reset.", .operationNotSupportedByDevice)
    case .silent(let name, let opcode, let limit):
      self.init(
        .adapter,
        "\(name) did not answer \(opcode) in \(limit.secondsText) s. If it stays silent, reset it: sudo hciconfig \(name) reset")
    case .other(let name, let use, let errno): self.init(.adapter, "\(Self.words(use, name)): \(errno.words)", errno)
    }
  }

  init(_ error: NoConnection) {
    let peer = error.peer
    let (kind, reason): (Kind, String) =
      switch error.cause {
      case .takenByAnother:
        (.adapter, "another program is using or making this connection. If it is bluetoothd, run: bluetoothctl disconnect \(peer.address)")
      case .tooManyLinks: (.adapter, "\(error.adapter) has reached its connection limit. End a connection first. To list them: hcitool con")
      case .endedByPeer: (.linkLost, "it closed the connection immediately")
      case .givenUpHere: (.linkLost, "this computer canceled the connection, perhaps for another program")
      case .notEstablished:
        (.linkLost, "\(error.status.map { Self.words($0) } ?? Self.notEstablished). Move closer, or use --retries N")
      case .security: (.linkLost, "it refused for security reasons. If it was paired, remove the pairing on both sides, then pair again")
      }
    let message = "Cannot connect to \(peer): \(reason)"
    if let status = error.status { self.init(kind, message, status: status) } else { self.init(kind, message, error.errno) }
  }

  init(_ error: SocketEnd) {
    let lost = "Connection to \(error.peer) lost: "
    switch error.cause {
    case .reason(let reason): self.init(.linkLost, lost + Self.words(reason), status: reason)
    case .errno(let errno?): self.init(.linkLost, lost + Self.words(endedWith: errno), errno)
    case .errno(nil): self.init(.linkLost, lost + "it was closed")
    case .adapterGone(let name): self.init(.linkLost, "\(lost)\(name) was switched off or unplugged")
    }
  }

  private static func words(endedWith errno: Errno) -> String {
    switch errno {
    case .timedOut: "the device stopped answering, and may be off or out of range"
    case .connectionReset: "the device closed it"
    case .connectionAbort: "this computer closed it, perhaps for another program"
    case .noFunction: "the Link Layer failed (encryption, or an update that the device did not follow)"
    case .operationNotSupportedByDevice, .networkDown, .brokenPipe: "the adapter was switched off or unplugged"
    default: errno.words
    }
  }

  /// Names the rfkill switch and explains how to turn it on.
  private static func words(_ block: RFKill.Switch) -> String {
    let name = "the switch \(block.device) (\(DisplayText.escape(block.name)))"
    return block.state == .hardBlocked
      ? "\(name) is off in hardware, and no command changes that. Use the machine's slide switch, wireless key or BIOS setup."
      : "\(name) is off in software. Run: rfkill unblock bluetooth"
  }

  private static func words(_ use: AdapterUse, _ name: String) -> String {
    switch use {
    case .listing: "Cannot list the adapters"
    case .opening: "Cannot open \(name)"
    case .using: "Cannot use \(name)"
    case .openingUserChannel: "Cannot open the HCI user channel of \(name)"
    case .usingUserChannel: "Cannot use the HCI user channel of \(name)"
    case .askingAbilities: "Cannot read the features of \(name)"
    case .scanning: "Cannot scan on \(name)"
    case .connecting(let peer): "Cannot connect to \(peer) on \(name)"
    case .changingConnection: "Cannot change the connection on \(name)"
    case .disconnecting: "Cannot disconnect on \(name)"
    }
  }

  /// Returns the command that gives a program the capabilities for radios. See `Capabilities` for why they are not effective.
  package static func setcap(_ path: String) -> String { "sudo setcap cap_net_raw,cap_net_admin=p \(quoted(path))" }

  /// Quotes a path for a shell.
  package static func quoted(_ path: String) -> String { ShellWords.quoteForShell(path) }
}
