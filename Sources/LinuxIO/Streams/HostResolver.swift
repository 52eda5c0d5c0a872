import CLinux
import EventLoop
import Glibc
import Synchronization

/// Resolves host names to socket addresses. A name server can take many seconds, so the query runs on its own thread and the loop stays
/// free for Ctrl-C. In virtual time the query blocks the loop, because the clock would otherwise run ahead.
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

  /// Looks a host up.
  /// - Parameter host: Nil returns this machine's own loopback addresses, without a query.
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
