package import ATT
package import EventLoop

/// The attributes that the clients of one device share; each client's `Server` reads and writes them.
@LoopActor
package final class AttributeStore {
  package var database: AttributeDatabase

  package init(_ database: AttributeDatabase) { self.database = database }
}

/// Serves the client on one bearer: performs what `ServerSession` decides. Lives as long as the bearer.
@LoopActor
package final class Server: BearerServer {
  package let store: AttributeStore
  package let bearer: Bearer
  /// Before a permitted request or command reads or writes a value: what comes of it.
  package var onAccess: (@LoopActor (ServerSession.Access) -> Decision)?
  /// After a value was written and answered.
  package var onWrite: (@LoopActor (AttributeHandle, [UInt8], ServerSession.WriteKind) -> Void)?
  /// After a client configuration changed: the handle of the characteristic value, bit 0 notifications, bit 1 indications.
  package var onSubscription: (@LoopActor (AttributeHandle, UInt16) -> Void)?
  /// Once, when the bearer is closed by either side.
  package var onClosed: (@LoopActor (any Error) -> Void)?

  /// What the owner of the attributes makes of a request or command.
  package struct Decision {
    /// Refuses it: nothing is written. Commands are refused without a word.
    package var error: ErrorCode?
    /// How late the response is sent; the value is read or written at once.
    package var delay: Duration = .zero
    /// False: no response at all, whatever was done.
    package var isAnswered = true
    /// What follows the response.
    package var then: (@LoopActor () -> Void)?

    package init() {}
  }

  /// Characteristic values that are sent without a subscription. Bit 0: as notifications; bit 1: as indications.
  package var unasked: [AttributeHandle: UInt16] = [:]

  private var session = ServerSession()
  private var late: [Int: LoopTimer] = [:]
  private var lateCount = 0
  /// A client may have one request open; one that asks on all the same gets no more answers when so many are late.
  private static let mostLate = 16

  /// Attaches to a bearer, which may have a client as well.
  package init(store: AttributeStore, bearer: Bearer) {
    self.store = store
    self.bearer = bearer
    bearer.server = self
  }

  /// - Parameter rxMTU: 23…517, what the device can receive.
  package convenience init(store: AttributeStore, channel: any ATT.Channel, rxMTU: Int) {
    self.init(store: store, bearer: Bearer(channel, rxMTU: rxMTU))
  }

  package convenience init(database: AttributeDatabase, channel: any ATT.Channel, rxMTU: Int) {
    self.init(store: AttributeStore(database), channel: channel, rxMTU: rxMTU)
  }

  /// Begins to serve; the handlers above should be set before, since PDUs may be waiting.
  package func start() { bearer.start() }

  /// ATT_MTU.
  package var mtu: Int { bearer.mtu }
  /// Why nothing is served any more; nil while the bearer is open.
  package var closed: (any Error)? { bearer.closed }

  /// Bit 0 notifications, bit 1 indications of a characteristic value, as this client configured them.
  package func configuration(ofValue handle: AttributeHandle) -> UInt16 { session.configuration(ofValue: handle) }

  /// How well the link is protected; attributes may ask for more than the default, none.
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

  /// The response when it is to be sent now; a late one is sent in its time.
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

  /// Sends a Handle Value Notification when this client asked for it, or need not; values longer than ATT_MTU − 3 are cut, the rest is to be read.
  /// - Returns: whether it was sent.
  @discardableResult
  package func notify(_ handle: AttributeHandle, _ value: [UInt8]) -> Bool {
    guard closed == nil, isSent(handle, 1) else { return false }
    bearer.notify(HandleValue(handle, value))
    return true
  }

  /// Sends a Handle Value Indication when this client asked for it and all earlier ones are confirmed.
  package func indicateWhenFree(_ handle: AttributeHandle, _ value: [UInt8]) {
    if isSent(handle, 2) { bearer.indicate(HandleValue(handle, value)) }
  }

  /// An indication waits for its confirmation, or to be sent.
  package var isIndicating: Bool { bearer.isIndicating }

  /// Sends a Handle Value Indication after all earlier ones and waits for its confirmation.
  /// - Returns: false when this client did not ask for it, or no longer does when its turn comes.
  /// - Throws: what the bearer ended with; ATTError when there is no confirmation within the time of a
  ///   transaction, which closes the bearer.
  package func indicate(_ handle: AttributeHandle, _ value: [UInt8]) async throws -> Bool {
    if let closed { throw closed }
    guard configuration(ofValue: handle) & 2 != 0 else { return false }
    return try await bearer.indicate(HandleValue(handle, value)).value()
  }

  /// Stops serving and closes the bearer. Idempotent.
  package func close() { bearer.close() }
}
