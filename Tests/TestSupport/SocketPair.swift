package import BluetoothLE
package import Glibc

/// The test's end of two connected packet sockets.
@LoopActor
package final class SocketPair {
  private var descriptor: OwnedDescriptor
  private var taken: Int32

  package init(_ type: __socket_type = SOCK_SEQPACKET) {
    var ends: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    descriptor = OwnedDescriptor(ends[0])
    taken = ends[1]
  }

  /// Returns the other end. Call it once.
  package func takeOther() -> OwnedDescriptor {
    defer { taken = -1 }
    return OwnedDescriptor(taken)
  }

  package func write(_ packet: [UInt8]) throws {
    let number = descriptor.rawValue
    try SystemCall.call { unsafe packet.withUnsafeBytes { unsafe send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } }
  }

  /// Returns the next packet. Nil if there is none now or ever.
  package func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_600)
    guard let count = try? SystemCall.read(descriptor.rawValue, into: &buffer) else { return nil }
    return Array(buffer[..<count])
  }

  /// Whether the other end is closed. Waits for a program of another test, which inherits the end until its exec.
  package func hasEnded() -> Bool {
    var waiting = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waiting, 1, Int32(HangGuard.seconds) * 1000) == 1 && read() == []
  }

  package func close() { descriptor.close() }

  /// Lets the loop poll its descriptors. In virtual time, a timer fires only if none is ready.
  package func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
}
