import CLinux
package import EventLoop
import Glibc
package import SystemPackage

/// A socket on which one call moves one packet: raw HCI, the user channel, L2CAP. Nothing blocks and nothing is dropped on the way out.
@LoopActor
package final class PacketSocket {
  package enum Event {
    case packet([UInt8])
    /// The kernel threw away this many packets because its buffer was full (SO_RXQ_OVFL).
    case dropped(Int)
    /// A packet that was longer than the buffer; its first part and its true length.
    case cut([UInt8], length: Int)
    /// The last event. Nil: the other side closed.
    case ended(Errno?)
  }

  private var descriptor: OwnedDescriptor
  private let capability: ProcessRights.Capability?
  private var watch = DescriptorWatch()
  private var queue = OutputQueue()
  private let room = Gate()
  /// Why there will be none.
  private var roomEnd: Errno?
  private var buffer: [UInt8]
  /// The last one that was received, for its memory: a handler that is done with a packet leaves it to the next.
  private var packet: [UInt8] = []
  private var drops: UInt32 = 0
  private var pendingError: Errno?
  package private(set) var isOver = false
  private var isReading = false

  /// Packets in one go at most; then the loop gets to its timers and other descriptors.
  private static let packetsPerTurn = 256

  /// - Parameters:
  ///   - largest: octets of the largest packet to expect.
  ///   - capability: what the kernel asks for at each packet that is sent.
  package init(_ descriptor: consuming OwnedDescriptor, largest: Int, sendingWith capability: ProcessRights.Capability? = nil) {
    self.descriptor = descriptor
    self.capability = capability
    buffer = [UInt8](repeating: 0, count: largest)
  }

  isolated deinit { close() }

  package var rawDescriptor: Int32 { descriptor.rawValue }

  /// The received packets that the kernel has dropped so far. HCI sockets do not report them in another way. Nil if unknown.
  package var droppedPackets: Int? { isOver ? nil : SystemCall.droppedPackets(descriptor.rawValue) }

  /// Reading starts when a handler is set, so that nothing is lost before.
  package var handler: (@LoopActor (Event) -> Void)? {
    didSet {
      updateWatch()
      if handler != nil, pendingError != nil { receiveSoon() }
    }
  }

  /// Queues the packet when the kernel has no room.
  /// - Throws: what the kernel says to this packet; when it had to be queued, failures come as `.ended`.
  package func send(_ packet: [UInt8]) throws(Errno) {
    guard !isOver else { throw .socketNotConnected }
    guard queue.isEmpty else { return queue.append(packet) }
    do throws(Errno) {
      try transmit(packet[...])
    } catch .wouldBlock {
      queue.append(packet)
      updateWatch()
    }
  }

  /// Ends the socket with this error, after what was received before it, and not from within the caller.
  package func fail(_ error: Errno) {
    if pendingError == nil { pendingError = error }
    receiveSoon()
  }

  private func receiveSoon() { EventLoop.shared.schedule(after: .zero) { [weak self] in self?.receive() } }

  /// True while packets wait in this process.
  package var hasBacklog: Bool { !queue.isEmpty }

  /// Returns when the queue of this process is empty.
  /// - Parameter deadline: nil is no limit.
  /// - Returns: false when it was not before `deadline`.
  /// - Throws: Errno when the socket is over; CancellationError.
  package func waitForRoom(until deadline: LoopClock.Instant? = nil) async throws -> Bool {
    if isOver { throw Errno.socketNotConnected }
    guard hasBacklog else { return true }
    let isOpen = try await room.pass(until: deadline)
    if let roomEnd { throw roomEnd }
    return isOpen
  }

  /// Reads what is there now: to learn the reason for an end that another socket has just reported.
  package func pump() { if handler != nil { receive() } }

  /// Silent and idempotent.
  package func close() {
    guard !isOver else { return }
    isOver = true
    watch.cancel()
    descriptor.close()
    queue = OutputQueue()
    endRoom(.socketNotConnected)
  }

  private func transmit(_ packet: ArraySlice<UInt8>) throws(Errno) {
    let number = descriptor.rawValue
    func transmit() throws(Errno) {
      try SystemCall.call { unsafe packet.withUnsafeBytes { unsafe Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } }
    }
    if let capability { try Capabilities.raised(capability, transmit) } else { try transmit() }
  }

  private func updateWatch() {
    guard !isOver else { return }
    let interest = Interest(isReading: handler != nil, isWriting: !queue.isEmpty)
    if watch.set(interest) { return }
    watch.open(descriptor.rawValue, interest, flush: { [weak self] in self?.flush() }, receive: { [weak self] in self?.receive() })
  }

  private func flush() {
    do throws(Errno) {
      while let packet = queue.front {
        try transmit(packet)
        queue.removeFirst()
      }
    } catch .wouldBlock {
      return updateWatch()
    } catch {
      queue = OutputQueue()
      if pendingError == nil { pendingError = error }
      // What was received before is still there, and the read end knows when it is over.
      receive()
      return endRoom(error)
    }
    updateWatch()
    room.open()
  }

  private func receive() {
    guard !isReading else { return }
    isReading = true
    defer { isReading = false }
    for _ in 0..<Self.packetsPerTurn {
      guard !isOver, let handler else { return }
      var flags: Int32 = 0
      var total = drops
      let number = descriptor.rawValue
      do throws(Errno) {
        let count = try SystemCall.call { unsafe shim_receive(number, &buffer, buffer.count, &flags, &total) }
        if total != drops {
          let lost = total &- drops
          drops = total
          handler(.dropped(Int(lost)))
          if isOver { return }
        }
        if count == 0, isHungUp { return end(pendingError) }
        if count > buffer.count {
          handler(.cut(buffer, length: count))
        } else {
          packet.removeAll(keepingCapacity: true)
          packet.append(contentsOf: buffer[..<count])
          handler(.packet(packet))
        }
      } catch .wouldBlock {
        if let pendingError { end(pendingError) }
        return
      } catch {
        // An error overtakes the packets that were received before it, and reading it clears it.
        if pendingError != nil { return end(pendingError) }
        pendingError = error
      }
    }
  }

  /// An empty packet and the end both read as zero octets.
  private var isHungUp: Bool {
    // A GNU extension that Glibc's module does not show.
    let POLLRDHUP: Int32 = 0x2000
    var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLRDHUP), revents: 0)
    _ = unsafe poll(&entry, 1, 0)
    return entry.revents & Int16(POLLHUP | POLLRDHUP | POLLERR) != 0
  }

  private func end(_ error: Errno?) {
    guard !isOver else { return }
    let handler = handler
    close()
    handler?(.ended(error))
  }

  private func endRoom(_ error: Errno) {
    if roomEnd == nil { roomEnd = error }
    room.open()
  }
}
