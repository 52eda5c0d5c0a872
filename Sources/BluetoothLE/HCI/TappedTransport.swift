// SPDX-License-Identifier: Apache-2.0
/// A transport that passes each packet to a tap, in order. The tap records a packet before the receiver processes it.
@LoopActor
package final class TappedTransport: Transport {
  private let inner: any Transport
  private let tap: any Tap

  package init(_ inner: any Transport, tap: any Tap) { (self.inner, self.tap) = (inner, tap) }

  package var handler: (@LoopActor (TransportEvent) -> Void)? {
    didSet {
      guard let handler else {
        inner.handler = nil
        return
      }
      inner.handler = { [tap] event in
        if case .received(let packet) = event { tap.record(packet, .controllerToHost, isOurs: true) }
        handler(event)
      }
    }
  }

  package func send(_ packet: [UInt8]) {
    tap.record(packet, .hostToController, isOurs: true)
    inner.send(packet)
  }

  package var droppedPackets: Int? { inner.droppedPackets }

  package func close() { inner.close() }
}
