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
        "this kernel has no Bluetooth (AF_BLUETOOTH is not supported: a container, WSL, or a kernel without it); "
          + "use the simulated air with -i sim, or a controller behind tcp:, unix: or serial:", .addressFamilyNotSupported)
    case .none(let platformBlock):
      self.init(
        .adapter,
        platformBlock.map { "no Bluetooth adapter is there, and \(Self.words($0))" }
          ?? "no Bluetooth adapter is there: plug one in (`lsusb` and `dmesg` show whether the kernel sees it), or use -i sim",
        .operationNotSupportedByDevice)
    case .unknown(let name, let others):
      self.init(
        .adapter,
        "there is no adapter \(name)"
          + (others.isEmpty ? "; `blectl adapters` lists those that there are" : "; there is \(others.joined(separator: ", "))"),
        .operationNotSupportedByDevice)
    case .down(let name):
      self.init(.adapter, "\(name) is down: switch it on with `sudo hciconfig \(name) up` or `bluetoothctl power on`", .networkDown)
    case .blocked(let name, let block):
      self.init(
        .adapter,
        block.map { "\(name) is blocked: \(Self.words($0))" }
          ?? "\(name) is blocked (`rfkill list` shows by what): switch it on with `rfkill unblock bluetooth`", .blockedByRFKill)
    case .withoutLE(let name):
      self.init(.adapter, "\(name) cannot do Bluetooth LE; choose another adapter with -i", .notSupportedOnSocket)
    case .leDisabled(let name):
      self.init(.adapter, "Bluetooth LE is switched off on \(name): try `sudo btmgmt -i \(name) le on`", .connectionRefused)
    case .notPermitted(let name, let use):
      self.init(
        .adapter,
        "\(Self.words(use)) on \(name) needs the capability CAP_NET_RAW (CAP_NET_ADMIN too for user:N); give it to the program once with "
          + "`\(Self.setcap(ThisProcess.executable() ?? "blectl"))`; if that changes nothing, `blectl doctor` says why", .notPermitted)
    case .taken(let name):
      self.init(
        .adapter, "another program owns \(name) through its HCI user channel; end that program first (`sudo btmon` shows it)", .tooManyUsers
      )
    case .inUse(let name):
      self.init(
        .adapter,
        "\(name) is in use by the kernel's Bluetooth stack, so its user channel is closed: take it down first with "
          + "`sudo hciconfig \(name) down` (and stop bluetoothd if it brings it up again)", .resourceBusy)
    case .unplugged(let name): self.init(.adapter, "\(name) is gone: it was unplugged or reset", .operationNotSupportedByDevice)
    case .silent(let name, let opcode, let limit):
      self.init(
        .adapter,
        "\(name) did not answer \(opcode) within \(limit.secondsText) s; if it stays silent, reset it: sudo hciconfig \(name) reset")
    case .other(let name, let use, let errno): self.init(.adapter, "\(Self.words(use)) on \(name) failed: \(errno.words)", errno)
    }
  }

  init(_ error: NoConnection) {
    let peer = error.peer
    let (kind, message): (Kind, String) =
      switch error.cause {
      case .takenByAnother:
        (
          .adapter,
          "another program has or makes the connection to \(peer): if it is bluetoothd, `bluetoothctl disconnect \(peer.address)` frees it"
        )
      case .tooManyLinks: (.adapter, "\(error.adapter) has as many connections as it can have; end one first (`hcitool con` lists them)")
      case .endedByPeer: (.linkLost, "\(peer) ended the connection as soon as it was made")
      case .givenUpHere: (.linkLost, "the connection to \(peer) was given up on this side, perhaps by another program")
      case .notEstablished:
        (
          .linkLost,
          "the connection to \(peer) failed to be established\(error.status.map { ": \($0)" } ?? ""); go nearer, or try again: interference is "
            + "likely"
        )
      case .security:
        (.linkLost, "\(peer) refused the connection for security reasons; if it was paired, remove it on both sides and pair again")
      }
    if let status = error.status { self.init(kind, message, status: status) } else { self.init(kind, message, error.errno) }
  }

  init(_ error: SocketEnd) {
    let lost = "the connection to \(error.peer) was lost: "
    switch error.cause {
    case .reason(let reason):
      let hint = reason == .connectionTimeout ? "nothing was heard from it any more: " : ""
      self.init(.linkLost, "\(lost)\(hint)\(reason)", status: reason)
    case .errno(let errno?): self.init(.linkLost, lost + Self.words(endedWith: errno), errno)
    case .errno(nil): self.init(.linkLost, lost + "it was closed")
    case .adapterGone(let name): self.init(.linkLost, "\(lost)\(name) was switched off or unplugged")
    }
  }

  private static func words(endedWith errno: Errno) -> String {
    switch errno {
    case .timedOut: "nothing was heard from it any more; it is off or out of range"
    case .connectionReset: "the peer ended it"
    case .connectionAbort: "it was ended on this side, perhaps by another program"
    case .noFunction: "the link layer failed (encryption, or an update that the peer did not follow)"
    case .operationNotSupportedByDevice, .networkDown, .brokenPipe: "the adapter was switched off or unplugged"
    default: errno.words
    }
  }

  /// Which switch is off, and how it is switched on.
  private static func words(_ block: RFKill.Switch) -> String {
    let name = "the switch \(block.device) (\(DisplayText.escape(block.name)))"
    return block.state == .hardBlocked
      ? "\(name) is off in hardware, which no command changes: use the slide switch or the wireless key of the machine, or its BIOS setup"
      : "\(name) is off in software: switch it on with `rfkill unblock bluetooth`"
  }

  private static func words(_ use: AdapterUse) -> String {
    switch use {
    case .listing: "listing the adapters"
    case .opening: "opening the adapter"
    case .using: "using the adapter"
    case .openingUserChannel: "opening the HCI user channel"
    case .usingUserChannel: "using the HCI user channel"
    case .askingAbilities: "asking what it can do"
    case .scanning: "scanning"
    case .connecting(let peer): "connecting to \(peer)"
    case .changingConnection: "changing the connection"
    case .disconnecting: "disconnecting"
    }
  }

  /// What gives a program what radios need; why not as effective, see `Capabilities`.
  static func setcap(_ path: String) -> String { "sudo setcap cap_net_raw,cap_net_admin=p \(quoted(path))" }

  /// A path as a shell takes it.
  static func quoted(_ path: String) -> String { ShellWords.quoteForShell(path) }
}
