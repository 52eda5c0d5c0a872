import LinuxIO
package import SystemPackage
import Text

extension Failure {
  init(_ error: FileError) {
    switch error {
    case .unreadable(let path, let errno):
      let reason =
        switch errno {
        case .isDirectory: "it is a directory (EISDIR)"
        case .noSuchAddressOrDevice: "it is a socket, or a device that does not exist (ENXIO)"
        case .noSuchFileOrDirectory: "no such file (ENOENT)"
        case .timedOut: "no program writes to this pipe (ETIMEDOUT). Start its writer first"
        case .permissionDenied: "permission denied (EACCES)"
        case .invalidArgument: "it is not a regular file (EINVAL)"
        default: errno.words
        }
      self.init(.input, "Cannot read \(Self.name(path)): \(reason).", errno)
    case .tooLong(let path, let limit):
      self.init(.input, "\(Self.named(path)) is too large: the limit is \(limit) bytes.", name: "too_long")
    case .endless(let path):
      let device = path.map(ShellWords.quoteForShell) ?? "DEVICE"
      self.init(
        .input, "\(Self.named(path)) is a device that may never end. To limit it: head -c 1000 \(device) | … -", name: "endless")
    case .endedEarly(let path, let offset, let count):
      self.init(.input, "\(Self.named(path)) was cut to \(offset) of \(count) bytes while it was read.", name: "file_changed")
    case .changed(let path, let from, let to):
      let change = from == to ? "still \(to) bytes" : "\(from) bytes before, \(to) now"
      self.init(
        .input, "\(Self.named(path)) changed while it was read (\(change)). The data may mix old and new.", name: "file_changed")
    case .keepsNoMore(let path, let limit):
      self.init(
        .input,
        "\(Self.named(path)) cannot be read again, and the limit of \(limit) unacknowledged bytes is reached. Use a regular file.",
        name: "not_kept")
    case .passed(let path, let offset):
      self.init(
        .input, "\(Self.named(path)) cannot be read again, and byte \(offset) is no longer in memory. Use a regular file.", name: "not_kept"
      )
    case .trace(let path, let errno):
      let reason =
        switch errno {
        case .tooManySymbolicLinkLevels: "it is a symbolic link, which may lead to a file that must not be overwritten (ELOOP)."
        case .notPermitted: "it exists and does not belong to you alone (EPERM). Use another name."
        case .noSuchAddressOrDevice: "it is a pipe without a reader, or a socket (ENXIO). Start the reader first."
        case .resourceTemporarilyUnavailable: "its reader is too slow (EAGAIN)."
        default: Self.reason(errno)
        }
      self.init(.output, "Cannot write the trace “\(path)”: \(reason)", errno)
    case .unwritable(let path, let errno): self.init(.output, "Cannot write \(Self.name(path)): \(Self.reason(errno))", errno)
    }
  }

  /// Returns why writing failed.
  private static func reason(_ errno: Errno) -> String {
    switch errno {
    case .noSuchFileOrDirectory: "no such folder (ENOENT)."
    case .permissionDenied: "permission denied (EACCES)."
    case .fileTooLarge: "\(errno.words). To see the limit: ulimit -f"
    default: "\(errno.words)."
    }
  }

  private static func name(_ path: FileError.Path) -> String { path.map { "“\($0)”" } ?? "standard input" }
  /// Returns the name of a file at the start of a message.
  private static func named(_ path: FileError.Path) -> String { path == nil ? "Standard input" : "The file " + name(path) }

  init(_ error: TransportError) {
    switch error {
    case .notAnAddress(let text, let wanted):
      self.init(.usage, "Invalid controller address “\(Self.head(text))”. Use \(Self.form(wanted)).")
    case .pathTooLong(let path): self.init(.usage, "The path “\(path)” is too long for a socket.")
    case .unknownBaudRate(let baud): self.init(.usage, "Unknown baud rate \(baud).")
    case .unknownHost(let host, let reason):
      self.init(.adapter, "Unknown host “\(host)” (\(reason)). Check the spelling, or use the numeric address.")
    case .unresolvedHost(let host):
      self.init(.timeout, "The lookup of host “\(host)” timed out. Check the name server, or use the numeric address.")
    case .notConnected(let address, let errno):
      self.init(.adapter, "Cannot connect to \(Self.head("\(address)")): \(Self.adviceOnConnecting(to: address, errno))", errno)
    case .connectTimeout(let address):
      self.init(.timeout, "\(Self.head("\(address)")) did not answer in time. Check the address, and firewalls on the way.")
    case .serialLine(let address, let errno):
      self.init(.adapter, "Cannot open \(Self.head("\(address)")): \(Self.adviceOnSerialLines(at: address, errno))", errno)
    case .cannotListen(let address, let errno):
      self.init(.adapter, "Cannot listen on \(Self.head("\(address)")): \(Self.adviceOnListening(at: address, errno))", errno)
    case .closedByOtherSide(let name):
      self.init(.adapter, "\(Self.head(name)): the controller closed the connection. Check that its program still runs.")
    case .notH4(let name, let reason):
      self.init(.adapter, "\(Self.head(name)): this is not H4 (\(reason)). Check the baud rate, and that it speaks H4, not H5 or BCSP.")
    case .lost(let name, let errno):
      self.init(.adapter, "\(Self.head(name)): the connection to the controller was lost: \(errno.words)", errno)
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

  /// Advises to join the group of a device file or socket, unless the group has no access either.
  private static func access(to address: TransportAddress) -> String {
    let file: String
    switch address {
    case .tcp: return "A firewall may block it."
    case .unix(let path), .serial(let path, _): file = path
    }
    guard let status = try? FilePath(file).stat(), status.permissions.contains(.groupReadWrite), status.groupID.rawValue != 0 else {
      return "To see its owner and mode: ls -l \(quoted(file))"
    }
    return "Join its group, then log in again: sudo usermod -aG \"$(stat -c %G \(quoted(file)))\" \"$USER\""
  }

  /// Creates a failure whose JSON error has the number and the name of `errno`.
  package init(_ kind: Kind, _ message: String, _ errno: Errno) {
    self.init(kind, message, code: Int(errno.rawValue), name: errno.snakeName)
  }
}
