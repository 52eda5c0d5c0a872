package import ATT
package import EventLoop

/// The attributes of one device, shared by the `Server`s of all clients.
@LoopActor
package final class AttributeStore {
  package var database: AttributeDatabase

  package init(_ database: AttributeDatabase) { self.database = database }
}

/// The server for the client on one bearer, which performs the decisions of `ServerSession`. Lives as long as the bearer.
@LoopActor
package final class Server: BearerServer {
  package let store: AttributeStore
  package let bearer: Bearer
  /// The handler that decides on a permitted request or command before the server reads or writes a value.
  package var onAccess: (@LoopActor (ServerSession.Access) -> Decision)?
  /// The handler of written values, which runs after the server has written a value and answered the write.
  package var onWrite: (@LoopActor (AttributeHandle, [UInt8], ServerSession.WriteKind) -> Void)?
  /// The handler of changed client configurations. Takes the characteristic's value handle and the bits (0 notifications, 1 indications).
  package var onSubscription: (@LoopActor (AttributeHandle, UInt16) -> Void)?
  /// The handler that runs once, after either side closed the bearer.
  package var onClosed: (@LoopActor (any Error) -> Void)?

  /// The owner's answer to a request or command: error, delay or none.
  package struct Decision {
    /// The error that refuses the request or command, so that the server writes nothing. The server refuses commands silently.
    package var error: ErrorCode?
    /// The delay of the response. The server reads or writes the value immediately.
    package var delay: Duration = .zero
    /// Whether to send a response. If false, the request takes effect without one.
    package var isAnswered = true
    /// An action after the response.
    package var then: (@LoopActor () -> Void)?

    package init() {}
  }

  /// The characteristic values that the server sends without a subscription. Bit 0: as notifications, bit 1: as indications.
  package var unasked: [AttributeHandle: UInt16] = [:]

  private var session = ServerSession()
  private var late: [Int: LoopTimer] = [:]
  private var lateCount = 0
  /// The maximum number of late responses. A client may have one request open, so further requests beyond this get no response.
  private static let mostLate = 16

  /// Attaches to a bearer, which may also have a client.
  package init(store: AttributeStore, bearer: Bearer) {
    self.store = store
    self.bearer = bearer
    bearer.server = self
  }

  /// Attaches to a channel.
  /// - Parameter rxMTU: the largest PDU that the device can receive, 23…517.
  package convenience init(store: AttributeStore, channel: any ATT.Channel, rxMTU: Int) {
    self.init(store: store, bearer: Bearer(channel, rxMTU: rxMTU))
  }

  package convenience init(database: AttributeDatabase, channel: any ATT.Channel, rxMTU: Int) {
    self.init(store: AttributeStore(database), channel: channel, rxMTU: rxMTU)
  }

  /// Starts serving. Set the handlers before, because PDUs may be waiting.
  package func start() { bearer.start() }

  /// The ATT_MTU in effect, 23…517.
  package var mtu: Int { bearer.mtu }
  /// The reason why the server is closed. Nil while the bearer is open.
  package var closed: (any Error)? { bearer.closed }

  /// Returns the bits that this client configured for a characteristic value: bit 0 notifications, bit 1 indications.
  package func configuration(ofValue handle: AttributeHandle) -> UInt16 { session.configuration(ofValue: handle) }

  /// The security of the link (default: none). Attributes may require more.
  package var security: ServerSession.Security {
    get { session.security }
    set { session.security = newValue }
  }

  // MARK: BearerServer

  package func serve(_ request: Request) -> (response: Response?, then: [@LoopActor () -> Void]) {
    var outcome = Decision()
    var then: [@LoopActor () -> Void] = []
    for access in onAccess == nil ? [] : session.accesses(of: request, mtu: bearer.mtu, store.database) {
      guard let decision = onAccess?(access) else { break }
      outcome.delay = max(outcome.delay, decision.delay)
      outcome.isAnswered = outcome.isAnswered && decision.isAnswered
      if let error = decision.error {
        session.dropPreparedWrites(of: request)
        let refusal = Response.error(request: request.opcode, handle: access.handle, code: error)
        return (inTime(refusal, outcome), decision.then.map { [$0] } ?? [])
      }
      if let next = decision.then { then.append(next) }
    }
    let (response, events) = session.answer(request, mtu: bearer.mtu, &store.database)
    let performing: [@LoopActor () -> Void] = events.map { event in { self.perform(event) } }
    return (inTime(response, outcome), performing + then)
  }

  /// Returns the response if it is due now. Schedules a late one.
  private func inTime(_ response: Response, _ decision: Decision) -> Response? {
    guard decision.isAnswered, decision.delay > .zero else { return decision.isAnswered ? response : nil }
    guard late.count < Self.mostLate else { return nil }
    lateCount += 1
    let number = lateCount
    late[number] = EventLoop.shared.schedule(after: decision.delay) { [weak self] in
      guard let self else { return }
      late[number] = nil
      if closed == nil { bearer.respond(response) }
    }
    return nil
  }

  package func execute(_ command: Command) {
    guard let onAccess, let access = session.access(of: command, store.database) else {
      for event in session.execute(command, &store.database) { perform(event) }
      return
    }
    let decision = onAccess(access)
    if decision.error == nil { for event in session.execute(command, &store.database) { perform(event) } }
    decision.then?()
  }

  package func closed(_ error: any Error) {
    for timer in late.values { timer.cancel() }
    late = [:]
    onClosed?(error)
  }

  private func perform(_ event: ServerSession.Event) {
    switch event {
    case .wrote(let handle, let value, let kind): onWrite?(handle, value, kind)
    case .configured(let handle, let bits):
      if bits & 2 == 0 { bearer.withdrawIndications(of: handle) }
      onSubscription?(handle, bits)
    }
  }

  // MARK: Notifications and indications

  private func isSent(_ handle: AttributeHandle, _ bit: UInt16) -> Bool {
    (configuration(ofValue: handle) | (unasked[handle] ?? 0)) & bit != 0
  }

  /// Sends a Handle Value Notification if the client subscribed or `unasked` allows it. Cuts the value to ATT_MTU − 3 bytes.
  /// - Returns: whether the server sent the notification.
  @discardableResult
  package func notify(_ handle: AttributeHandle, _ value: [UInt8]) -> Bool {
    guard closed == nil, isSent(handle, 1) else { return false }
    bearer.notify(HandleValue(handle, value))
    return true
  }

  /// Sends a Handle Value Indication after the client has confirmed all earlier ones, if it subscribed or `unasked` allows it.
  package func indicateWhenFree(_ handle: AttributeHandle, _ value: [UInt8]) {
    if isSent(handle, 2) { bearer.indicate(HandleValue(handle, value)) }
  }

  /// Whether an indication waits for transmission or confirmation.
  package var isIndicating: Bool { bearer.isIndicating }

  /// Sends a Handle Value Indication after all earlier ones, and waits for the client's confirmation.
  /// - Returns: false if the client has no subscription, or unsubscribes before the indication's turn.
  /// - Throws: the error that closed the bearer. ATTError after the transaction time limit, which closes the bearer.
  package func indicate(_ handle: AttributeHandle, _ value: [UInt8]) async throws -> Bool {
    if let closed { throw closed }
    guard configuration(ofValue: handle) & 2 != 0 else { return false }
    return try await bearer.indicate(HandleValue(handle, value)).value()
  }

  /// Stops serving and closes the bearer. Idempotent.
  package func close() { bearer.close() }
}
