import CLinux
import EventLoop
import Glibc
import SystemPackage

extension StreamTransport {
  /// Opens the transport; nothing has been said to the controller yet.
  /// - Throws: TransportError; CancellationError.
  package static func connect(to address: TransportAddress, timeout: Duration) async throws -> StreamTransport {
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    switch address {
    case .serial(let path, let baud): return try SerialPort.open(path, baud: baud)
    case .unix(let path):
      guard let socketAddress = SocketAddress.unix(path) else { throw TransportError.pathTooLong(path) }
      return try await connect([socketAddress], address, deadline)
    case .tcp(let host, let port):
      return try await connect(try await HostResolver.addresses(of: host, port: port, until: deadline), address, deadline)
    }
  }

  /// The first of `candidates` that answers, in the resolver's order.
  private static func connect(
    _ candidates: [SocketAddress], _ name: TransportAddress, _ deadline: LoopClock.Instant
  ) async throws -> StreamTransport {
    var last = Errno.noSuchAddressOrDevice
    for candidate in candidates {
      do {
        let descriptor = try SystemCall.socket(candidate.family, Int32(SOCK_STREAM.rawValue))
        do throws(Errno) { try SystemCall.connect(descriptor.rawValue, candidate) } catch {
          guard error == .nowInProgress else { throw error }
          guard try await EventLoop.shared.wait(for: descriptor.rawValue, .writable, until: deadline) != nil else {
            throw TransportError.connectTimeout(name)
          }
          if let failure = SystemCall.pendingError(descriptor.rawValue) { throw failure }
        }
        // HCI packets are small and each waits for an answer: Nagle's delay would be added to every one.
        if candidate.family != AF_UNIX { try SystemCall.setOption(descriptor.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1)) }
        return StreamTransport(descriptor, name: name.description)
      } catch let error as Errno {
        last = error
      }
    }
    throw TransportError.notConnected(name, last)
  }
}
