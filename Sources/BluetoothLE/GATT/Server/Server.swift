// SPDX-License-Identifier: Apache-2.0
/// The attributes of one device, shared by the `Server`s of all clients.
@LoopActor
package final class AttributeStore {
  package var database: AttributeDatabase

  package init(_ database: AttributeDatabase) { self.database = database }
}

/// A GATT server for the client on one ATT bearer. The bearer keeps the server alive until it closes.
@LoopActor
package final class Server: BearerServer {
  package let store: AttributeStore
  package let bearer: Bearer
  /// The handler that permits, refuses or delays a request or command before the server reads or writes a value. Nil permits all.
  package var onAccess: (@LoopActor (ServerSession.Access) -> Decision)?
  /// The handler that sees each request or command first, with the attributes that it concerns. Nil goes on without a decision.
  package var onRequest: (@LoopActor ([AttributeHandle], ServerSession.Intent) -> Decision?)?
  /// The handler that runs after the server has sent a value in the response to a read request, except when a long read continues.
  package var onRead: (@LoopActor (AttributeHandle, [UInt8]) -> Void)?
  /// The handler of each notification and indication, with the value as sent. An indication may still wait for earlier confirmations.
  package var onSend: (@LoopActor (AttributeHandle, [UInt8], _ isIndication: Bool) -> Void)?
  /// The handler of false answers to Exchange MTU.
  package var onAnnouncedMTU: (@LoopActor (UInt16) -> Void)?
  /// The handler that runs after the server has written a value and has sent the response to a request.
  package var onWrite: (@LoopActor (AttributeHandle, [UInt8], ServerSession.WriteKind) -> Void)?
  /// The handler of CCCD writes, with the characteristic's value handle and the new bits: bit 0 notifications, bit 1 indications.
  package var onSubscription: (@LoopActor (AttributeHandle, UInt16) -> Void)?
  /// The handler that runs when the client has learned of a change of the database, by other means than a confirmation.
  package var onAware: (@LoopActor () -> Void)?
  /// The handler of the first value that the server drops, because `Bearer.answerLimit` values wait. Nil means no limit.
  package var onDropped: (@LoopActor (AttributeHandle) -> Void)?
  /// The handler that runs once after the bearer closes, with the error that closed it.
  package var onClosed: (@LoopActor (any Error) -> Void)?

  /// The decision of `onRequest` or `onAccess` on one request or command: an error, a delay, another response or none.
  package struct Decision {
    /// The ATT error code with which the server refuses the request. Nil accepts it. The server drops a refused command silently.
    package var error: ErrorCode?
    /// The handle in the Error Response. Nil means the handle of the request or access.
    package var handle: AttributeHandle?
    /// Whether the request or command takes effect. Only `onRequest` can prevent it.
    package var isPerformed = true
    /// The time by which the server delays the response. The server still reads or writes the value immediately.
    package var delay: Duration = .zero
    /// Whether the server responds to the request. The request takes effect in both cases.
    package var isAnswered = true
    /// The bytes that the server sends in place of the response. It sends nothing if they exceed `Bearer.largestPDU`.
    package var bytes: [UInt8]?
    /// The number of bytes at the start of the response that the server sends, counted from the opcode. Nil sends all.
    package var length: Int?
    /// The action that the server performs after the response to a request, or after a command. Nil performs none.
    package var then: (@LoopActor () -> Void)?

    package init() {}
  }

  /// The PDUs that the server sends without a subscription, by value handle: bit 0 notifications, bit 1 indications.
  package var unasked: [AttributeHandle: UInt16] = [:]

  private var session = ServerSession()
  private var isDropping = false
  private var late: [Int: LoopTimer] = [:]
  private var lateCount = 0
  /// The maximum number of delayed responses that wait at the same time. The server does not answer further delayed requests.
  private static let mostLate = 16

  /// Creates a server and attaches it to a bearer. The bearer may also have a GATT client.
  package init(store: AttributeStore, bearer: Bearer) {
    self.store = store
    self.bearer = bearer
    bearer.server = self
  }

  /// Starts to receive PDUs from the client. Set the handlers first, because PDUs may already be waiting.
  package func start() { bearer.start() }

  /// The error that closed the bearer. Nil while the bearer is open.
  package var closed: (any Error)? { bearer.closed }

  /// Returns the CCCD bits that the client wrote for a characteristic value: bit 0 notifications, bit 1 indications.
  package func configuration(ofValue handle: AttributeHandle) -> UInt16 { session.configuration(ofValue: handle) }

  /// The security level of the link, which the server compares with the permissions of attributes (default: none).
  package var security: ServerSession.Security {
    get { session.security }
    set { session.security = newValue }
  }

  /// The CCCD bits that the client wrote, by value handle. Set them to restore those of a bonded client.
  package var configurations: [AttributeHandle: UInt16] {
    get { session.configurations }
    set { session.configurations = newValue }
  }

  /// Sets the value that only this client gets for an attribute. A longer one than the attribute's maximum length is the caller's fault.
  package func answer(_ value: [UInt8], of handle: AttributeHandle) { session.answers[handle] = value }

  /// Returns the values that a request or a command would read or write now. None if the server refuses it.
  package func accesses(of request: Request) -> [ServerSession.Access] { session.accesses(of: request, mtu: bearer.mtu, store.database) }
  package func access(of command: ATTCommand) -> ServerSession.Access? { session.access(of: command, store.database) }

  /// Forgets what depends on the handles of an earlier database, except the CCCD bits, which the caller gives for the new one.
  package func databaseChanged(_ configurations: [AttributeHandle: UInt16]) {
    (session.configurations, session.prepared, session.answers) = (configurations, [], [:])
  }

  /// The Client Supported Features that the client wrote. Set them to restore those of a bonded client. Nil means none yet.
  package var clientFeatures: [UInt8]? {
    get { session.clientFeatures }
    set { session.clientFeatures = newValue }
  }

  /// Whether the client knows the attributes (default: yes). See `ServerSession.Awareness`.
  package var isAware: Bool {
    get { session.awareness == .aware }
    set { session.awareness = newValue ? .aware : .unaware }
  }

  // MARK: BearerServer

  package func serve(_ request: Request) -> (response: Response?, then: [@LoopActor () -> Void]) {
    var outcome = onRequest?(session.targets(of: request, mtu: bearer.mtu, store.database), .init(request)) ?? Decision()
    let last = outcome.then.map { [$0] } ?? []
    if let error = outcome.error {
      session.dropPreparedWrites(of: request)
      return (inTime(.error(request: request.opcode, handle: outcome.handle ?? request.handle, code: error), outcome), last)
    }
    guard outcome.isPerformed else { return (nil, last) }
    if !isAware {
      if let refusal = session.outOfSync(request, store.database) { return (inTime(refusal, outcome), last) }
      if isAware { onAware?() }
    }
    var then: [@LoopActor () -> Void] = []
    let accesses = onAccess == nil && onRead == nil ? [] : session.accesses(of: request, mtu: bearer.mtu, store.database)
    for access in accesses {
      guard let decision = onAccess?(access) else { break }
      outcome.delay = max(outcome.delay, decision.delay)
      outcome.isAnswered = outcome.isAnswered && decision.isAnswered
      if let error = decision.error {
        session.dropPreparedWrites(of: request)
        let refusal = Response.error(request: request.opcode, handle: access.handle, code: error)
        return (inTime(refusal, outcome), (decision.then.map { [$0] } ?? []) + last)
      }
      if let next = decision.then { then.append(next) }
    }
    let (response, events) = session.answer(request, mtu: bearer.mtu, &store.database)
    let performing: [@LoopActor () -> Void] = events.map { event in { self.perform(event) } }
    return (inTime(response, outcome), performing + (outcome.isAnswered ? reads(accesses, response) : []) + then + last)
  }

  /// Returns the actions that report the values in a response to a read request.
  private func reads(_ accesses: [ServerSession.Access], _ response: Response) -> [@LoopActor () -> Void] {
    guard let onRead, !accesses.isEmpty else { return [] }
    if case .error = response { return [] }
    return accesses.compactMap { access in
      guard case .read(let handle) = access, let value = store.database[handle].map({ session.value(of: $0) }) else { return nil }
      return { onRead(handle, value) }
    }
  }

  /// Returns the response to send now. Returns nil if `decision` forbids or delays the response. Schedules a delayed response.
  private func inTime(_ response: Response, _ decision: Decision) -> Response? {
    guard decision.isAnswered else { return nil }
    let bytes = decision.bytes ?? decision.length.map { Array(bearer.encoded(response).prefix(max(0, $0))) }
    guard decision.delay > .zero else {
      guard let bytes else { return response }
      bearer.respond(bytes: bytes)
      return nil
    }
    guard late.count < Self.mostLate else { return nil }
    lateCount += 1
    let number = lateCount
    late[number] = EventLoop.shared.schedule(after: decision.delay) { [weak self] in
      guard let self else { return }
      late[number] = nil
      guard closed == nil else { return }
      if let bytes { bearer.respond(bytes: bytes) } else { bearer.respond(response) }
    }
    return nil
  }

  package func execute(_ command: ATTCommand) {
    guard case .write(let handle, _) = command else { return }
    let outcome = onRequest?([handle], .command)
    defer { outcome?.then?() }
    guard outcome?.error == nil, outcome?.isPerformed ?? true, !session.isHeldBack(store.database) else { return }
    guard let onAccess, let access = session.access(of: command, store.database) else {
      for event in session.execute(command, &store.database) { perform(event) }
      return
    }
    let decision = onAccess(access)
    if decision.error == nil { for event in session.execute(command, &store.database) { perform(event) } }
    decision.then?()
  }

  package func announced(_ mtu: UInt16) { onAnnouncedMTU?(mtu) }

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

  /// Whether the client gets a value now, in notifications (bit 0) or indications (bit 1).
  package func reaches(_ handle: AttributeHandle, _ bit: UInt16) -> Bool {
    guard (configuration(ofValue: handle) | (unasked[handle] ?? 0)) & bit != 0 else { return false }
    return isAware || !session.isHeldBack(store.database) || store.database[handle]?.type == .serviceChanged
  }

  /// Whether too many values wait for the client, so that the server drops the next one.
  private func isFull(_ handle: AttributeHandle, _ waiting: Int) -> Bool {
    guard let onDropped, waiting >= Bearer.answerLimit else {
      isDropping = false
      return false
    }
    if !isDropping { onDropped(handle) }
    isDropping = true
    return true
  }

  /// Sends a Handle Value Notification if it reaches the client. Cuts the value to ATT_MTU − 3 bytes.
  /// - Returns: whether the server sent the notification.
  @discardableResult
  package func notify(_ handle: AttributeHandle, _ value: [UInt8]) -> Bool {
    guard closed == nil, reaches(handle, 1), !isFull(handle, bearer.unacknowledged ?? 0) else { return false }
    bearer.notify(HandleValue(handle, value))
    onSend?(handle, Array(value.prefix(bearer.mtu - 3)), false)
    return true
  }

  /// Sends an indication after the client confirms all earlier ones. Does nothing if it does not reach the client.
  /// - Returns: the wait for the confirmation, as `Bearer.indicate`. Nil if the server sends nothing.
  @discardableResult
  package func indicateWhenFree(_ handle: AttributeHandle, _ value: [UInt8]) -> Wait<Bool>? {
    guard reaches(handle, 2), !isFull(handle, bearer.waitingIndications) else { return nil }
    let confirmation = bearer.indicate(HandleValue(handle, value))
    if closed == nil { onSend?(handle, Array(value.prefix(bearer.mtu - 3)), true) }
    return confirmation
  }

  /// Stops serving and closes the bearer. Idempotent.
  package func close() { bearer.close() }
}
