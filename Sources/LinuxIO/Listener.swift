package import EventLoop
import Glibc
import HCI
package import SystemPackage

/// A stream socket that programs connect to. Each connection is H4 with a host at its other end.
@LoopActor
package final class Listener {
  package enum Event {
    case connected(StreamTransport)
    /// There are no descriptors, or there is no memory, for more connections. Those that wait are taken when there are again, and then it
    /// may be said anew.
    case exhausted(Errno)
    /// The last event.
    case failed(Errno)
  }

  /// Where it listens; with TCP the port is the one that it got.
  package let address: TransportAddress
  private var descriptor: OwnedDescriptor
  private var socketFile: SocketFile?
  private var watch: Watch?
  private var retry: LoopTimer?
  private var isExhausted = false

  /// Connections of one turn at most; then the loop gets to those that there are.
  private static let connectionsPerTurn = 16
  /// Descriptors become free without anybody telling.
  private static let pause = Duration.milliseconds(200)
  /// Octets that a host may leave before it is not read any more.
  package nonisolated static let backlogLimit = 1 << 16

  init(_ descriptor: consuming OwnedDescriptor, _ address: TransportAddress, _ socketFile: SocketFile? = nil) {
    self.descriptor = descriptor
    self.address = address
    self.socketFile = socketFile
  }

  isolated deinit { close() }

  /// Connections are taken while a handler is set; the others wait.
  package var handler: (@LoopActor (Event) -> Void)? {
    didSet {
      guard handler != nil, watch == nil, descriptor.rawValue >= 0 else { return }
      watch = EventLoop.shared.watch(descriptor.rawValue, .readable) { [weak self] _ in self?.accept() }
    }
  }

  /// Removes a UNIX socket's file. Idempotent. Connections that were taken stay.
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
    if case .tcp = address {
      // As for connecting; and a host whose machine went away without a word is noticed one day.
      try? SystemCall.setOption(connection.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
      try? SystemCall.setOption(connection.rawValue, SOL_SOCKET, SO_KEEPALIVE, Int32(1))
    }
    return StreamTransport(connection, name: address.description, receiving: .hostToController, backlogLimit: Self.backlogLimit)
  }

  /// The connection still waits, and the socket stays readable: watching it would make the loop spin.
  private func wait(_ error: Errno) {
    watch?.setInterest([])
    retry = EventLoop.shared.schedule(after: Self.pause) { [weak self] in self?.watch?.setInterest(.readable) }
    if !isExhausted { handler?(.exhausted(error)) }
    isExhausted = true
  }

  private static func isExhaustion(_ error: Errno) -> Bool {
    [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noBufferSpace, .noMemory].contains(error)
  }

  /// What went wrong with one connection before it was taken (accept(2)).
  private static func isOfConnection(_ error: Errno) -> Bool {
    [
      .connectionAbort, .protocolError, .networkDown, .noRouteToHost, .hostIsDown, .networkUnreachable, .notPermitted, .timedOut,
      .connectionReset,
    ].contains(error)
  }
}
