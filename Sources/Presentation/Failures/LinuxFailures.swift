package import BluetoothLELinux
import SystemPackage

extension AdapterProblem: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .kernelWithoutBluetooth:
      .adapter(
        "No Bluetooth in this kernel (AF_BLUETOOTH is not supported; container or WSL?). Use the simulator (blectl -i sim scan), or a controller "
          + "on tcp:, unix: or serial:.", .addressFamilyNotSupported)
    case .none(let platformBlock):
      .adapter(
        platformBlock.map { "No Bluetooth adapter found: \($0.text)" }
          ?? "No Bluetooth adapter found. Plug one in (check with lsusb and dmesg), or use the simulator: blectl -i sim scan",
        .operationNotSupportedByDevice)
    case .unknown(let name, let others):
      .adapter(
        "No adapter \(name). " + (others.isEmpty ? "List the adapters: blectl adapters" : "Found: \(others.joined(separator: ", "))"),
        .operationNotSupportedByDevice)
    case .down(let name):
      .adapter("\(name) is down. Run bluetoothctl power on, or: sudo btmgmt -i \(name) power on", .networkDown)
    case .blocked(let name, let block):
      .adapter(
        block.map { "\(name) is blocked: \($0.text)" }
          ?? "\(name) is blocked. To see the switch, run rfkill list. To unblock it: rfkill unblock bluetooth", .blockedByRFKill)
    case .withoutLE(let name):
      .adapter(
        "\(name) does not support Bluetooth LE. Use another adapter (-i ADAPTER). To list them: blectl adapters", .notSupportedOnSocket)
    case .leDisabled(let name):
      .adapter("Bluetooth LE is off on \(name). Run: sudo btmgmt -i \(name) le on", .connectionRefused)
    case .notPermitted(let name, let use):
      .adapter(
        "\(use.failure(on: name)): this needs CAP_NET_RAW (for user:N also CAP_NET_ADMIN). "
          + "Run once: `\(Failure.setcap(ThisProcess.executable() ?? "blectl"))`. If that does not help: blectl doctor", .notPermitted)
    case .taken(let name):
      .adapter("\(name) is in use: another program owns its HCI user channel. Stop that program. To find it: sudo btmon", .tooManyUsers)
    case .inUse(let name):
      .adapter(
        "Cannot open the HCI user channel of \(name): the kernel's Bluetooth stack uses it. Run: `sudo hciconfig \(name) down`. "
          + "If bluetoothd switches it on again, stop bluetoothd.", .resourceBusy)
    case .unplugged(let name): .adapter("\(name) was unplugged or reset.", .operationNotSupportedByDevice)
    case .silent(let name, let opcode, let limit):
      .adapter("\(name) did not answer \(opcode) in \(limit.secondsText) s. If it stays silent, reset it: sudo hciconfig \(name) reset")
    case .other(let name, let use, let errno): .adapter("\(use.failure(on: name)): \(errno.words)", errno)
    }
  }
}

extension KernelPairingProblem: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .bluetoothdRuns(let peer):
      .adapter(
        "Cannot use blectl's own bond: bluetoothd runs, and keeps keys of its own. Remove the bond, then pair through bluetoothd: "
          + "blectl unpair \(peer.address) && blectl pair \(peer.address)")
    case .notPermitted(let name):
      .adapter(
        "Cannot use keys on \(name): this needs CAP_NET_ADMIN. "
          + "Run once: `\(Failure.setcap(ThisProcess.executable() ?? "blectl"))`, or use sudo.", .notPermitted)
    case .noSecurityManager(let name):
      .adapter(
        "\(name) cannot encrypt (dmesg: security requested but not available). The kernel prepares no keys for an adapter that "
          + "`hciconfig up` switched on. Run: sudo btmgmt -i \(name) power off && sudo btmgmt -i \(name) power on")
    case .otherPairing(let name, let folder):
      .adapter(
        "Cannot pair: another pairing is running on \(name). Pair again when it has ended. To find its program: sudo fuser -v \(folder)",
        .resourceBusy)
    case .choosesPasskey(let name):
      Failure(.usage, "The kernel chooses the passkey that \(name) displays. To display your own, use blectl's own host: -i user:N")
    case .refused(let name, let command, let status):
      .adapter("\(name) refused the management command 0x\(Hex.encode(command)) (status 0x\(Hex.encode(status))).")
    case .silent(let name, let command): .adapter("\(name) did not answer the management command 0x\(Hex.encode(command)).")
    }
  }
}

extension KernelAdvertisingProblem: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .bluetoothdRuns(let name):
      .adapter(
        "Cannot serve on \(name) while bluetoothd runs: either of the two may get a central. Stop it: sudo systemctl stop bluetooth. "
          + "Or use another adapter through blectl's own host: -i user:N")
    case .servesAlready(let name, let file):
      .adapter("Another blectl serves on \(name). Stop it first. To find it: fuser -v \(Failure.quoted(file))", .resourceBusy)
    case .notPermitted(let name):
      .adapter(
        "Cannot advertise on \(name): this needs CAP_NET_ADMIN. "
          + "Run once: `\(Failure.setcap(ThisProcess.executable() ?? "blectl"))`, or use sudo.", .notPermitted)
    case .dataTooLong(let name, let count, let limit, let lacksFlags):
      Failure(
        .usage,
        "The advertising data has \(count) bytes; \(name) sends at most \(limit)"
          + (lacksFlags ? " here, because the kernel puts 3 bytes of Flags in front. " : ". ")
          + "To send it as it is, use blectl's own host: -i user:N")
    case .alwaysConnectable(let name):
      .adapter(
        "Cannot advertise on \(name) without connections: its setting makes every advertisement connectable. "
          + "Run: sudo btmgmt -i \(name) connectable off")
    case .noFreeInstance(let name, let instances):
      .adapter("Other programs use all \(instances.counted("advertising instance")) of \(name). Stop one of them: sudo btmgmt clr-adv")
    case .refused(let name, let command, let status):
      .adapter("\(name) refused the management command 0x\(Hex.encode(command)) (status 0x\(Hex.encode(status))).")
    case .cannotListen(let name, let errno): .adapter("Cannot listen for centrals on \(name): \(errno.words)", errno)
    }
  }
}

extension BluetoothDaemonProblem: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .noLibrary:
      .adapter(
        "Cannot reach bluetoothd: libdbus-1.so.3 cannot be opened. Install it (Debian: apt install libdbus-1-3). The static program "
          + "cannot use it. Without it, pair with: bluetoothctl pair ADDRESS")
    case .silent: .adapter("bluetoothd does not answer on the system's message bus. Restart it: sudo systemctl restart bluetooth")
    case .refused(let method, _, _) where isForbidden:
      .adapter(
        "bluetoothd does not permit \(method) to you. Use sudo, or join its group, then log in again: "
          + "sudo usermod -aG bluetooth \"$USER\"", .notPermitted)
    case .refused(let method, let name, let text): .adapter("bluetoothd refused \(method): \(DisplayText.escape("\(text) (\(name))")).")
    case .isPaired(let peer):
      Failure(
        .pairing,
        "Cannot pair: bluetoothd has a bond with \(peer) that gives less security. Remove it first: blectl unpair \(peer.address)")
    }
  }
}

extension NoConnection: FailureConvertible {
  package var failure: Failure {
    let (kind, reason): (Failure.Kind, String) =
      switch cause {
      case .takenByAnother:
        (.adapter, "another program is using or making this connection. If it is bluetoothd, run: bluetoothctl disconnect \(peer.address)")
      case .tooManyLinks: (.adapter, "\(adapter) has reached its connection limit. End a connection first. To list them: hcitool con")
      case .endedByPeer: (.linkLost, "it closed the connection immediately")
      case .givenUpHere: (.linkLost, "this computer canceled the connection, perhaps for another program")
      case .notEstablished: (.linkLost, "\(status?.explanation ?? ControllerErrorCode.notEstablished). Move closer, or use --retries N")
      case .security: (.linkLost, "it refused for security reasons. If it was paired, remove the pairing on both sides, then pair again")
      }
    return Failure(kind, "Cannot connect to \(peer): \(reason)", status ?? errno as any FailureCode)
  }
}

extension SocketEnd: FailureConvertible {
  package var failure: Failure {
    let lost = "Connection to \(peer) lost: "
    return switch cause {
    case .reason(let reason): .linkLost(lost + reason.explanation, reason)
    case .errno(let errno?): .linkLost(lost + Self.words(endedWith: errno), errno)
    case .errno(nil): .linkLost(lost + "it was closed")
    case .adapterGone(let name): .linkLost("\(lost)\(name) was switched off or unplugged")
    }
  }
}

extension RFKill.Switch {
  /// The name of the rfkill switch, and how to unblock it.
  fileprivate var text: String {
    let name = "the switch \(device) (\(DisplayText.escape(self.name)))"
    return state == .hardBlocked
      ? "\(name) is off in hardware, and no command changes that. Use the machine's slide switch, wireless key or BIOS setup."
      : "\(name) is off in software. Run: rfkill unblock bluetooth"
  }
}

extension AdapterUse {
  fileprivate func failure(on adapter: String) -> String {
    switch self {
    case .listing: "Cannot list the adapters"
    case .opening: "Cannot open \(adapter)"
    case .using: "Cannot use \(adapter)"
    case .openingUserChannel: "Cannot open the HCI user channel of \(adapter)"
    case .usingUserChannel: "Cannot use the HCI user channel of \(adapter)"
    case .askingAbilities: "Cannot read the features of \(adapter)"
    case .scanning: "Cannot scan on \(adapter)"
    case .connecting(let peer): "Cannot connect to \(peer) on \(adapter)"
    case .changingConnection: "Cannot change the connection on \(adapter)"
    case .disconnecting: "Cannot disconnect on \(adapter)"
    }
  }
}

extension Failure {
  /// Returns the shell command that permits the program at `path` to use CAP_NET_RAW and CAP_NET_ADMIN.
  package static func setcap(_ path: String) -> String { "sudo setcap cap_net_raw,cap_net_admin=p \(quoted(path))" }

  /// Returns the path with shell quotes if the path needs them.
  package static func quoted(_ path: String) -> String { ShellWords.quoteForShell(path) }
}

extension FileError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .ofOtherUser(let path):
      .input("Cannot read \(Self.name(path)): it belongs to another user, who may have put foreign keys into it (EPERM).", .notPermitted)
    case .unreadable(let path, let errno): .input("Cannot read \(Self.name(path)): \(Self.reading(errno)).", errno)
    case .tooLong(let path, let limit): Self.input(path, "is too large: the limit is \(limit) bytes.", name: "too_long")
    case .endless(let path):
      Self.input(
        path, "is a device that may never end. To limit it: head -c 1000 \(path.map(ShellWords.quoteForShell) ?? "DEVICE") | … -",
        name: "endless")
    case .endedEarly(let path, let offset, let count):
      Self.input(path, "was cut to \(offset) of \(count) bytes while it was read.", name: "file_changed")
    case .changed(let path, let from, let to):
      Self.input(
        path,
        "changed while it was read (\(from == to ? "still \(to) bytes" : "\(from) bytes before, \(to) now")). The data may mix old and new.",
        name: "file_changed")
    case .keepsNoMore(let path, let limit):
      Self.input(
        path, "cannot be read again, and the limit of \(limit) unacknowledged bytes is reached. Use a regular file.", name: "not_kept")
    case .passed(let path, let offset):
      Self.input(path, "cannot be read again, and byte \(offset) is no longer in memory. Use a regular file.", name: "not_kept")
    case .trace(let path, let errno): .output("Cannot write the trace \"\(path)\": \(Self.tracing(errno))", errno)
    case .keys(let path, let errno): .output("Cannot write the keys to \"\(path)\": \(Self.tracing(errno))", errno)
    case .unwritable(let path, let errno): .output("Cannot write \(Self.name(path)): \(Self.writing(errno))", errno)
    }
  }

  private static func reading(_ errno: Errno) -> String {
    switch errno {
    case .isDirectory: "it is a directory (EISDIR)"
    case .noSuchAddressOrDevice: "it is a socket, or a device that does not exist (ENXIO)"
    case .noSuchFileOrDirectory: "no such file (ENOENT)"
    case .timedOut: "no program writes to this pipe (ETIMEDOUT). Start its writer first"
    case .permissionDenied: "permission denied (EACCES)"
    case .invalidArgument: "it is not a regular file (EINVAL)"
    default: errno.words
    }
  }

  private static func tracing(_ errno: Errno) -> String {
    switch errno {
    case .tooManySymbolicLinkLevels: "it is a symbolic link, which may lead to a file that must not be overwritten (ELOOP)."
    case .notPermitted: "it exists and does not belong to you alone (EPERM). Use another name."
    case .notSupported: "it is a device, which may pass it on to others (ENOTSUP). Use a file or a pipe."
    case .noSuchAddressOrDevice: "it is a pipe without a reader, or a socket (ENXIO). Start the reader first."
    case .resourceTemporarilyUnavailable: "its reader is too slow (EAGAIN)."
    default: writing(errno)
    }
  }

  private static func writing(_ errno: Errno) -> String {
    switch errno {
    case .noSuchFileOrDirectory: "no such folder (ENOENT)."
    case .permissionDenied: "permission denied (EACCES)."
    case .fileTooLarge: "\(errno.words). To see the limit: ulimit -f"
    default: "\(errno.words)."
    }
  }

  private static func name(_ path: FileError.Path) -> String { path.map { "\"\($0)\"" } ?? "standard input" }

  private static func input(_ path: FileError.Path, _ problem: String, name: String) -> Failure {
    Failure(.input, "\(path == nil ? "Standard input" : "The file " + self.name(path)) \(problem)", name: name)
  }
}

extension TransportError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .notAnAddress(let text, let wanted):
      .usage(
        "Invalid controller address \"\(Failure.head(text))\"."
          + (TransportAddress.meant(by: text).map { " Did you mean \(Failure.head($0))?" } ?? " Use \(Self.form(wanted))."))
    case .pathTooLong(let path): .usage("The path \"\(path)\" is too long for a socket.")
    case .unknownBaudRate(let baud): .usage("Unknown baud rate \(baud).")
    case .unknownHost(let host, let reason):
      .adapter("Unknown host \"\(host)\" (\(reason)). Check the spelling, or use the numeric address.")
    case .unresolvedHost(let host):
      .timeout("The lookup of host \"\(host)\" timed out. Check the name server, or use the numeric address.")
    case .notConnected(let address, let errno):
      .adapter("Cannot connect to \(Failure.head("\(address)")): \(Self.adviceOnConnecting(to: address, errno))", errno)
    case .connectTimeout(let address):
      .timeout("\(Failure.head("\(address)")) did not answer in time. Check the address, and firewalls on the way.")
    case .serialLine(let address, let errno):
      .adapter("Cannot open \(Failure.head("\(address)")): \(Self.adviceOnSerialLines(at: address, errno))", errno)
    case .cannotListen(let address, let errno):
      .adapter("Cannot listen on \(Failure.head("\(address)")): \(Self.adviceOnListening(at: address, errno))", errno)
    case .closedByOtherSide(let name):
      .adapter("\(Failure.head(name)): the controller closed the connection. Check that its program still runs.")
    case .notH4(let name, let reason):
      .adapter("\(Failure.head(name)): this is not H4 (\(reason)). Check the baud rate, and that it speaks H4, not H5 or BCSP.")
    case .lost(let name, let errno):
      .adapter("\(Failure.head(name)): the connection to the controller was lost: \(errno.words)", errno)
    }
  }

  private static func form(_ wanted: TransportError.Wanted) -> String {
    switch wanted {
    case .anyTransport: "tcp:HOST:PORT, unix:PATH or serial:DEVICE[@BAUD]"
    case .port: "tcp:HOST:PORT, with a port from 1 to 65535"
    case .host: "tcp:HOST:PORT, for example tcp:localhost:9000"
    case .path: "unix:PATH, with a path of 1 to 107 bytes"
    case .device: "serial:DEVICE[@BAUD], for example serial:/dev/ttyACM0"
    case .listener: "tcp:HOST:PORT or unix:PATH"
    case .baudRate: "a baud rate of \(SerialPort.speeds.keys.sorted().map(String.init).joined(separator: ", "))"
    }
  }

  private static func adviceOnConnecting(to address: TransportAddress, _ errno: Errno) -> String {
    switch errno {
    case .connectionRefused: "connection refused (ECONNREFUSED). Start the controller's program first."
    case .noSuchFileOrDirectory: "no such socket (ENOENT). Start the controller's program first."
    case .permissionDenied: "permission denied (EACCES). \(access(to: address))"
    case .resourceTemporarilyUnavailable: "the controller's program is too busy to accept a connection (\(errno.symbol)). Try again."
    default: "\(errno.words)."
    }
  }

  private static func adviceOnListening(at address: TransportAddress, _ errno: Errno) -> String {
    switch errno {
    case .addressInUse: "another program already listens there (\(errno.symbol)). Use that program, or another address."
    case .fileExists: "this file is not a socket (\(errno.symbol)). Use another path."
    case .permissionDenied:
      if case .tcp = address {
        "ports below 1024 need root (\(errno.symbol)). Use port 1024 or higher."
      } else {
        "permission denied (EACCES). Check the folder with ls -ld."
      }
    case .noSuchFileOrDirectory: "no such folder (\(errno.symbol))."
    case .addressNotAvailable: "this computer does not have this address (\(errno.symbol)). To see its addresses: ip address"
    default: "\(errno.words)."
    }
  }

  private static func adviceOnSerialLines(at address: TransportAddress, _ errno: Errno) -> String {
    switch errno {
    case .noSuchFileOrDirectory, .noSuchAddressOrDevice:
      "no such device (\(errno.symbol)). Plug it in. To list serial adapters: ls /dev/serial/by-id"
    case .permissionDenied, .notPermitted: "permission denied (\(errno.symbol)). \(access(to: address))"
    case .resourceBusy: "another program uses it (\(errno.symbol)). To find the program: fuser"
    case .inappropriateIOCTLForDevice: "it is not a serial port (\(errno.symbol))."
    default: "\(errno.words)."
    }
  }

  /// Returns advice for a user without permission to open a device file or socket: join its group, or check its owner.
  private static func access(to address: TransportAddress) -> String {
    let file: String
    switch address {
    case .tcp: return "A firewall may block it."
    case .unix(let path), .serial(let path, _): file = path
    }
    guard let status = try? FilePath(file).stat(), status.permissions.contains(.groupReadWrite), status.groupID.rawValue != 0 else {
      return "To see its owner and mode: ls -l \(Failure.quoted(file))"
    }
    return "Join its group, then log in again: sudo usermod -aG \"$(stat -c %G \(Failure.quoted(file)))\" \"$USER\""
  }
}
