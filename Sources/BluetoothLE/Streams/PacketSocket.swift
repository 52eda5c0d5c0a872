// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
package import SystemPackage

/// A socket that transfers one packet per call: raw HCI, the user channel, L2CAP. It never blocks, and never drops outgoing packets.
@LoopActor
package final class PacketSocket {
  package enum Event {
    case packet([UInt8])
    /// The kernel dropped this many packets because the buffer of the socket was full (SO_RXQ_OVFL).
    case dropped(Int)
    /// The first part of a packet that was longer than the receive buffer. `length` is the full length in bytes.
    case cut([UInt8], length: Int)
    /// The socket ended, and no event follows. The error is nil if the remote end closed the connection.
    case ended(Errno?)
  }

  private var descriptor: OwnedDescriptor
  private let capability: Capabilities.Capability?
  private var watch = DescriptorWatch()
  private var queue = OutputQueue()
  private let room = Gate()
  /// The error that `waitForRoom` throws after sending has failed or the socket is closed. Nil while the socket works.
  private var roomEnd: Errno?
  private var buffer: [UInt8]
  /// The last received packet. The socket reuses this memory unless the handler still holds it.
  private var packet: [UInt8] = []
  private var drops: UInt32 = 0
  private var pendingError: Errno?
  package private(set) var isOver = false
  private var isReading = false
  /// Whether packets wait in the queue until the socket is writable.
  private var isHeld = false

  /// The maximum number of packets that the socket receives per turn of the event loop.
  private static let packetsPerTurn = 256

  /// Wraps an open socket.
  /// - Parameter largest: The size in bytes of the largest expected packet.
  /// - Parameter capability: The capability that the kernel requires for each sent packet.
  package init(_ descriptor: consuming OwnedDescriptor, largest: Int, sendingWith capability: Capabilities.Capability? = nil) {
    self.descriptor = descriptor
    self.capability = capability
    buffer = [UInt8](repeating: 0, count: largest)
  }

  isolated deinit { close() }

  package var rawDescriptor: Int32 { descriptor.rawValue }

  /// The number of received packets that the kernel has dropped so far. Nil if the kernel does not count them or the socket is closed.
  package var droppedPackets: Int? { isOver ? nil : SystemCall.droppedPackets(descriptor.rawValue) }

  /// The callback for events. The socket starts to read when a caller sets it.
  package var handler: (@LoopActor (Event) -> Void)? {
    didSet {
      updateWatch()
      if handler != nil, pendingError != nil { receiveSoon() }
    }
  }

  /// Sends a packet, or queues it when the kernel has no room.
  /// - Throws: The kernel's error for this packet. Failures of queued packets arrive as `.ended`.
  package func send(_ packet: [UInt8]) throws(Errno) {
    guard !isOver else { throw .socketNotConnected }
    guard !hasBacklog else { return queue.append(packet) }
    do throws(Errno) {
      try transmit(packet[...])
    } catch .wouldBlock {
      queue.append(packet)
      updateWatch()
    }
  }

  /// Ends the socket with an error. The event loop gives the handler first the packets that arrived earlier, then `error`.
  package func fail(_ error: Errno) {
    if pendingError == nil { pendingError = error }
    receiveSoon()
  }

  private func receiveSoon() { EventLoop.shared.schedule(after: .zero) { [weak self] in self?.receive() } }

  /// Whether unsent packets wait in the queue of this process, or `hold` has blocked the socket.
  package var hasBacklog: Bool { isHeld || !queue.isEmpty }

  /// Keeps packets in the queue until the socket is writable. Call it after a change for which the kernel blocks the socket.
  package func hold() {
    isHeld = true
    updateWatch()
  }

  /// Waits until the queue of this process is empty.
  /// - Parameter deadline: The time limit of the wait. Nil means no limit.
  /// - Returns: False if the deadline passed first.
  /// - Throws: Errno if the socket has ended, or CancellationError.
  package func waitForRoom(until deadline: LoopClock.Instant? = nil) async throws -> Bool {
    if isOver { throw Errno.socketNotConnected }
    guard hasBacklog else { return true }
    let isOpen = try await room.pass(until: deadline)
    if let roomEnd { throw roomEnd }
    return isOpen
  }

  /// Reads available packets immediately, without waiting for the event loop.
  package func pump() { if handler != nil { receive() } }

  /// Closes the socket without an event. Idempotent.
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
    let interest = Interest(isReading: handler != nil, isWriting: hasBacklog)
    if watch.set(interest) { return }
    watch.open(descriptor.rawValue, interest, flush: { [weak self] in self?.flush() }, receive: { [weak self] in self?.receive() })
  }

  private func flush() {
    isHeld = false
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
      // Packets received earlier are still available. The read end detects when they are used up.
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
        // An error overtakes packets that were received before it, and reading it clears it.
        if pendingError != nil { return end(pendingError) }
        pendingError = error
      }
    }
  }

  /// Whether the remote end hung up. A read of zero bytes does not show this, because packets can be empty.
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
