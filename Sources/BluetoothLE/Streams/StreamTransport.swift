// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
import SystemPackage

/// A transport of H4 packets over TCP, a UNIX socket or a serial line (Vol 4 Part A). The remote end is a controller or a host.
@LoopActor
package final class StreamTransport: HostTransport {
  package let name: String
  /// The user who listens on the UNIX socket at the other end. Nil for another stream.
  package private(set) var owner: UserNumber?
  /// The maximum number of unsent bytes. Above this number, the transport stops reading from the stream.
  private let backlogLimit: Int
  private var descriptor: OwnedDescriptor
  private var watch = DescriptorWatch()
  private var framer: H4Framer
  /// The last received packet. The transport reuses this memory unless the handler still holds it.
  private var packet: [UInt8] = []
  private var unsent = OutputQueue()
  /// Whether the kernel had no room for the last write.
  private var isBlocked = false
  private lazy var turnEnd = DeferredAction { [weak self] in self?.flush() }
  private var ending: TransportError?
  private var isOver = false
  private var isDelivering = false
  /// The buffer for the bytes of one read. The transport reads once per turn of the event loop.
  private var buffer: [UInt8]

  /// Wraps an open stream.
  /// - Parameter name: The address in messages, for example `tcp:localhost:9000`.
  /// - Parameter receiving: The direction of received packets. A read takes 16 KiB from a controller, 4 KiB from a host.
  init(_ descriptor: consuming OwnedDescriptor, name: String, receiving: Direction = .controllerToHost, backlogLimit: Int = .max) {
    self.descriptor = descriptor
    self.name = name
    self.backlogLimit = backlogLimit
    framer = H4Framer(receiving)
    // A turn must handle all packets of a read, or queues would only grow. A 4-byte command costs more than an event.
    buffer = [UInt8](repeating: 0, count: receiving == .controllerToHost ? 16_384 : 4096)
    // HCI packets are small and each waits for an answer: Nagle's algorithm would delay every one.
    setTCP(TCP_NODELAY)
  }

  /// Sets an option of a TCP connection, and nothing of other streams. Fails only for a connection that is over.
  private func setTCP(_ option: Int32) {
    if name.hasPrefix("tcp:") { try? SystemCall.setOption(descriptor.rawValue, Int32(IPPROTO_TCP), option, Int32(1)) }
  }

  // The descriptor must not be closed before the loop has forgotten it.
  isolated deinit { watch.cancel() }

  /// The callback for events. The transport starts to read when a caller sets it.
  package var handler: (@LoopActor (TransportEvent) -> Void)? {
    didSet {
      guard !isOver else { return }
      updateWatch()
      deliver()
    }
  }

  /// The number of unsent bytes that triggers an immediate write. Fewer bytes wait for the end of the event loop's turn.
  private static let batch = 16_384

  package func send(_ packet: [UInt8]) {
    guard !isOver, ending == nil else { return }
    unsent.append(packet)
    if unsent.bytes >= Self.batch { return flush() }
    if !isBlocked { turnEnd.request() }
  }

  package var backlog: Int {
    if turnEnd.isDue { flush() }
    return unsent.bytes
  }

  package func close() {
    guard !isOver else { return }
    if turnEnd.isDue { flush() }
    isOver = true
    release()
  }

  private func release() {
    watch.cancel()
    descriptor.close()
    unsent = OutputQueue()
  }

  private func updateWatch() {
    guard !isOver, ending == nil else { return }
    let interest = Interest(isReading: handler != nil && unsent.bytes <= backlogLimit, isWriting: isBlocked)
    if watch.set(interest) { return }
    watch.open(descriptor.rawValue, interest, flush: { [weak self] in self?.flush() }, receive: { [weak self] in self?.receive() })
  }

  private func flush() {
    guard !isOver, ending == nil, !unsent.isEmpty else { return }
    isBlocked = false
    do throws(Errno) {
      while !unsent.isEmpty { unsent.removeFirst(try SystemCall.write(descriptor.rawValue, unsent.all)) }
    } catch .wouldBlock {
      // The watch reports when there is room.
      isBlocked = true
    } catch {
      // Read the other side's last packets first: they may tell more than EPIPE. Do it later, because the caller of send does
      // not expect it to end anything.
      unsent = OutputQueue()
      EventLoop.shared.schedule(after: .zero) { [weak self] in
        guard let self else { return }
        while receive() {}
        end(.lost(transport: name, error))
        deliver()
      }
    }
    updateWatch()
  }

  /// Reads once from the stream. Returns whether more data may be available.
  @discardableResult
  private func receive() -> Bool {
    guard !isOver, ending == nil else { return false }
    var isEmpty = false
    do throws(Errno) {
      let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
      // The other side may use Nagle's algorithm, as rootcanal does: it then sends the rest of a packet after the acknowledgment of the first
      // bytes, which the kernel otherwise delays by 40 ms. The option does not last.
      setTCP(TCP_QUICKACK)
      if count == 0 {
        end(.closedByOtherSide(transport: name))
      } else {
        framer.append(buffer[..<count])
      }
    } catch .wouldBlock {
      isEmpty = true
    } catch {
      end(.lost(transport: name, error))
    }
    deliver()
    return !isEmpty && ending == nil
  }

  private func end(_ error: TransportError) {
    guard !isOver, ending == nil else { return }
    ending = error
    release()
  }

  /// Delivers received packets to the handler in order. The handler may send, close, or set another handler.
  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    do throws(MalformedPacket) {
      while !isOver, let handler, try framer.next(&packet) { handler(.received(packet)) }
    } catch {
      end(.notH4(transport: name, error))
    }
    if !isOver, let ending, let handler {
      isOver = true
      handler(.closed(ending))
    }
  }

  /// Opens a transport to a controller. Sends nothing to the controller.
  /// - Throws: TransportError or CancellationError.
  package static func connect(to address: TransportAddress, timeout: Duration) async throws -> StreamTransport {
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    switch address {
    case .serial(let path, let baud): return try SerialPort.open(path, baud: baud)
    case .unix(let path):
      guard let socketAddress = SocketAddress.unix(path) else { throw TransportError.pathTooLong(path) }
      return try await connect([socketAddress], address, deadline)
    case .tcp(let host, let port):
      return try await connect(try await HostResolver.addresses(of: host, port: port, until: deadline), address, deadline)
    }
  }

  /// Connects to the first of `candidates` that answers, in the resolver's order.
  private static func connect(
    _ candidates: [SocketAddress], _ name: TransportAddress, _ deadline: LoopClock.Instant
  ) async throws -> StreamTransport {
    var last = Errno.noSuchAddressOrDevice
    for candidate in candidates {
      do {
        let descriptor = try SystemCall.socket(candidate.family, SOCK_STREAM)
        do throws(Errno) { try SystemCall.connect(descriptor.rawValue, candidate) } catch {
          guard error == .nowInProgress else { throw error }
          guard try await EventLoop.shared.wait(for: descriptor.rawValue, .writable, until: deadline) != nil else {
            throw TransportError.connectTimeout(name)
          }
          if let failure = SystemCall.pendingError(descriptor.rawValue) { throw failure }
        }
        let owner = candidate.family == AF_UNIX ? try SystemCall.peerUser(descriptor.rawValue) : nil
        let transport = StreamTransport(descriptor, name: name.description)
        transport.owner = owner
        return transport
      } catch let error as Errno {
        last = error
      }
    }
    throw TransportError.notConnected(name, last)
  }
}
