package import ATT
package import Bluetooth
package import EventLoop

/// The attributes that the clients of one device share; each client's `Server` reads and writes them.
@LoopActor
package final class AttributeStore {
  package var database: AttributeDatabase

  package init(_ database: AttributeDatabase) { self.database = database }
}

/// Serves one client: performs what `ServerSession` decides. Lives as long as its channel.
@LoopActor
package final class Server {
  package let store: AttributeStore
  /// After a value was written and answered.
  package var onWrite: ((UInt16, [UInt8], ServerSession.WriteKind) -> Void)?
  /// After a client configuration changed: the handle of the characteristic value, bit 0 notifications, bit 1 indications.
  package var onSubscription: ((UInt16, UInt16) -> Void)?
  /// Once, when the channel is closed by either side.
  package var onClosed: ((BluetoothError) -> Void)?
  package private(set) var closed: BluetoothError?

  private var session: ServerSession
  private let channel: any ATT.Channel
  private var indications: [Indication] = []
  private var confirmationTimer: LoopTimer?

  private struct Indication {
    let handle: UInt16
    let value: [UInt8]
    let outcome: Wait<Bool>
    var isSent = false
  }

  /// A transaction not completed within 30 seconds has failed (Vol 3 Part F §3.3.3).
  package static let transactionTimeout = Duration.seconds(30)

  /// - Parameter rxMTU: 23…517, what the device can receive.
  package init(store: AttributeStore, channel: any ATT.Channel, rxMTU: Int) {
    self.store = store
    self.channel = channel
    session = ServerSession(rxMTU: rxMTU)
  }

  package convenience init(database: AttributeDatabase, channel: any ATT.Channel, rxMTU: Int) {
    self.init(store: AttributeStore(database), channel: channel, rxMTU: rxMTU)
  }

  /// Begins to serve; the handlers above should be set before, since PDUs may be waiting.
  package func start() {
    channel.handler = { self.receive($0) }
  }

  /// ATT_MTU.
  package var mtu: Int { session.mtu }

  /// Bit 0 notifications, bit 1 indications of a characteristic value, as this client configured them.
  package func configuration(ofValue handle: UInt16) -> UInt16 { session.configuration(ofValue: handle) }

  /// How well the link is protected; attributes may ask for more than the default, none.
  package var security: ServerSession.Security {
    get { session.security }
    set { session.security = newValue }
  }

  private func receive(_ event: ChannelEvent) {
    switch event {
    case .received(let pdu):
      guard closed == nil else { return }
      let outcome = session.receive(pdu, &store.database)
      if let answer = outcome.answer { channel.send(answer) }
      for event in outcome.events { perform(event) }
    case .dropped: break
    case .closed(let error): end(error)
    }
  }

  private func perform(_ event: ServerSession.Event) {
    switch event {
    case .wrote(let handle, let value, let kind): onWrite?(handle, value, kind)
    case .configured(let handle, let bits): onSubscription?(handle, bits)
    case .mtuExchanged: break
    case .confirmed:
      confirmationTimer?.cancel()
      if indications.first?.isSent == true { indications.removeFirst().outcome.resume(returning: true) }
      sendNextIndication()
    }
  }

  /// Sends a Handle Value Notification when this client asked for it; values longer than ATT_MTU − 3 are cut, the rest is to be read.
  /// - Returns: whether it was sent.
  @discardableResult
  package func notify(_ handle: UInt16, _ value: [UInt8]) -> Bool {
    guard closed == nil, let pdu = session.notification(of: handle, value) else { return false }
    channel.send(pdu)
    return true
  }

  /// Sends a Handle Value Indication when this client asked for it and all earlier ones are confirmed.
  package func indicateWhenFree(_ handle: UInt16, _ value: [UInt8]) { _ = enqueueIndication(handle, value) }

  /// An indication waits for its confirmation, or to be sent.
  package var isIndicating: Bool { !indications.isEmpty }

  /// Sends a Handle Value Indication after all earlier ones and waits for its confirmation.
  /// - Returns: false when this client did not ask for it.
  /// - Throws: BluetoothError(.linkLost) when the channel closes first; `.timeout` when there is no confirmation for 30 seconds, which
  ///   closes the channel.
  package func indicate(_ handle: UInt16, _ value: [UInt8]) async throws -> Bool {
    try await enqueueIndication(handle, value).value()
  }

  private func enqueueIndication(_ handle: UInt16, _ value: [UInt8]) -> Wait<Bool> {
    let outcome = Wait<Bool>()
    if let closed {
      outcome.resume(throwing: closed)
    } else {
      indications.append(Indication(handle: handle, value: value, outcome: outcome))
      sendNextIndication()
    }
    return outcome
  }

  private func sendNextIndication() {
    while let next = indications.first, !next.isSent, !session.awaitsConfirmation {
      guard let pdu = session.indication(of: next.handle, next.value) else {
        indications.removeFirst().outcome.resume(returning: false)
        continue
      }
      indications[0].isSent = true
      confirmationTimer = EventLoop.shared.schedule(after: Self.transactionTimeout) { [weak self] in
        self?.close(
          BluetoothError(
            .timeout, "No confirmation of the indication on handle \(AttributeDatabase.hex(next.handle)) within 30 s: the bearer is closed")
        )
      }
      channel.send(pdu)
    }
  }

  /// Stops serving and closes the channel. Idempotent.
  package func close() { close(BluetoothError(.linkLost, "The server closed the bearer")) }

  private func close(_ error: BluetoothError) {
    guard closed == nil else { return }
    end(error)
    channel.close()
  }

  private func end(_ error: BluetoothError) {
    guard closed == nil else { return }
    closed = error
    channel.handler = nil
    confirmationTimer?.cancel()
    let waiting = indications
    indications = []
    for indication in waiting { indication.outcome.resume(throwing: error) }
    onClosed?(error)
  }
}
