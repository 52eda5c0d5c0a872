package import EventLoop

/// A channel that shows everything that crosses it to a tap, in order: the packet is recorded before it is acted on.
@LoopActor
package final class TappedChannel: Channel {
  private let inner: any Channel
  private let tap: any Tap

  package init(_ inner: any Channel, tap: any Tap) {
    self.inner = inner
    self.tap = tap
  }

  package var handler: (@LoopActor (ChannelEvent) -> Void)? {
    didSet {
      guard let handler else {
        inner.handler = nil
        return
      }
      inner.handler = { [tap] event in
        if case .received(let packet) = event { tap.record(packet, .controllerToHost) }
        handler(event)
      }
    }
  }

  package func send(_ packet: [UInt8]) {
    tap.record(packet, .hostToController)
    inner.send(packet)
  }

  package func close() { inner.close() }
}
