import Foundation
import Glibc
import TestSupport

/// A persistent air of the real executable, in real time, for all kinds of clients.
final class ListeningAir: Sendable {
  struct NotReady: Error { let errors: String }

  let process: RunningProcess
  /// The adapter for `-i`.
  let adapter: String
  let path: String
  private let file = TemporaryPath()

  /// - Parameter options: With `--once`, the air ends with its clients.
  init(_ options: [String] = [], tcp: Bool = false) throws {
    path = file.path
    process = try Blectl.start(
      ["sim", "--listen", tcp ? "tcp:127.0.0.1:0" : "unix:\(path)", "--json"] + options, hasInput: false)
    guard let line = process.nextLine(where: { $0.contains(#""event":"listening""#) }), let address = try Record(line).string("address")
    else {
      throw NotReady(errors: process.wait().errors)
    }
    adapter = address
  }

  func blectl(_ arguments: String..., input: [UInt8]? = nil) throws -> Blectl.Result {
    try Blectl.run(arguments, input: input, adapter: adapter, virtual: false)
  }

  func start(_ arguments: String...) throws -> RunningProcess { try Blectl.start(arguments, adapter: adapter, virtual: false) }

  /// Returns the next unread record of a client in this state.
  func client(_ state: String) throws -> Record? {
    try process.nextLine { $0.contains(#""event":"client""#) && $0.contains(#""state":"\#(state)""#) }.map { try Record($0) }
  }

  /// Ends the air with a signal.
  func end(_ signal: Int32 = SIGINT) -> ProcessResult {
    return process.end(by: signal)
  }
}

/// A misbehaving client that sends raw bytes to the air's UNIX socket.
final class RawClient {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = try SystemCall.call { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    guard let address = SocketAddress.unix(path) else { throw POSIXError(.ENAMETOOLONG) }
    try SystemCall.connect(descriptor, address)
  }

  deinit { close(descriptor) }

  /// Sends bytes, and waits until the air accepts them.
  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest
      let number = descriptor
      rest = rest.dropFirst(
        try SystemCall.call { unsafe part.withUnsafeBytes { unsafe Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } })
    }
  }

  /// Sends the same bytes until no more are accepted. - Returns: The number of bytes accepted.
  func fill(with bytes: [UInt8]) -> Int {
    var total = 0
    while case let count = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)), count > 0 {
      total += count
    }
    return total
  }

  /// Reads to the end. - Returns: The number of bytes read.
  func readToEnd() -> Int {
    var total = 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe Glibc.read(descriptor, &buffer, buffer.count), count > 0 { total += count }
    return total
  }

  /// Reads exactly `count` bytes.
  func read(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var buffer = [UInt8](repeating: 0, count: count - bytes.count)
      let number = try SystemCall.read(descriptor, into: &buffer)
      guard number > 0 else { break }
      bytes += buffer[..<number]
    }
    return bytes
  }
}
