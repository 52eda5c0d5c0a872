import CLinux
import EventLoop
import Glibc
import SystemPackage

extension Listener {
  /// Listens. A UNIX socket is this user's alone (0600), and replaces one at which nobody listens any more.
  /// - Parameters:
  ///   - address: TCP or a UNIX socket.
  ///   - timeout: for the name server.
  /// - Throws: TransportError; CancellationError.
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
    let descriptor = try SystemCall.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
    let number = descriptor.rawValue
    // bind(2) gives the file these rights, so that there is no moment with others.
    try SystemCall.call { fchmod(number, 0o600) }
    try SystemCall.bind(number, address)
    let file = SocketFile(path)
    do throws(Errno) { try SystemCall.listen(number) } catch {
      file?.remove()
      throw error
    }
    return Listener(descriptor, name, file)
  }

  /// What a program left behind that was killed: a socket that refuses connections. Nothing else is removed.
  private static func removeStale(_ path: String, _ address: SocketAddress) throws(Errno) {
    guard let file = SocketFile(path) else { return }
    guard file.isSocket else { throw .fileExists }
    let probe = try SystemCall.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
    do throws(Errno) { try SystemCall.connect(probe.rawValue, address) } catch {
      switch error {
      case .connectionRefused: return file.remove()
      case .noSuchFileOrDirectory: return
      // Somebody may listen, but this user may not connect.
      case .permissionDenied: throw error
      default: break
      }
    }
    throw .addressInUse
  }

  /// The first of `candidates` that this machine has.
  private static func tcp(_ host: String, _ candidates: [SocketAddress]) throws(Errno) -> Listener {
    var last = Errno.addressNotAvailable
    for candidate in candidates {
      do throws(Errno) {
        let descriptor = try SystemCall.socket(candidate.family, Int32(SOCK_STREAM.rawValue))
        // Connections that have just ended do not keep the port.
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

/// A file that may be removed, as long as it is still the one that it was.
struct SocketFile {
  private let path: String
  private let device: dev_t
  private let inode: ino_t
  let isSocket: Bool

  /// Nil when there is none.
  init?(_ path: String) {
    guard let status = Self.status(path) else { return nil }
    self.path = path
    (device, inode) = (status.st_dev, status.st_ino)
    isSocket = status.st_mode & S_IFMT == S_IFSOCK
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
