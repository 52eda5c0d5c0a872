import BluetoothLELinux
import Presentation
import SystemPackage
import TestSupport

/// The messages, kinds and names for the errors that the rooms throw.
@Suite(.timeLimit(.minutes(15))) struct FailureTests {
  struct Row {
    let error: any Error
    let kind: Failure.Kind
    let name: String?
    let words: String
  }

  static let files: [Row] = [
    Row(
      error: FileError.unreadable("a.bin", .noSuchFileOrDirectory), kind: .input, name: "enoent",
      words: "Cannot read \"a.bin\": no such file (ENOENT)."),
    Row(
      error: FileError.unreadable(nil, .isDirectory), kind: .input, name: "eisdir",
      words: "Cannot read standard input: it is a directory (EISDIR)."),
    Row(
      error: FileError.tooLong("a", limit: 9), kind: .input, name: "too_long", words: "The file \"a\" is too large: the limit is 9 bytes."),
    Row(
      error: FileError.trace("t", .tooManySymbolicLinkLevels), kind: .output, name: "eloop",
      words: "Cannot write the trace \"t\": it is a symbolic link, which may lead to a file that must not be overwritten (ELOOP)."),
    Row(error: FileError.trace("t", .noSuchAddressOrDevice), kind: .output, name: "enxio", words: "it is a pipe without a reader"),
    Row(error: FileError.trace("t", .resourceTemporarilyUnavailable), kind: .output, name: "eagain", words: "its reader is too slow"),
    Row(error: FileError.trace("t", .noSpace), kind: .output, name: "enospc", words: "\"t\": No space left on device (ENOSPC)"),
    Row(
      error: FileError.unwritable("/x", .noSpace), kind: .output, name: "enospc",
      words: "Cannot write \"/x\": No space left on device (ENOSPC)."),
    Row(
      error: FileError.unwritable("/x/y", .noSuchFileOrDirectory), kind: .output, name: "enoent",
      words: "Cannot write \"/x/y\": no such folder (ENOENT)."),
  ]

  static let transports: [Row] = [
    Row(
      error: TransportError.notConnected(.tcp(host: "h", port: 1), .connectionRefused), kind: .adapter, name: "econnrefused",
      words: "Cannot connect to tcp:h:1: connection refused (ECONNREFUSED). Start the controller's program first."),
    Row(error: TransportError.connectTimeout(.unix(path: "/s")), kind: .timeout, name: nil, words: "unix:/s did not answer in time."),
    Row(
      error: TransportError.serialLine(.serial(path: "/dev/ttyX", baud: 1_000_000), .permissionDenied), kind: .adapter, name: "eacces",
      words: "Cannot open serial:/dev/ttyX: permission denied (EACCES). To see its owner and mode: ls -l /dev/ttyX"),
    Row(
      error: TransportError.serialLine(.serial(path: "/dev/ttyX", baud: 9600), .resourceBusy), kind: .adapter, name: "ebusy",
      words: "Cannot open serial:/dev/ttyX@9600: another program uses it (EBUSY)."),
    Row(
      error: TransportError.cannotListen(.tcp(host: "h", port: 80), .permissionDenied), kind: .adapter, name: "eacces",
      words: "Cannot listen on tcp:h:80: ports below 1024 need root (EACCES). Use port 1024 or higher."),
    Row(
      error: TransportError.cannotListen(.unix(path: "/root/s"), .permissionDenied), kind: .adapter, name: "eacces", words: "ls -ld"),
    Row(error: TransportError.notAnAddress("tcp:h:0", .port), kind: .usage, name: nil, words: "Use tcp:HOST:PORT, with a port from 1 to"),
    Row(error: TransportError.unknownBaudRate(7), kind: .usage, name: nil, words: "Unknown baud rate 7."),
    Row(
      error: TransportError.unknownHost("h", reason: "no"), kind: .adapter, name: nil,
      words: "Unknown host \"h\" (no). Check the spelling"),
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
