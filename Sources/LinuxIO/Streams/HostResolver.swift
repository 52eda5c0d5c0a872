import CLinux
import EventLoop
import Glibc
import Synchronization

/// Host names to socket addresses. Asking a name server can take many seconds, so that happens on a thread of its own, and the loop stays
/// free for Ctrl-C; in virtual time it happens at once, because the clock would run away meanwhile.
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

  /// - Parameter host: nil for this machine's own loopback addresses, of which nobody is asked.
  private nonisolated static func lookUp(_ host: String?, _ port: UInt16, numericOnly: Bool) throws(TransportError) -> [SocketAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : 0)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, String(port), &hints, &list)
    defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
    guard code == 0 else {
      // Known without a hosts file and a name server (RFC 6761 §6.3): an empty root has neither.
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
