import LinuxIO
import SystemPackage
import Text

extension Failure {
  init(_ error: FileError) {
    switch error {
    case .unreadable(let path, let errno):
      let reason =
        switch errno {
        case .isDirectory: "it is a directory"
        case .noSuchAddressOrDevice: "it is a socket, or a device that is not there"
        case .noSuchFileOrDirectory: "there is no such file"
        case .timedOut: "it is a pipe that nobody writes to; start its writer first"
        case .permissionDenied: "this user may not read it"
        case .invalidArgument: "it is not a regular file"
        default: errno.description
        }
      self.init(.input, "cannot read \(Self.name(path)): \(reason) (\(errno.symbol))", errno)
    case .tooLong(let path, let limit):
      self.init(.input, "\(Self.named(path)) has more than \(limit) octets, the most that can be used here", name: "too_long")
    case .endless(let path):
      let device = path.map(ShellWords.quoteForShell) ?? "DEVICE"
      self.init(
        .input, "\(Self.named(path)) is a device that may never end: say how much of it is meant, as in head -c 1000 \(device) | … -",
        name: "endless")
    case .endedEarly(let path, let offset, let count):
      self.init(
        .input, "\(Self.named(path)) ended at octet \(offset) and had \(count) when it was opened: somebody cut it meanwhile",
        name: "file_changed")
    case .changed(let path, let from, let to):
      let change = from == to ? "it was written to, and still has \(to) octets" : "it had \(from) octets and has \(to)"
      self.init(
        .input, "\(Self.named(path)) was changed while it was read: \(change); what was read of it may be neither the old nor the new",
        name: "file_changed")
    case .keepsNoMore(let path, let limit):
      self.init(
        .input,
        "\(Self.named(path)) cannot be read again, and \(limit) octets of it wait for the peer's acknowledgement, as many as are kept; use a regular file",
        name: "not_kept")
    case .passed(let path, let offset):
      self.init(
        .input, "\(Self.named(path)) cannot be read again, and octet \(offset) is not kept any more; use a regular file", name: "not_kept")
    case .trace(let path, let errno):
      let reason =
        switch errno {
        case .tooManySymbolicLinkLevels: "it is a symbolic link, which could lead to a file that must not be overwritten"
        case .notPermitted: "it exists and is not this user's alone; choose another name"
        case .noSuchAddressOrDevice: "nobody reads the pipe, or it is a socket; start its reader first"
        case .resourceTemporarilyUnavailable: "its reader does not keep up"
        default: Self.reason(errno)
        }
      self.init(.output, "cannot write the trace “\(path)”: \(reason) (\(errno.symbol))", errno)
    case .unwritable(let path, let errno):
      self.init(.output, "cannot write \(Self.name(path)): \(Self.reason(errno)) (\(errno.symbol))", errno)
    }
  }

  /// Why nothing can be written.
  private static func reason(_ errno: Errno) -> String {
    errno.description + (errno == .fileTooLarge ? "; `ulimit -f` shows the limit" : "")
  }

  private static func name(_ path: FileError.Path) -> String { path.map { "“\($0)”" } ?? "standard input" }
  /// At the beginning of an error, which no long path must be.
  private static func named(_ path: FileError.Path) -> String { (path == nil ? "" : "the file ") + name(path) }

  init(_ error: TransportError) {
    switch error {
    case .notAnAddress(let text, let wanted):
      self.init(.usage, "“\(Self.head(text))” is not the address of a controller: \(Self.form(wanted)) is needed")
    case .pathTooLong(let path): self.init(.usage, "the path “\(path)” is too long for a socket")
    case .unknownBaudRate(let baud): self.init(.usage, "\(baud) is not a baud rate that serial lines know")
    case .unknownHost(let host, let reason):
      self.init(.adapter, "no host “\(host)” is known (\(reason)); check the spelling or give the numeric address")
    case .unresolvedHost(let host):
      self.init(.timeout, "looking up the host name “\(host)” took too long; check the name server or give the numeric address")
    case .notConnected(let address, let errno): self.init(.adapter, "\(Self.head("\(address)")): \(Self.adviceOnConnecting(errno))", errno)
    case .connectTimeout(let address):
      self.init(.timeout, "\(Self.head("\(address)")) did not answer in time; is the address right and no firewall between?")
    case .serialLine(let address, let errno): self.init(.adapter, "\(Self.head("\(address)")): \(Self.adviceOnSerialLines(errno))", errno)
    case .cannotListen(let address, let errno):
      self.init(.adapter, "\(Self.head("\(address)")): \(Self.adviceOnListening(at: address, errno))", errno)
    case .closedByOtherSide(let name):
      self.init(.adapter, "\(Self.head(name)): the controller closed the connection; is its program still running?")
    case .notH4(let name, let reason):
      self.init(
        .adapter,
        "\(Self.head(name)): what arrives is not H4 (\(reason)); is there a controller, at this baud rate, that speaks H4 and not H5 or BCSP?"
      )
    case .lost(let name, let errno):
      self.init(.adapter, "\(Self.head(name)): the connection to the controller was lost: \(errno.words)", errno)
    }
  }

  private static func form(_ wanted: TransportError.Wanted) -> String {
    switch wanted {
    case .anyTransport: "tcp:HOST:PORT, unix:PATH or serial:DEVICE[@BAUD]"
    case .port: "tcp:HOST:PORT, with a port from 1 to 65535"
    case .host: "tcp:HOST:PORT, for example tcp:localhost:9000"
    case .path: "unix:PATH, with a path of 1 to 107 octets"
    case .device: "serial:DEVICE[@BAUD], for example serial:/dev/ttyACM0"
    case .listener: "tcp:HOST:PORT or unix:PATH"
    case .baudRate: "a baud rate of \(SerialPort.speeds.keys.sorted().map(String.init).joined(separator: ", "))"
    }
  }

  private static func adviceOnConnecting(_ errno: Errno) -> String {
    switch errno {
    case .connectionRefused: "nobody listens there (\(errno.symbol)); start the controller's program first"
    case .noSuchFileOrDirectory: "there is no such socket (\(errno.symbol)); start the controller's program first"
    case .permissionDenied: "this user may not use that socket (\(errno.symbol)); see its owner and mode with ls -l"
    case .hostIsDown, .noRouteToHost, .networkUnreachable: "that host cannot be reached: \(errno.words)"
    case .resourceTemporarilyUnavailable: "the controller's program is too busy to accept a connection (\(errno.symbol)); try again"
    default: "cannot connect: \(errno.words)"
    }
  }

  private static func adviceOnListening(at address: TransportAddress, _ errno: Errno) -> String {
    switch errno {
    case .addressInUse: "another program listens there already (\(errno.symbol)); use what it offers, or choose another address"
    case .fileExists: "there is a file that is no socket (\(errno.symbol)); choose another path"
    case .permissionDenied:
      if case .tcp = address {
        "ports below 1024 need root (\(errno.symbol)); choose port 1024 or higher"
      } else {
        "this user may not create a socket there (\(errno.symbol)); see the folder with ls -ld"
      }
    case .noSuchFileOrDirectory: "there is no such folder (\(errno.symbol))"
    case .addressNotAvailable: "that is no address of this machine (\(errno.symbol)); `ip address` shows them"
    default: "cannot listen: \(errno.words)"
    }
  }

  private static func adviceOnSerialLines(_ errno: Errno) -> String {
    switch errno {
    case .noSuchFileOrDirectory, .noSuchAddressOrDevice:
      "there is no such device (\(errno.symbol)); is it plugged in? `ls /dev/serial/by-id` shows what is"
    case .permissionDenied, .notPermitted:
      "this user may not use it (\(errno.symbol)); join its group: sudo usermod -aG dialout $USER, then log in again"
    case .resourceBusy: "another program uses it (\(errno.symbol)); `fuser` tells which one"
    case .inappropriateIOCTLForDevice: "this is not a serial line (\(errno.symbol))"
    default: "cannot open it: \(errno.words)"
    }
  }

  /// With the number and its name in the JSON error.
  init(_ kind: Kind, _ message: String, _ errno: Errno) { self.init(kind, message, code: Int(errno.rawValue), name: errno.snakeName) }
}
