import CLinux
package import Glibc
package import SystemPackage

/// Wraps system calls. Each returns a result or throws `Errno`, and repeats a call that a signal interrupted.
package enum SystemCall {
  /// Makes a system call.
  /// - Throws: errno if `body` returns a negative number.
  @discardableResult
  package static func call<T: FixedWidthInteger & SignedInteger>(_ body: () -> T) throws(Errno) -> T {
    while true {
      let result = body()
      if result >= 0 { return result }
      let code = Errno(rawValue: errno)
      if code != .interrupted { throw code }
    }
  }

  /// Reads into a buffer. Returns the number of bytes read, or 0 at the end of the file.
  package static func read(_ descriptor: Int32, into buffer: inout [UInt8]) throws(Errno) -> Int {
    try call { unsafe Glibc.read(descriptor, &buffer, buffer.count) }
  }

  /// Reads into a part of `buffer`. Returns the number of bytes read, or 0 at the end of the file.
  /// - Parameter position: The offset in the file, in bytes. Nil reads at the current position and advances it.
  package static func read(_ descriptor: Int32, into buffer: inout [UInt8], _ part: Range<Int>, at position: Int?) throws(Errno) -> Int {
    try call {
      unsafe buffer.withUnsafeMutableBytes {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: $0[part])
        guard let position else { return unsafe Glibc.read(descriptor, room.baseAddress, room.count) }
        return unsafe pread(descriptor, room.baseAddress, room.count, position)
      }
    }
  }

  /// Writes bytes. Returns the number of bytes that the kernel took, possibly fewer than given.
  package static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
    try call { unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) } }
  }

  package static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(try call { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) })
  }

  package static func status(_ descriptor: Int32) throws(Errno) -> stat {
    var status = stat()
    try call { unsafe fstat(descriptor, &status) }
    return status
  }

  /// Returns the status of the file at a path, after following links. Nil if there is none.
  static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }
}

extension stat {
  /// The type of the file, such as S_IFREG.
  var kind: mode_t { st_mode & S_IFMT }
}

/// A socket address in the kernel's byte format.
package struct SocketAddress: Equatable {
  package let bytes: [UInt8]

  package var family: Int32 { bytes.count < 2 ? 0 : Int32(UInt16(bytes[0]) | UInt16(bytes[1]) << 8) }

  package init(bytes: [UInt8]) { self.bytes = bytes }

  package init(_ structure: some BitwiseCopyable) { bytes = unsafe withUnsafeBytes(of: structure) { unsafe Array($0) } }

  /// The port of an Internet address.
  var port: UInt16? { [AF_INET, AF_INET6].contains(family) && bytes.count >= 4 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : nil }

  /// Returns the address of a UNIX socket. Nil if the path has over 107 bytes or contains a zero byte.
  package static func unix(_ path: String) -> Self? {
    let octets = Array(path.utf8)
    guard !octets.isEmpty, octets.count <= 107, !octets.contains(0) else { return nil }
    return Self(bytes: [UInt8(AF_UNIX), 0] + octets + [0])
  }
}

/// Calls for sockets.
extension SystemCall {
  /// Opens a socket that is non-blocking and closed on exec.
  package static func socket(_ family: Int32, _ type: some RawRepresentable<UInt32>, _ protocolNumber: Int32 = 0) throws(Errno)
    -> OwnedDescriptor
  {
    let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    return OwnedDescriptor(try call { Glibc.socket(family, Int32(type.rawValue) | flags, protocolNumber) })
  }

  package static func bind(_ descriptor: Int32, _ address: SocketAddress) throws(Errno) {
    try unsafe withSocketAddress(address) { unsafe Glibc.bind(descriptor, $0, $1) }
  }

  /// Connects a socket.
  /// - Throws: `.nowInProgress` as a rule.
  package static func connect(_ descriptor: Int32, _ address: SocketAddress) throws(Errno) {
    try unsafe withSocketAddress(address) { unsafe Glibc.connect(descriptor, $0, $1) }
  }

  /// Listens with the longest queue of waiting connections that the system allows.
  static func listen(_ descriptor: Int32) throws(Errno) { try call { Glibc.listen(descriptor, SOMAXCONN) } }

  /// Accepts a connection. Its descriptor is non-blocking and closed on exec.
  /// - Throws: `.wouldBlock` when no connection waits.
  static func accept(_ descriptor: Int32) throws(Errno) -> OwnedDescriptor {
    let connection = OwnedDescriptor(try call { Glibc.accept(descriptor, nil, nil) })
    let number = connection.rawValue
    try call { fcntl(number, F_SETFL, O_NONBLOCK) }
    try call { fcntl(number, F_SETFD, FD_CLOEXEC) }
    return connection
  }

  /// Returns the local address of a socket, with the port that the system chose.
  static func localAddress(_ descriptor: Int32) throws(Errno) -> SocketAddress {
    var bytes = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
    var length = socklen_t(bytes.count)
    try call {
      unsafe bytes.withUnsafeMutableBytes { buffer -> Int32 in
        guard let base = buffer.baseAddress else { return -1 }
        return unsafe getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length)
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

  /// Returns the number of received packets that the kernel dropped since the socket was opened (SO_MEMINFO, SK_MEMINFO_DROPS).
  /// - Returns: Nil if the kernel does not count them.
  static func droppedPackets(_ descriptor: Int32) -> Int? {
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
  package static func raiseReceiveBuffer(_ descriptor: Int32, to octets: Int32) {
    // SO_RCVBUFFORCE needs CAP_NET_ADMIN; SO_RCVBUF is silently cut to net.core.rmem_max.
    do throws(Errno) {
      try Capabilities.raised(.netAdmin) { () throws(Errno) in try setOption(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, octets) }
    } catch {
      try? setOption(descriptor, SOL_SOCKET, SO_RCVBUF, octets)
    }
  }
}

/// A file descriptor with one owner. `close()` closes it, or else the end of its owner.
package struct OwnedDescriptor: ~Copyable {
  /// The descriptor, or −1 after closing.
  package private(set) var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // Not retried on EINTR: Linux has closed the descriptor by then.
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
  }

  /// Closes the descriptor. Idempotent.
  package mutating func close() {
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
    rawValue = -1
  }
}

extension Errno {
  /// The C name of the error, for example `EACCES`.
  package var symbol: String {
    guard let name = unsafe shim_errno_name(rawValue) else { return "errno \(rawValue)" }
    return unsafe String(cString: name)
  }

  /// The description of the error and its C name, for example `Permission denied (EACCES)`.
  package var words: String { "\(description) (\(symbol))" }

  /// The name of the error in JSON records, for example `eacces`.
  package var snakeName: String { String(decoding: symbol.lowercased().utf8.map { $0 == 0x20 ? 0x5F : $0 }, as: UTF8.self) }

  // Errors that swift-system has no names for.
  package static let badDescriptorState = Self(rawValue: EBADFD)
  package static let invalidExchange = Self(rawValue: EBADE)
  package static let blockedByRFKill = Self(rawValue: ERFKILL)
}
