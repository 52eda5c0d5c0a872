// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
import Synchronization
package import SystemPackage

/// The address of a controller that speaks H4: `tcp:HOST:PORT`, `unix:PATH`, `serial:PATH[@BAUD]`.
package enum TransportAddress: Equatable, Sendable, CustomStringConvertible {
  /// A TCP port of a host, which is a name or a numeric address without brackets.
  case tcp(host: String, port: UInt16)
  case unix(path: String)
  /// A serial line. The baud rate is in bits per second.
  case serial(path: String, baud: Int)

  /// Parses the address of a listener. Rejects serial lines. Port 0 means any free port.
  /// - Throws: TransportError.notAnAddress.
  package init(listening text: String) throws(TransportError) {
    try self.init(text, portsFrom: 0)
    if case .serial = self { throw .notAnAddress(text, .listener) }
  }

  /// Parses the address of a controller.
  /// - Throws: TransportError.notAnAddress with the form that the text violates.
  package init(_ text: String) throws(TransportError) { try self.init(text, portsFrom: 1) }

  private init(_ text: String, portsFrom least: UInt16) throws(TransportError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count == 2 ? parts[1] : ""
    switch parts.first {
    case "tcp":
      guard let colon = rest.lastIndex(of: ":"), let port = Self.decimal(rest[rest.index(after: colon)...]).flatMap(UInt16.init(exactly:)),
        port >= least
      else { throw TransportError.notAnAddress(text, .port) }
      var host = rest[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw TransportError.notAnAddress(text, .host) }
      self = .tcp(host: String(host), port: port)
    case "unix":
      guard SocketAddress.unix(String(rest)) != nil else { throw TransportError.notAnAddress(text, .path) }
      self = .unix(path: String(rest))
    case "serial":
      let words = rest.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard let path = words.first, !path.isEmpty else { throw TransportError.notAnAddress(text, .device) }
      guard words.count == 2 else {
        self = .serial(path: String(path), baud: SerialPort.defaultBaud)
        return
      }
      guard let baud = Self.decimal(words[1]), SerialPort.speeds[baud] != nil else { throw TransportError.notAnAddress(text, .baudRate) }
      self = .serial(path: String(path), baud: baud)
    default: throw TransportError.notAnAddress(text, .anyTransport)
    }
  }

  /// Returns the address that a text without a kind means, such as `unix:/run/sim` or `tcp:localhost:9000`. Nil for other text.
  package static func meant(by text: String) -> String? {
    if text.hasPrefix("/dev/tty") { return "serial:\(text)" }
    if text.hasPrefix("/") || text.hasPrefix("./") { return "unix:\(text)" }
    let address = "tcp:\(text.hasPrefix(":") ? "localhost" : UInt16(text) == nil ? "" : "localhost:")\(text)"
    return (try? Self(address)) == nil ? nil : address
  }

  /// Parses one to nine ASCII digits. Nil for other text.
  private static func decimal(_ text: Substring) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .serial(let path, let baud): baud == SerialPort.defaultBaud ? "serial:\(path)" : "serial:\(path)@\(baud)"
    }
  }
}

/// Resolves host names to socket addresses. The query runs on its own thread, so that the event loop continues to run.
/// In virtual time, the query blocks the event loop.
@LoopActor
enum HostResolver {
  static func addresses(of host: String, port: UInt16, until deadline: LoopClock.Instant) async throws -> [SocketAddress] {
    if let numeric = try? lookUp(host, port, numericOnly: true) { return numeric }
    if EventLoop.shared.isVirtual { return try lookUp(host, port, numericOnly: false) }
    let answer = Wait<[SocketAddress]>()
    startThread {
      let result = Result { () throws(TransportError) in try lookUp(host, port, numericOnly: false) }
      EventLoop.shared.perform {
        switch result {
        case .success(let addresses): answer.resume(returning: addresses)
        case .failure(let error): answer.resume(throwing: error)
        }
      }
    }
    guard let addresses = try await answer.value(until: deadline) else { throw TransportError.unresolvedHost(host) }
    return addresses
  }

  /// Returns the addresses of a host.
  /// - Parameter host: A name or numeric address. With nil, the result is the loopback addresses of this machine.
  private nonisolated static func lookUp(_ host: String?, _ port: UInt16, numericOnly: Bool) throws(TransportError) -> [SocketAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : 0)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, String(port), &hints, &list)
    defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
    guard code == 0 else {
      // localhost needs no hosts file and no name server (RFC 6761 §6.3). A minimal root file system has neither.
      if host == "localhost", !numericOnly { return try lookUp(nil, port, numericOnly: true) }
      let reason = unsafe String(cString: gai_strerror(code))
      throw .unknownHost(host ?? "localhost", reason: reason)
    }
    var addresses: [SocketAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let address = unsafe entry.pointee.ai_addr {
        let bytes = unsafe UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))
        unsafe addresses.append(SocketAddress(bytes: Array(bytes)))
      }
      unsafe next = entry.pointee.ai_next
    }
    return addresses
  }

  private nonisolated static func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box { let body: () -> Void; init(_ body: @escaping () -> Void) { self.body = body } }
    let context = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, context)
    if code == 0 { pthread_detach(thread) } else { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
  }
}

/// An error that prevents or ends the connection to a controller over a byte stream.
package enum TransportError: Error, Equatable, Sendable {
  /// The text is not an address. `Wanted` is the part or form that the parser expected.
  case notAnAddress(String, Wanted)
  /// The path is too long for a UNIX socket's address.
  case pathTooLong(String)
  case unknownBaudRate(Int)
  /// The resolver does not know the host. `reason` is the resolver's message.
  case unknownHost(String, reason: String)
  /// The name server did not answer before the time limit.
  case unresolvedHost(String)
  case notConnected(TransportAddress, Errno)
  case connectTimeout(TransportAddress)
  case serialLine(TransportAddress, Errno)

  /// The listener cannot use the address. Another program uses it, the machine does not have it, or this user lacks permission.
  case cannotListen(TransportAddress, Errno)

  // How the connection ended. `transport` is its address as the user knows it.
  /// The remote end closed the stream. `transport` is the stream's address in messages.
  case closedByOtherSide(transport: String)
  /// The received data is not H4 (Vol 4 Part A).
  case notH4(transport: String, MalformedPacket)
  case lost(transport: String, Errno)

  package enum Wanted: Equatable, Sendable {
    case anyTransport
    case port
    case host
    case path
    case device
    case baudRate
    case listener
  }
}
