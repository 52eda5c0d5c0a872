import Bluetooth
import DequeModule
package import EventLoop
import Glibc
package import HCI
import SystemPackage

/// H4 packets over a stream: TCP, a UNIX socket or a serial line (Vol 4 Part A). At its other end is a controller, or a host.
@LoopActor
package final class StreamTransport: HCI.HostTransport {
  package let name: String
  /// Nothing more is read while the other side has left more octets than this: whoever does not take answers gets no more of them.
  private let backlogLimit: Int
  private var descriptor: OwnedDescriptor
  private var watch = DescriptorWatch()
  private var framer: H4Framer
  private var received: Deque<[UInt8]> = []
  private var unsent = OutputQueue()
  private var ending: TransportError?
  private var isOver = false
  private var isDelivering = false
  /// For one read a turn: no more packets than a turn can handle, or queues would only grow.
  private var buffer: [UInt8]

  /// - Parameters:
  ///   - name: as the user knows it: `tcp:localhost:9000`.
  ///   - receiving: which way packets come. What a host sends is read in smaller parts: a command has four octets and causes more work than an event.
  init(_ descriptor: consuming OwnedDescriptor, name: String, receiving: HCI.Direction = .controllerToHost, backlogLimit: Int = .max) {
    self.descriptor = descriptor
    self.name = name
    self.backlogLimit = backlogLimit
    framer = H4Framer(receiving)
    buffer = [UInt8](repeating: 0, count: receiving == .controllerToHost ? 16_384 : 4096)
  }

  // The descriptor must not be closed before the loop has forgotten it.
  isolated deinit { watch.cancel() }

  /// Reading starts when a handler is set, so that nothing is lost before.
  package var handler: (@LoopActor (HCI.TransportEvent) -> Void)? {
    didSet {
      guard !isOver else { return }
      updateWatch()
      deliver()
    }
  }

  package func send(_ packet: [UInt8]) {
    guard !isOver, ending == nil else { return }
    unsent.append(packet)
    flush()
  }

  package var backlog: Int { unsent.octets }

  package func close() {
    guard !isOver else { return }
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
    watch.update(
      descriptor.rawValue, isReading: handler != nil && backlog <= backlogLimit, isWriting: !unsent.isEmpty,
      flush: { [weak self] in self?.flush() },
      receive: { [weak self] in self?.receive() })
  }

  private func flush() {
    do throws(Errno) {
      while let part = unsent.front { unsent.removeFirst(try SystemCall.write(descriptor.rawValue, part)) }
    } catch .wouldBlock {
      // The watch says when there is room.
    } catch {
      // What the other side sent before it left is still to be read, and may say more than EPIPE does. Not from within send, which its
      // caller does not expect to end anything.
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

  /// - Returns: true when there may be more to read.
  @discardableResult
  private func receive() -> Bool {
    guard !isOver, ending == nil else { return false }
    var isEmpty = false
    do throws(Errno) {
      let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
      if count == 0 {
        end(.closedByOtherSide(transport: name))
      } else {
        frame(buffer[..<count])
      }
    } catch .wouldBlock {
      isEmpty = true
    } catch {
      end(.lost(transport: name, error))
    }
    deliver()
    return !isEmpty && ending == nil
  }

  private func frame(_ bytes: ArraySlice<UInt8>) {
    framer.append(bytes)
    do throws(MalformedPacket) {
      while let packet = try framer.next() { received.append(packet) }
    } catch {
      end(.notH4(transport: name, error))
    }
  }

  private func end(_ error: TransportError) {
    guard !isOver, ending == nil else { return }
    ending = error
    release()
  }

  /// In order, and not from within itself: a handler may send, close, or set another handler.
  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while !isOver, let handler, let packet = received.popFirst() { handler(.received(packet)) }
    if !isOver, received.isEmpty, let ending, let handler {
      isOver = true
      handler(.closed(ending))
    }
  }
}
