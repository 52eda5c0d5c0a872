// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
package import SystemPackage

/// A socket address in the kernel's byte format.
package struct SocketAddress: Equatable {
  package let bytes: [UInt8]

  package var family: Int32 { bytes.count < 2 ? 0 : Int32(UInt16(bytes[0]) | UInt16(bytes[1]) << 8) }

  package init(bytes: [UInt8]) { self.bytes = bytes }

  package init(_ structure: some BitwiseCopyable) { bytes = unsafe withUnsafeBytes(of: structure) { unsafe Array($0) } }

  /// The port of an Internet address. Nil for other addresses.
  package var port: UInt16? { [AF_INET, AF_INET6].contains(family) && bytes.count >= 4 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : nil }

  /// Returns the address of a UNIX socket. Nil if the path is empty, has over 107 bytes or contains a zero byte.
  package static func unix(_ path: String) -> Self? {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= 107, !bytes.contains(0) else { return nil }
    return Self(bytes: [UInt8(AF_UNIX), 0] + bytes + [0])
  }
}

/// System calls for sockets.
extension SystemCall {
  /// Opens a non-blocking socket that exec(2) closes.
  package static func socket(_ family: Int32, _ type: some RawRepresentable<UInt32>, _ protocolNumber: Int32 = 0) throws(Errno)
    -> OwnedDescriptor
  {
    let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    return OwnedDescriptor(try call { Glibc.socket(family, Int32(type.rawValue) | flags, protocolNumber) })
  }

  package static func bind(_ descriptor: Int32, _ address: SocketAddress) throws(Errno) {
    try unsafe withSocketAddress(address) { unsafe Glibc.bind(descriptor, $0, $1) }
  }

  /// Starts to connect a socket.
  /// - Throws: `.nowInProgress` if the connection is not complete yet.
  package static func connect(_ descriptor: Int32, _ address: SocketAddress) throws(Errno) {
    try unsafe withSocketAddress(address) { unsafe Glibc.connect(descriptor, $0, $1) }
  }

  /// Listens with the longest queue of waiting connections that the system allows.
  package static func listen(_ descriptor: Int32) throws(Errno) { try call { Glibc.listen(descriptor, SOMAXCONN) } }

  /// Accepts a connection. The connection is non-blocking, and exec(2) closes it.
  /// - Throws: `.wouldBlock` when no connection waits.
  package static func accept(_ descriptor: Int32) throws(Errno) -> OwnedDescriptor {
    let connection = OwnedDescriptor(try call { Glibc.accept(descriptor, nil, nil) })
    let number = connection.rawValue
    try call { fcntl(number, F_SETFL, O_NONBLOCK) }
    try call { fcntl(number, F_SETFD, FD_CLOEXEC) }
    return connection
  }

  /// Returns the local address of a socket, with the port that the system chose.
  package static func localAddress(_ descriptor: Int32) throws(Errno) -> SocketAddress { try unsafe address(descriptor, getsockname) }

  /// Returns the address of the other end of a socket.
  package static func peerAddress(_ descriptor: Int32) throws(Errno) -> SocketAddress { try unsafe address(descriptor, getpeername) }

  private static func address(
    _ descriptor: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) throws(Errno) -> SocketAddress {
    var bytes = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
    var length = socklen_t(bytes.count)
    try call {
      unsafe bytes.withUnsafeMutableBytes { buffer -> Int32 in
        guard let base = buffer.baseAddress else { return -1 }
        return unsafe name(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length)
      }
    }
    return SocketAddress(bytes: Array(bytes.prefix(Int(length))))
  }

  private static func withSocketAddress(_ address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws(Errno) {
    try call {
      unsafe address.bytes.withUnsafeBytes { bytes -> Int32 in
        guard let base = bytes.baseAddress else { return -1 }
        return unsafe body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
      }
    }
  }

  package static func setOption<T: BitwiseCopyable>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: T) throws(Errno) {
    try call { unsafe withUnsafeBytes(of: value) { unsafe setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count)) } }
  }

  /// Returns the number of received packets that the kernel dropped since the process opened the socket (SO_MEMINFO, SK_MEMINFO_DROPS).
  /// - Returns: Nil if the kernel does not count them.
  package static func droppedPackets(_ descriptor: Int32) -> Int? {
    let none = InlineArray<9, UInt32>(repeating: 0)
    guard let counters = try? option(descriptor, SOL_SOCKET, SO_MEMINFO, none) else { return nil }
    return Int(counters[8])
  }

  package static func option<T: BitwiseCopyable>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ initial: T) throws(Errno) -> T {
    var value = initial
    var length = socklen_t(MemoryLayout<T>.size)
    try call { unsafe getsockopt(descriptor, level, name, &value, &length) }
    return value
  }

  /// Returns the user of the program at the other end of a UNIX socket. For a listener's connection, the user who made the listener.
  package static func peerUser(_ descriptor: Int32) throws(Errno) -> UserNumber {
    // struct ucred: the process, the user and the group.
    UserNumber(try option(descriptor, SOL_SOCKET, SO_PEERCRED, InlineArray<3, UInt32>(repeating: .max))[1])
  }

  /// Returns the pending error of a socket (SO_ERROR) and clears it. Nil if there is no error.
  package static func pendingError(_ descriptor: Int32) -> Errno? {
    do throws(Errno) {
      let code = try option(descriptor, SOL_SOCKET, SO_ERROR, Int32(0))
      return code == 0 ? nil : Errno(rawValue: code)
    } catch {
      return error
    }
  }

  /// Raises the receive buffer of a socket to a size in bytes, or as far as the system permits. The kernel doubles the number.
  package static func raiseReceiveBuffer(_ descriptor: Int32, to bytes: Int32) {
    // SO_RCVBUFFORCE needs CAP_NET_ADMIN; SO_RCVBUF is silently cut to net.core.rmem_max.
    do throws(Errno) {
      try Capabilities.raised(.netAdmin) { () throws(Errno) in try setOption(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, bytes) }
    } catch {
      try? setOption(descriptor, SOL_SOCKET, SO_RCVBUF, bytes)
    }
  }
}
