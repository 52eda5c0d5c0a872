import Bluetooth
import CLinux
import EventLoop
import Glibc
import SystemPackage

extension StreamChannel {
  /// Opens the transport; nothing has been said to the controller yet.
  /// - Throws: BluetoothError(.adapter) when nobody is there, `.timeout`; CancellationError.
  package static func connect(to address: TransportAddress, timeout: Duration) async throws -> StreamChannel {
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    switch address {
    case .serial(let path, let baud): return try SerialPort.open(path, baud: baud)
    case .unix(let path):
      guard let socketAddress = SocketAddress.unix(path) else {
        throw BluetoothError(.usage, "the path “\(path)” is too long for a socket")
      }
      return try await connect([socketAddress], address, deadline)
    case .tcp(let host, let port):
      return try await connect(try await HostResolver.addresses(of: host, port: port, until: deadline), address, deadline)
    }
  }

  /// The first of `candidates` that answers, in the resolver's order.
  private static func connect(
    _ candidates: [SocketAddress], _ name: TransportAddress, _ deadline: LoopClock.Instant
  ) async throws -> StreamChannel {
    var last = Errno.noSuchAddressOrDevice
    for candidate in candidates {
      do {
        let descriptor = try SystemCall.socket(candidate.family, Int32(SOCK_STREAM.rawValue))
        do throws(Errno) { try SystemCall.connect(descriptor.rawValue, candidate) } catch {
          guard error == .nowInProgress else { throw error }
          guard try await EventLoop.shared.wait(for: descriptor.rawValue, .writable, until: deadline) != nil else {
            throw BluetoothError(.timeout, "\(name) did not answer in time; is the address right and no firewall between?")
          }
          if let failure = SystemCall.pendingError(descriptor.rawValue) { throw failure }
        }
        // HCI packets are small and each waits for an answer: Nagle's delay would be added to every one.
        if candidate.family != AF_UNIX { try SystemCall.setOption(descriptor.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1)) }
        return StreamChannel(descriptor, name: name.description)
      } catch let error as Errno {
        last = error
      }
    }
    throw BluetoothError(.adapter, "\(name): \(advice(last))", code: Int(last.rawValue), name: last.snakeName)
  }

  static func advice(_ error: Errno) -> String {
    switch error {
    case .connectionRefused: "nobody listens there (\(error.symbol)); start the controller's program first"
    case .noSuchFileOrDirectory: "there is no such socket (\(error.symbol)); start the controller's program first"
    case .permissionDenied: "this user may not use that socket (\(error.symbol)); see its owner and mode with ls -l"
    case .hostIsDown, .noRouteToHost, .networkUnreachable: "that host cannot be reached: \(error.words)"
    case .resourceTemporarilyUnavailable: "the controller's program is too busy to accept a connection (\(error.symbol)); try again"
    default: "cannot connect: \(error.words)"
    }
  }
}
