// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
package import SystemPackage

/// A stream socket that accepts connections of hosts. Each connection carries H4 packets.
@LoopActor
package final class Listener {
  package enum Event {
    case connected(StreamTransport)
    /// The process has no descriptors or no memory for more connections. The listener accepts waiting connections later. This event may
    /// then occur again.
    case exhausted(Errno)
    /// The listener failed and closed. No event follows.
    case failed(Errno)
  }

  /// The address of the listener. With TCP, the port is the one that the system assigned.
  package let address: TransportAddress
  private var descriptor: OwnedDescriptor
  private var socketFile: SocketFile?
  private var watch: Watch?
  private var retry: LoopTimer?
  private var isExhausted = false

  /// The maximum number of connections that the listener accepts per turn of the event loop.
  private static let connectionsPerTurn = 16
  /// The pause before the listener accepts connections again after the process has run out of descriptors or memory.
  private static let pause = Duration.milliseconds(200)
  /// The maximum number of unsent bytes per connection. Above this number, blectl stops reading from that host.
  package nonisolated static let backlogLimit = 1 << 16

  init(_ descriptor: consuming OwnedDescriptor, _ address: TransportAddress, _ socketFile: SocketFile? = nil) {
    self.descriptor = descriptor
    self.address = address
    self.socketFile = socketFile
  }

  isolated deinit { close() }

  /// The callback for events. The listener accepts no connections before a caller sets it.
  package var handler: (@LoopActor (Event) -> Void)? {
    didSet {
      guard handler != nil, watch == nil, descriptor.rawValue >= 0 else { return }
      watch = EventLoop.shared.watch(descriptor.rawValue, .readable) { [weak self] _ in self?.accept() }
    }
  }

  /// Closes the listener and removes a UNIX socket's file. Idempotent. Accepted connections stay open.
  package func close() {
    watch?.cancel()
    watch = nil
    retry?.cancel()
    retry = nil
    socketFile?.remove()
    socketFile = nil
    descriptor.close()
  }

  private func accept() {
    for _ in 0..<Self.connectionsPerTurn {
      guard descriptor.rawValue >= 0, let handler else { return }
      do throws(Errno) {
        let connection = try SystemCall.accept(descriptor.rawValue)
        handler(.connected(transport(connection)))
      } catch .wouldBlock {
        isExhausted = false
        return
      } catch {
        if Self.isExhaustion(error) { return wait(error) }
        guard Self.isOfConnection(error) else {
          close()
          return handler(.failed(error))
        }
      }
    }
  }

  private func transport(_ connection: consuming OwnedDescriptor) -> StreamTransport {
    // Keepalive detects hosts whose machine disappeared silently.
    if case .tcp = address { try? SystemCall.setOption(connection.rawValue, SOL_SOCKET, SO_KEEPALIVE, Int32(1)) }
    return StreamTransport(connection, name: address.description, receiving: .hostToController, backlogLimit: Self.backlogLimit)
  }

  /// Stops accepting connections for `pause`. Reports only the first of successive errors.
  private func wait(_ error: Errno) {
    // The connection still waits and the socket stays readable, so the watch would make the loop spin.
    watch?.setInterest([])
    retry = EventLoop.shared.schedule(after: Self.pause) { [weak self] in self?.watch?.setInterest(.readable) }
    if !isExhausted { handler?(.exhausted(error)) }
    isExhausted = true
  }

  private static func isExhaustion(_ error: Errno) -> Bool {
    [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noBufferSpace, .noMemory].contains(error)
  }

  /// Returns whether the error concerns one connection that failed before the listener accepted it (accept(2)).
  private static func isOfConnection(_ error: Errno) -> Bool {
    [
      .connectionAbort, .protocolError, .networkDown, .noRouteToHost, .hostIsDown, .networkUnreachable, .notPermitted, .timedOut,
      .connectionReset,
    ].contains(error)
  }

  /// Opens a listener at an address. A UNIX socket gets mode 0600, and replaces the socket file of a program that no longer listens.
  /// - Parameters:
  ///   - address: A TCP address or a UNIX socket.
  ///   - timeout: The time limit for resolving a host name.
  /// - Throws: TransportError or CancellationError.
  package static func open(_ address: TransportAddress, timeout: Duration = .seconds(10)) async throws -> Listener {
    switch address {
    case .unix(let path):
      guard let socketAddress = SocketAddress.unix(path) else { throw TransportError.pathTooLong(path) }
      do { return try unix(path, socketAddress, address) } catch { throw TransportError.cannotListen(address, error) }
    case .tcp(let host, let port):
      let deadline = EventLoop.shared.now.advanced(by: timeout)
      let candidates = try await HostResolver.addresses(of: host, port: port, until: deadline)
      do { return try tcp(host, candidates) } catch { throw TransportError.cannotListen(address, error) }
    case .serial: throw TransportError.cannotListen(address, .notSupported)
    }
  }

  private static func unix(_ path: String, _ address: SocketAddress, _ name: TransportAddress) throws(Errno) -> Listener {
    try removeStale(path, address)
    let descriptor = try SystemCall.socket(AF_UNIX, SOCK_STREAM)
    let number = descriptor.rawValue
    // bind(2) gives the file these rights from the start.
    try SystemCall.call { fchmod(number, 0o600) }
    try SystemCall.bind(number, address)
    let file = SocketFile(path)
    do throws(Errno) { try SystemCall.listen(number) } catch {
      file?.remove()
      throw error
    }
    return Listener(descriptor, name, file)
  }

  /// Removes the socket file of an ended program. Throws EADDRINUSE if a program listens, and EEXIST if the file is not a socket.
  private static func removeStale(_ path: String, _ address: SocketAddress) throws(Errno) {
    guard let file = SocketFile(path) else { return }
    guard file.isSocket else { throw .fileExists }
    let probe = try SystemCall.socket(AF_UNIX, SOCK_STREAM)
    do throws(Errno) { try SystemCall.connect(probe.rawValue, address) } catch {
      switch error {
      case .connectionRefused: return file.remove()
      case .noSuchFileOrDirectory: return
      // A program may listen, but this user may not connect.
      case .permissionDenied: throw error
      default: break
      }
    }
    throw .addressInUse
  }

  /// Opens a listener at the first of `candidates` that is an address of this machine.
  private static func tcp(_ host: String, _ candidates: [SocketAddress]) throws(Errno) -> Listener {
    var last = Errno.addressNotAvailable
    for candidate in candidates {
      do throws(Errno) {
        let descriptor = try SystemCall.socket(candidate.family, SOCK_STREAM)
        // Connections that ended recently do not block the port.
        try SystemCall.setOption(descriptor.rawValue, SOL_SOCKET, SO_REUSEADDR, Int32(1))
        try SystemCall.bind(descriptor.rawValue, candidate)
        try SystemCall.listen(descriptor.rawValue)
        let port = try SystemCall.localAddress(descriptor.rawValue).port ?? 0
        return Listener(descriptor, .tcp(host: host, port: port))
      } catch {
        last = error
      }
    }
    throw last
  }
}

/// A socket file, which `remove` deletes only if it is still the same file.
struct SocketFile {
  private let path: String
  private let device: dev_t
  private let inode: ino_t
  let isSocket: Bool

  /// Finds the file at a path, without following links. Nil if there is no file.
  init?(_ path: String) {
    guard let status = Self.status(path) else { return nil }
    self.path = path
    (device, inode) = (status.st_dev, status.st_ino)
    isSocket = status.kind == S_IFSOCK
  }

  func remove() {
    guard let now = Self.status(path), now.st_dev == device, now.st_ino == inode else { return }
    _ = unsafe unlink(path)
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }
}
