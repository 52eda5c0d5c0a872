import LinuxIO
import SystemPackage
import Testing

@testable import blectl

/// The sentences, kinds and names that users and scripts get for the facts that the rooms throw.
@Suite struct FailureTests {
  struct Row {
    let error: any Error
    let kind: Failure.Kind
    let name: String?
    let words: String
  }

  static let files: [Row] = [
    Row(
      error: FileError.unreadable("a.bin", .noSuchFileOrDirectory), kind: .input, name: "enoent",
      words: "cannot read “a.bin”: there is no such file (ENOENT)"),
    Row(
      error: FileError.unreadable(nil, .isDirectory), kind: .input, name: "eisdir",
      words: "cannot read standard input: it is a directory (EISDIR)"),
    Row(error: FileError.tooLong("a", limit: 9), kind: .input, name: "too_long", words: "“a” has more than 9 octets"),
    Row(
      error: FileError.trace("t", .tooManySymbolicLinkLevels), kind: .output, name: "eloop",
      words: "cannot write the trace “t”: it is a symbolic link, which could lead to a file that must not be overwritten (ELOOP)"),
    Row(error: FileError.trace("t", .noSuchAddressOrDevice), kind: .output, name: "enxio", words: "nobody reads the pipe"),
    Row(error: FileError.trace("t", .resourceTemporarilyUnavailable), kind: .output, name: "eagain", words: "does not keep up"),
    Row(error: FileError.trace("t", .noSpace), kind: .output, name: "enospc", words: "“t”: No space left on device (ENOSPC)"),
    Row(
      error: FileError.unwritable("/x", .noSpace), kind: .output, name: "enospc",
      words: "cannot write “/x”: No space left on device (ENOSPC)"),
  ]

  static let transports: [Row] = [
    Row(
      error: TransportError.notConnected(.tcp(host: "h", port: 1), .connectionRefused), kind: .adapter, name: "econnrefused",
      words: "tcp:h:1: nobody listens there (ECONNREFUSED); start the controller's program first"),
    Row(error: TransportError.connectTimeout(.unix(path: "/s")), kind: .timeout, name: nil, words: "unix:/s did not answer in time"),
    Row(
      error: TransportError.serialLine(.serial(path: "/dev/ttyX", baud: 1_000_000), .permissionDenied), kind: .adapter, name: "eacces",
      words: "serial:/dev/ttyX: this user may not use it (EACCES); join its group"),
    Row(
      error: TransportError.serialLine(.serial(path: "/dev/ttyX", baud: 9600), .resourceBusy), kind: .adapter, name: "ebusy",
      words: "serial:/dev/ttyX@9600: another program uses it (EBUSY)"),
    Row(
      error: TransportError.cannotListen(.tcp(host: "h", port: 80), .permissionDenied), kind: .adapter, name: "eacces",
      words: "tcp:h:80: ports below 1024 need root (EACCES); choose port 1024 or higher"),
    Row(
      error: TransportError.cannotListen(.unix(path: "/root/s"), .permissionDenied), kind: .adapter, name: "eacces", words: "ls -ld"),
    Row(error: TransportError.notAnAddress("tcp:h:0", .port), kind: .usage, name: nil, words: "with a port from 1 to 65535 is needed"),
    Row(error: TransportError.unknownBaudRate(7), kind: .usage, name: nil, words: "7 is not a baud rate"),
    Row(
      error: TransportError.unknownHost("h", reason: "no"), kind: .adapter, name: nil,
      words: "no host “h” is known (no); check the spelling"),
  ]

  @Test(arguments: [files, transports]) func sentences(_ rows: [Row]) {
    for row in rows {
      let failure = Failure(row.error)
      #expect(failure.kind == row.kind)
      #expect(failure.name == row.name)
      #expect(failure.message.contains(row.words), "\(failure.message)")
    }
  }
}
