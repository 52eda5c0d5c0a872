// SPDX-License-Identifier: Apache-2.0
/// The direction of a PDU: from this program to the peer, or from the peer.
package enum PDUDirection: Sendable {
  case sent
  case received
}

/// The interface through which a bearer delivers the unsolicited PDUs of the peer's server, and its own end, to a client.
@LoopActor
package protocol BearerClient: AnyObject {
  /// Receives notifications and indications in order of arrival. The bearer has confirmed an indication before the call.
  func received(_ event: Unsolicited)
  /// Reports a faulty PDU that the bearer ignored, or PDUs that the transport lost.
  func ignored(_ fault: BearerState.Fault)
  /// Reports that the peer sends nothing more until the bearer sends a PDU. `error` is the reason.
  func exhausted(_ error: any Error)
  /// Reports the end of the bearer once, with the error that closed it.
  func closed(_ error: any Error)
}

/// The interface through which a bearer passes the requests and commands of the peer's client to a server.
@LoopActor
package protocol BearerServer: AnyObject {
  /// Computes the response to a request other than Exchange MTU, and the actions to run after the bearer sends the response.
  /// The bearer cuts the response at ATT_MTU. If the response is nil, the server may call `Bearer.respond` later.
  func serve(_ request: Request) -> (response: Response?, then: [@LoopActor () -> Void])
  func execute(_ command: ATTCommand)
  /// Reports that the bearer answers Exchange MTU with `Bearer.announced`.
  func announced(_ mtu: UInt16)
  /// Reports the end of the bearer once, with the error that closed it.
  func closed(_ error: any Error)
}

extension BearerServer { package func announced(_ mtu: UInt16) {} }

/// An ATT bearer on one channel, for a client and a server. Performs the actions that `BearerState` decides on.
@LoopActor
package final class Bearer {
  /// The handler of every PDU that the bearer sends or receives. Runs before the bearer validates a received PDU.
  package var onPDU: (@LoopActor (PDUDirection, [UInt8]) -> Void)?
  /// The client, which receives unsolicited PDUs of the peer's server. Set it before `start`.
  package weak var client: (any BearerClient)?
  /// The server that answers the peer's requests. If nil, the bearer answers as a device without attributes. Set it before `start`.
  package var server: (any BearerServer)?

  package private(set) var faults = Faults()

  /// The time limit of transactions that start after the assignment. Nil selects the limit from the initializer.
  package var limit: Duration?

  let channel: any Channel
  private let ownLimit: Duration
  private(set) var state: BearerState
  private var waits: [BearerState.Token: Wait<Response>] = [:]
  private var confirmations: [BearerState.Token: Wait<Bool>] = [:]
  private var responseTimer: LoopTimer?
  /// The time at which the bearer sent the outstanding request, and the deadline of its response.
  private var responseTimes: (LoopClock.Instant, LoopClock.Instant)?
  private var confirmationTimer: LoopTimer?
  private var isStarted = false
  /// The number of PDUs that the bearer has passed to the channel.
  package private(set) var transmitted = 0
  /// The number of transmitted PDUs up to the last answered request. The peer has received them, even without an acknowledgment event.
  var answered = 0
  /// The number of the last request among all transmitted PDUs, counted from 1.
  private var lastRequest = 0
  /// The gate that opens with each acknowledgment, each response, and at the end of the bearer.
  let acknowledgements = Gate()
  /// The `OpenRequest.mark` of the request that the bearer times, and when the peer's link layer acknowledged it. Nil if it times none.
  var timed: (mark: Int, acknowledged: LoopClock.Instant?)?
  /// Whether the peer has answered a request.
  package private(set) var hasAnswered = false
  /// The shortest time from a request to its response. Nil before the first response.
  package private(set) var shortestRoundTrip: Duration?
  /// Whether several independent tasks listen for values, so that the bearer must keep the order of arrival between them.
  package var hasSeveralListeners = false { didSet { keepsOrder = hasSeveralListeners || order.isWaiting } }
  var order = ArrivalOrder()
  /// Whether events must pass through `order`, because of several listeners or a waiting event.
  var keepsOrder = false
  private(set) lazy var turnEnd = DeferredAction(waitingForJobs: true) { [weak self] in self?.deliverHeld() }
  /// The encoded last Write Command, whose memory the bearer reuses for the next Write Command.
  private var writeCommand: [UInt8] = []

  /// The default time limit of a transaction (Vol 3 Part F §3.3.3).
  package nonisolated static let transactionTimeout = Duration.seconds(30)

  /// Creates a bearer on a channel, which receives nothing before `start`.
  /// - Parameters:
  ///   - timeout: the time limit of a client or server transaction, after which the bearer closes.
  ///   - rxMTU: the largest PDU that the bearer can receive, 23…517 bytes, for both roles.
  package init(_ channel: any Channel, timeout: Duration = transactionTimeout, rxMTU: Int = BearerState.largestMTU) {
    self.channel = channel
    ownLimit = timeout
    state = BearerState(rxMTU: rxMTU)
  }

  var timeout: Duration { limit ?? ownLimit }

  /// Starts to receive PDUs. Set the handlers first, because the channel immediately delivers the PDUs that it has kept.
  /// The first request also starts the bearer. Idempotent.
  package func start() {
    guard !isStarted else { return }
    isStarted = true
    channel.onAcknowledgement = { [weak self] in self?.noteAcknowledgement() }
    channel.handler = { self.handle($0) }
  }

  /// The ATT_MTU in effect, 23…517.
  package var mtu: Int { state.mtu }
  package var rxMTU: Int { state.rxMTU }
  /// The error that closed the bearer. Nil while the bearer is open.
  package private(set) var closed: (any Error)?
  /// The reason why the peer sends nothing more until the bearer sends a PDU. Nil for a peer that may send at any time.
  package private(set) var exhausted: (any Error)?
  /// Whether no request of the client is outstanding or waiting.
  package var isIdle: Bool { state.isIdle }
  /// Whether an indication of the server waits for transmission or confirmation.
  package var isIndicating: Bool { state.isIndicating }
  /// The number of indications of the server that wait for transmission.
  package var waitingIndications: Int { state.queuedIndications }

  /// Sends a request after all earlier ones, and waits for the response, which may be `.error`.
  /// - Throws: ATTError for an invalid response, a timeout or the bearer's end, the error that closed the channel, CancellationError.
  package func request(_ request: Request) async throws -> Response { try await answer(to: try begin(request)) }

  /// A request that the bearer has sent or queued, and whose response is outstanding.
  package struct OpenRequest {
    fileprivate let token: BearerState.Token
    fileprivate let wait: Wait<Response>
    /// The value of `Bearer.transmitted` after `begin` sent or queued the request.
    let mark: Int
  }

  /// Sends a request without waiting for the response. The bearer sends it immediately, unless another request is open.
  /// - Throws: the error that closed the bearer.
  package func begin(_ request: Request) throws -> OpenRequest {
    start()
    if let closed { throw closed }
    let (token, actions) = state.submit(request)
    let wait = Wait<Response>()
    waits[token] = wait
    perform(actions)
    if state.isBlocked { shortenResponseTimer() }
    return OpenRequest(token: token, wait: wait, mark: transmitted)
  }

  /// Waits for the response to a request. Call this function once per `begin`.
  /// - Throws: the errors of `request`.
  package func answer(to open: OpenRequest) async throws -> Response {
    do { return try await open.wait.value() } catch {
      if waits.removeValue(forKey: open.token) != nil { state.abandon(open.token) }
      throw error
    }
  }

  /// Sets the MTU for the next Exchange MTU, 23…517. Does nothing if the peer has already received an MTU.
  package func offer(rxMTU wanted: Int) { state.offer(rxMTU: wanted) }

  /// The number with which the bearer answers Exchange MTU in place of its Rx MTU, for a device that misbehaves on purpose. Nil for none.
  package var announced: UInt16? { didSet { if let announced { offer(rxMTU: Int(announced)) } } }

  private func exchanging(_ answer: [UInt8]) -> [UInt8] {
    guard let announced, answer.first == ATTOpcode.response(.exchangeMTU).rawValue else { return answer }
    server?.announced(announced)
    return Response.exchangeMTU(serverRxMTU: announced).bytes
  }

  /// Sends a command immediately, even while a request is outstanding. Call `waitUntilWritable` first to limit the queue.
  package func send(_ command: ATTCommand) {
    EventLoop.shared.spendStep()
    sendNow(command.bytes)
  }

  /// Sends a Write Command (Vol 3 Part F §3.4.5.3) immediately. Allocates no memory, to suit bulk transfers.
  /// - Parameter value: at most ATT_MTU − 3 bytes.
  package func sendWriteCommand(_ value: ArraySlice<UInt8>, to handle: AttributeHandle) {
    EventLoop.shared.spendStep()
    writeCommand.removeAll(keepingCapacity: true)
    writeCommand.append(ATTOpcode.command(.write).rawValue)
    writeCommand.append(UInt8(truncatingIfNeeded: handle.rawValue))
    writeCommand.append(UInt8(truncatingIfNeeded: handle.rawValue >> 8))
    writeCommand.append(contentsOf: value)
    sendNow(writeCommand)
  }

  /// Sends a Handle Value Notification immediately. Cuts the value to ATT_MTU − 3 bytes.
  package func notify(_ item: HandleValue) { sendNow(state.notification(item)) }

  /// Sends a Handle Value Indication after the client has confirmed all earlier ones. Cuts the value to ATT_MTU − 3 bytes.
  /// - Returns: a wait for the confirmation. Its value is false if the server withdrew the indication. It throws if the bearer closes,
  ///   for example because no confirmation arrives within the transaction time limit.
  @discardableResult
  package func indicate(_ item: HandleValue) -> Wait<Bool> {
    start()
    let (token, actions) = state.indicate(item)
    let wait = Wait<Bool>()
    if let closed { wait.resume(throwing: closed) } else { confirmations[token] = wait }
    perform(actions)
    return wait
  }

  /// Withdraws the waiting indications of a value, which the bearer has not sent.
  package func withdrawIndications(of handle: AttributeHandle) { perform(state.withdrawIndications(of: handle)) }

  /// Whether `waitUntilWritable` would return immediately. False if the event loop needs a turn.
  package var isWritable: Bool { closed == nil && !EventLoop.shared.isShareSpent && channel.isWritable }

  /// Waits until the channel can accept another command without queuing it in this process.
  /// - Throws: the errors of `Channel.waitUntilWritable`. ATTError if the channel accepts nothing within the transaction time limit.
  package func waitUntilWritable() async throws {
    start()
    try await EventLoop.shared.waitForTurn()
    if let closed { throw closed }
    if channel.isWritable { return }
    try await limited { try await channel.waitUntilWritable(until: $0) }
  }

  /// Limits a wait to the transaction time limit. Throws ATTError if the wait returns false at the deadline.
  private func limited(_ wait: @LoopActor (LoopClock.Instant) async throws -> Bool) async throws {
    do {
      if try await wait(EventLoop.shared.now.advanced(by: timeout)) { return }
    } catch {
      // If a timeout closed the bearer, `closed` is the reason.
      throw error is CancellationError ? error : closed ?? error
    }
    throw ATTError.nothingGotThrough(for: timeout)
  }

  /// Ends all pending operations and closes the channel. Idempotent.
  package func close() { close(ATTError.closedByThisSide) }

  private func close(_ error: any Error) {
    if closed == nil { closed = error }
    perform(state.close())
  }

  /// The maximum number of PDUs that the peer's link layer has not acknowledged, beyond which the bearer sends no answers.
  /// The limit protects the memory from a peer that sends more than one request and one indication at a time (Vol 3 Part F §3.3.2).
  package static let answerLimit = 512

  /// Sends the delayed response to a request for which `BearerServer.serve` returned nil.
  package func respond(_ response: Response) { sendAnswer(state.answer(response)) }

  /// Sends any bytes in place of a response. Sends nothing if they exceed `largestPDU`.
  package func respond(bytes: [UInt8]) { if bytes.count <= largestPDU { sendAnswer(bytes) } }

  /// Encodes a response, and cuts the PDU at ATT_MTU.
  package func encoded(_ response: Response) -> [UInt8] { state.answer(response) }

  /// The largest PDU that the channel can carry, in bytes.
  package var largestPDU: Int { channel.largestPDU }

  private func sendAnswer(_ bytes: [UInt8]) {
    if let waiting = channel.unacknowledged, waiting >= Self.answerLimit { faults.unanswered &+= 1 } else { sendNow(bytes) }
  }

  private func sendNow(_ bytes: [UInt8]) {
    guard closed == nil else { return }
    start()
    put(bytes)
  }

  private func put(_ bytes: [UInt8]) {
    exhausted = nil
    transmitted &+= 1
    onPDU?(.sent, bytes)
    channel.send(bytes)
  }

  func deliver(_ event: ChannelEvent) {
    switch event {
    case .received(let bytes):
      guard closed == nil else { return }
      onPDU?(.received, bytes)
      perform(state.receive(bytes))
    case .dropped(let count): perform([.fault(.lost(count))])
    case .exhausted(let error):
      guard closed == nil else { return }
      exhausted = error
      client?.exhausted(error)
    case .closed(let error): close(error)
    }
  }

  private func perform(_ actions: [BearerState.Action]) { for action in actions { perform(action) } }

  // If inlined into the loop, it checks exclusive access to every property first: 3 % of a notification's instructions.
  @inline(never)
  private func perform(_ action: BearerState.Action) {
    switch action {
    case .send(let bytes): put(bytes)
    case .answer(let bytes): sendAnswer(exchanging(bytes))
    case .startTimer(let answer): startTimer(answer)
    case .stopTimer(.response):
      responseTimer?.cancel()
      noteRoundTrip()
      answered = lastRequest
      acknowledgements.open()
    case .stopTimer(.confirmation): confirmationTimer?.cancel()
    case .finish(let token, let response):
      hasAnswered = true
      waits.removeValue(forKey: token)?.resume(returning: response)
    case .fail(let token, let error): waits.removeValue(forKey: token)?.resume(throwing: error)
    case .confirm(let token, let isConfirmed): confirmations.removeValue(forKey: token)?.resume(returning: isConfirmed)
    case .serve(let request): serve(request)
    case .execute(let command): server?.execute(command)
    case .deliver(let event): client?.received(event)
    case .fault(let fault):
      faults.count(fault)
      client?.ignored(fault)
    case .close(let error): end(closed ?? error ?? ATTError.closedByThisSide)
    }
  }

  /// Sends the response to a request, then runs the actions of the server.
  private func serve(_ request: Request) {
    guard let server else { return sendAnswer(state.answer(BearerState.answerWithoutServer(request))) }
    let (response, effects) = server.serve(request)
    if let response { respond(response) }
    for effect in effects { effect() }
  }

  private func noteRoundTrip() {
    guard let (begin, _) = responseTimes else { return }
    let time = begin.duration(to: EventLoop.shared.now)
    shortestRoundTrip = min(shortestRoundTrip ?? time, time)
  }

  private func startTimer(_ answer: BearerState.Answer) {
    let now = EventLoop.shared.now
    let timer = timer(answer, from: now, until: now.advanced(by: timeout))
    switch answer {
    case .response:
      // The number of the next PDU.
      lastRequest = transmitted &+ 1
      responseTimer = timer
      responseTimes = (now, now.advanced(by: timeout))
    case .confirmation: confirmationTimer = timer
    }
  }

  private func timer(_ answer: BearerState.Answer, from begin: LoopClock.Instant, until end: LoopClock.Instant) -> LoopTimer {
    EventLoop.shared.schedule(at: end) { [weak self] in
      guard let self else { return }
      perform(state.timeOut(answer, after: begin.duration(to: end)))
    }
  }

  /// Limits the wait for the response to a canceled request, so that the next request waits no longer than its own time limit.
  private func shortenResponseTimer() {
    let end = EventLoop.shared.now.advanced(by: timeout)
    guard let (begin, latest) = responseTimes, end < latest else { return }
    responseTimer?.cancel()
    responseTimer = timer(.response, from: begin, until: end)
    responseTimes = (begin, end)
  }

  private func end(_ error: any Error) {
    closed = error
    let (requests, indications) = (waits, confirmations)
    (waits, confirmations) = ([:], [:])
    for (_, wait) in requests.sorted(by: { $0.key < $1.key }) { wait.resume(throwing: error) }
    for (_, wait) in indications.sorted(by: { $0.key < $1.key }) { wait.resume(throwing: error) }
    channel.close()
    (channel.handler, channel.onAcknowledgement) = (nil, nil)
    let server = server
    self.server = nil
    acknowledgements.open()
    client?.closed(error)
    server?.closed(error)
  }
}

/// Information about the PDUs that the peer has received, from its link layer's acknowledgments and its responses.
extension Bearer {
  /// Records the time at which the peer's link layer acknowledges a request from `begin`. Each call replaces the previous one.
  /// Do not wait for the result, because the controller may lose the acknowledgment event.
  package func timeAcknowledgement(of open: OpenRequest) {
    timed = (open.mark, nil)
    noteAcknowledgement()
  }

  /// Returns the time at which the peer's link layer acknowledged a timed request. Returns nil if no acknowledgment has arrived.
  package func acknowledgement(of open: OpenRequest) -> LoopClock.Instant? { timed?.mark == open.mark ? timed?.acknowledged : nil }

  func noteAcknowledgement() {
    if let timed, timed.acknowledged == nil, let unacknowledged = channel.unacknowledged, transmitted &- unacknowledged >= timed.mark {
      self.timed?.acknowledged = EventLoop.shared.now
    }
    acknowledgements.open()
  }

  /// The number of transmitted PDUs that neither the peer's link layer nor a response to a later request has acknowledged.
  /// Nil if the transport does not report acknowledgments.
  package var unacknowledged: Int? { channel.unacknowledged.map { min($0, transmitted &- answered) } }

  /// Waits until fewer than `count` PDUs are unacknowledged. Returns immediately if the transport does not report acknowledgments.
  /// - Throws: ATTError after the transaction time limit without progress, the error that closed the channel, CancellationError.
  package func waitUntilUnacknowledged(below count: Int) async throws {
    start()
    var (least, deadline) = (Int.max, EventLoop.shared.now)
    while true {
      if let closed { throw closed }
      guard let open = unacknowledged, open >= max(1, count) else { return }
      if open < least { (least, deadline) = (open, EventLoop.shared.now.advanced(by: timeout)) }
      guard try await acknowledgements.pass(until: deadline) else { throw ATTError.nothingGotThrough(for: timeout) }
    }
  }
}

/// Delivery of channel events in order of arrival, through `ArrivalOrder`.
extension Bearer {
  func handle(_ event: ChannelEvent) {
    if !keepsOrder, state.isIdle { return deliver(event) }
    let passes = order.passes(event, isAsking: !state.isIdle, isShared: hasSeveralListeners)
    keepsOrder = hasSeveralListeners || order.isWaiting
    if order.isWaiting { turnEnd.request() }
    if passes { deliver(event) } else if order.isFull { for event in taken() { deliver(event) } }
  }

  func deliverHeld() { for event in taken() { handle(event) } }

  private func taken() -> [ChannelEvent] {
    defer { keepsOrder = hasSeveralListeners }
    return order.take()
  }

  /// The number of PDUs that the bearer ignored or left unanswered, by reason.
  package struct Faults: Equatable, Sendable {
    package var empty = 0
    package var malformed = 0
    package var stray = 0
    package var unknownCommands = 0
    /// The number of PDUs that the transport lost because of a full socket buffer.
    package var lost = 0
    /// The number of requests and indications that the bearer did not answer, because `answerLimit` PDUs were unacknowledged.
    package var unanswered = 0

    mutating func count(_ fault: BearerState.Fault) {
      switch fault {
      case .empty: empty &+= 1
      case .malformed: malformed &+= 1
      case .stray: stray &+= 1
      case .unknownCommand: unknownCommands &+= 1
      case .lost(let count): lost &+= max(0, count)
      }
    }
  }
}
