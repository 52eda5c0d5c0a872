package import EventLoop

/// Which way a PDU went, seen from here.
package enum Direction: Sendable {
  case sent
  case received
}

/// The client's role on a bearer: takes what the peer's server sends unasked.
@LoopActor
package protocol BearerClient: AnyObject {
  /// Notifications and indications in the order of arrival; indications are confirmed already.
  func received(_ event: Unsolicited)
  /// A PDU was ignored.
  func ignored(_ fault: BearerState.Fault)
  /// See `Bearer.exhausted`.
  func exhausted(_ error: any Error)
  /// Once.
  func closed(_ error: any Error)
}

/// The server's role on a bearer: answers the peer's client.
@LoopActor
package protocol BearerServer: AnyObject {
  /// The response to a request (never Exchange MTU), cut at ATT_MTU when it is longer, and what is to follow once it is sent.
  /// Without a response, one comes later by `Bearer.respond`, or never.
  func serve(_ request: Request) -> (response: Response?, then: [@LoopActor () -> Void])
  func execute(_ command: Command)
  /// Once.
  func closed(_ error: any Error)
}

/// One ATT bearer on a channel, for both roles: performs what `BearerState` decides. Lives as long as its channel is open.
@LoopActor
package final class Bearer {
  /// Sees every PDU, in both directions, before it is judged.
  package var onPDU: (@LoopActor (Direction, [UInt8]) -> Void)?
  /// Takes what the peer's server sends; set it before `start`.
  package weak var client: (any BearerClient)?
  /// Answers the peer's requests, until the end; without it they get the answers of a device without attributes. Set it before `start`.
  package var server: (any BearerServer)?

  package private(set) var faults = Faults()

  /// The time limit of transactions that begin from now on. Nil: the bearer's own limit.
  package var limit: Duration?

  let channel: any Channel
  private let ownLimit: Duration
  private(set) var state: BearerState
  private var waits: [BearerState.Token: Wait<Response>] = [:]
  private var confirmations: [BearerState.Token: Wait<Bool>] = [:]
  private var responseTimer: LoopTimer?
  /// When the outstanding request was sent, and until when it is waited for.
  private var responseTimes: (LoopClock.Instant, LoopClock.Instant)?
  private var confirmationTimer: LoopTimer?
  private var isStarted = false
  /// PDUs given to the channel.
  package private(set) var transmitted = 0
  /// How many of the transmitted PDUs the peer has, because it answered a later request. The controller may lose the event that says so.
  var answered = 0
  /// The last request that was sent, counted as these.
  private var lastRequest = 0
  /// Opens with each acknowledgment, each answer, and at the end.
  let acknowledgements = Gate()
  /// The request whose acknowledgment is timed, as `OpenRequest.mark`, and when it came.
  var timed: (mark: Int, acknowledged: LoopClock.Instant?)?
  /// The peer has answered a request.
  package private(set) var hasAnswered = false
  /// From the shortest request to its answer; nil before the first.
  package private(set) var shortestRoundTrip: Duration?
  /// Values have several takers, each of which shows them in its own time.
  package var hasSeveralListeners = false { didSet { keepsOrder = hasSeveralListeners || order.isWaiting } }
  var order = ArrivalOrder()
  /// Without it, and without a request, `order` lets everything pass: nearly every value.
  var keepsOrder = false
  private(set) lazy var turnEnd = DeferredAction(waitingForJobs: true) { [weak self] in self?.deliverHeld() }
  /// The last one, for its memory: a channel that is done with a PDU leaves it to the next.
  private var writeCommand: [UInt8] = []

  /// - Parameters:
  ///   - timeout: of one transaction, of either role; 30 s in the specification (Vol 3 Part F §3.3.3). When it passes, the bearer is closed.
  ///   - rxMTU: what we can receive, 23…517, for both roles.
  package init(_ channel: any Channel, timeout: Duration = .seconds(30), rxMTU: Int = BearerState.largestMTU) {
    self.channel = channel
    ownLimit = timeout
    state = BearerState(rxMTU: rxMTU)
  }

  var timeout: Duration { limit ?? ownLimit }

  /// Begins to receive; what arrived before was kept by the channel. Set the handlers first. Idempotent, and implied by the first request.
  package func start() {
    guard !isStarted else { return }
    isStarted = true
    channel.onAcknowledgement = { [weak self] in self?.noteAcknowledgement() }
    channel.handler = { self.handle($0) }
  }

  /// ATT_MTU in effect, 23…517.
  package var mtu: Int { state.mtu }
  package var rxMTU: Int { state.rxMTU }
  /// Why the bearer carries nothing any more; nil while it is open.
  package private(set) var closed: (any Error)?
  /// Why the peer sends nothing until it is sent something; nil for a peer that may do so at any time.
  package private(set) var exhausted: (any Error)?
  /// True when no request of ours is outstanding or waiting.
  package var isIdle: Bool { state.isIdle }
  /// True while an indication of ours waits to be sent or confirmed.
  package var isIndicating: Bool { state.isIndicating }

  /// Sends a request when its turn comes, and waits for the answer, which may be `.error`.
  /// - Throws: ATTError for an answer that is none, for silence, for the end of the bearer; what the channel ended with; CancellationError.
  package func request(_ request: Request) async throws -> Response { try await answer(to: try begin(request)) }

  /// A request whose answer is waited for.
  package struct OpenRequest {
    fileprivate let token: BearerState.Token
    fileprivate let wait: Wait<Response>
    /// `transmitted`, with it.
    let mark: Int
  }

  /// Sends a request without waiting for its answer. It goes out before the next PDU, unless another request is open. - Throws: why the bearer ended.
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

  /// Once for each `begin`. - Throws: as `request`.
  package func answer(to open: OpenRequest) async throws -> Response {
    do { return try await open.wait.value() } catch {
      if waits.removeValue(forKey: open.token) != nil { state.abandon(open.token) }
      throw error
    }
  }

  /// Sets what the next Exchange MTU offers, 23…517; ignored once the peer was told another value.
  package func offer(rxMTU wanted: Int) { state.offer(rxMTU: wanted) }

  /// Sends a command now; may be called while a request is outstanding. See `waitUntilWritable`.
  package func send(_ command: Command) {
    EventLoop.shared.spendStep()
    sendNow(command.bytes)
  }

  /// Sends a Write Command (§3.4.5.3) now, as `send` does: for many, because it allocates nothing.
  /// - Parameter value: at most ATT_MTU − 3 octets.
  package func sendWriteCommand(_ value: ArraySlice<UInt8>, to handle: AttributeHandle) {
    EventLoop.shared.spendStep()
    writeCommand.removeAll(keepingCapacity: true)
    writeCommand.append(Opcode.command(.write).rawValue)
    writeCommand.append(UInt8(truncatingIfNeeded: handle.rawValue))
    writeCommand.append(UInt8(truncatingIfNeeded: handle.rawValue >> 8))
    writeCommand.append(contentsOf: value)
    sendNow(writeCommand)
  }

  /// Sends a Handle Value Notification now; a value longer than ATT_MTU − 3 is cut, the rest is to be read.
  package func notify(_ item: HandleValue) { sendNow(state.notification(item)) }

  /// Sends a Handle Value Indication once all earlier ones are confirmed; a value longer than ATT_MTU − 3 is cut.
  /// - Returns: what waits for the confirmation: false when it was withdrawn; an error when the bearer is closed before, by a confirmation
  ///   that does not come in the time of a transaction for example.
  @discardableResult
  package func indicate(_ item: HandleValue) -> Wait<Bool> {
    start()
    let (token, actions) = state.indicate(item)
    let wait = Wait<Bool>()
    if let closed { wait.resume(throwing: closed) } else { confirmations[token] = wait }
    perform(actions)
    return wait
  }

  /// Takes back the indications of a value that were not sent yet.
  package func withdrawIndications(of handle: AttributeHandle) { perform(state.withdrawIndications(of: handle)) }

  /// True when `waitUntilWritable` would return at once; false also when it is time to give the loop a turn.
  package var isWritable: Bool { closed == nil && !EventLoop.shared.isShareSpent && channel.isWritable }

  /// Returns when another command would not have to wait in this process.
  /// - Throws: as `Channel.waitUntilWritable`; ATTError when nothing is taken for the time of a transaction.
  package func waitUntilWritable() async throws {
    start()
    try await EventLoop.shared.waitForTurn()
    if let closed { throw closed }
    if channel.isWritable { return }
    try await limited { try await channel.waitUntilWritable(until: $0) }
  }

  /// A dead controller never says that the link is lost, and a peer can refuse packets for as long as it likes.
  private func limited(_ wait: @LoopActor (LoopClock.Instant) async throws -> Bool) async throws {
    do {
      if try await wait(EventLoop.shared.now.advanced(by: timeout)) { return }
    } catch {
      throw reason(error)
    }
    throw ATTError.nothingGotThrough(for: timeout)
  }

  /// Silence after a request closes the channel, which cannot know why.
  private func reason(_ error: any Error) -> any Error { error is CancellationError ? error : closed ?? error }

  /// Ends everything that waits and closes the channel. Idempotent.
  package func close() { close(ATTError.closedByThisSide) }

  private func close(_ error: any Error) {
    if closed == nil { closed = error }
    perform(state.close())
  }

  /// A peer may have one request and one indication open (Vol 3 Part F §3.3.2). One that asks on without listening must not fill the memory
  /// with answers. Far above what our own commands can have under way.
  package static let answerLimit = 512

  /// The response to a request that `BearerServer.serve` left open.
  package func respond(_ response: Response) { sendAnswer(state.answer(response)) }

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

  // Inlined into the loop, it would check exclusive access to every property before the first action: 3 % of a notification's instructions.
  @inline(never)
  private func perform(_ action: BearerState.Action) {
    switch action {
    case .send(let bytes): put(bytes)
    case .answer(let bytes): sendAnswer(bytes)
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

  /// The answer goes first: what a write sets off comes after it.
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
      // What is sent next.
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

  /// Limits the wait for the answer to a canceled request, which blocks the next request, to the time limit of the next one.
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

/// The PDUs that the peer has, by the acknowledgements of its link layer and by its answers.
extension Bearer {
  /// Notes when the peer's link layer acknowledges a request that was just begun, and all that was sent before it. The last call counts.
  /// Nothing waits for this: the controller may lose the event that tells of it.
  package func timeAcknowledgement(of open: OpenRequest) {
    timed = (open.mark, nil)
    noteAcknowledgement()
  }

  /// When the request of `timeAcknowledgement` was acknowledged; nil: not yet, or unknown.
  package func acknowledgement(of open: OpenRequest) -> LoopClock.Instant? { timed?.mark == open.mark ? timed?.acknowledged : nil }

  func noteAcknowledgement() {
    if let timed, timed.acknowledged == nil, let unacknowledged = channel.unacknowledged, transmitted &- unacknowledged >= timed.mark {
      self.timed?.acknowledged = EventLoop.shared.now
    }
    acknowledgements.open()
  }

  /// PDUs that are sent, and neither acknowledged by the peer's link layer nor followed by a request that was answered; nil when the transport
  /// cannot know.
  package var unacknowledged: Int? { channel.unacknowledged.map { min($0, transmitted &- answered) } }

  /// Returns when fewer than `count` PDUs are unacknowledged; at once where that is not known.
  /// - Throws: ATTError when they do not become fewer in the time of a transaction; what the channel ended with; CancellationError.
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

/// Delivers events of the channel in the order of arrival (see `ArrivalOrder`).
extension Bearer {
  func handle(_ event: ChannelEvent) {
    if !keepsOrder, state.isIdle { return deliver(event) }
    let passes = order.passes(event, isAsking: !state.isIdle, isShared: hasSeveralListeners)
    keepsOrder = hasSeveralListeners || order.isWaiting
    if order.isWaiting { turnEnd.request() }
    if passes { deliver(event) } else if order.isFull { deliverAll() }
  }

  func deliverHeld() { for event in taken() { handle(event) } }

  private func deliverAll() { for event in taken() { deliver(event) } }

  private func taken() -> [ChannelEvent] {
    defer { keepsOrder = hasSeveralListeners }
    return order.take()
  }

  /// PDUs that were ignored, by reason; none of them ended anything.
  package struct Faults: Equatable, Sendable {
    package var empty = 0
    package var malformed = 0
    package var stray = 0
    package var unknownCommands = 0
    /// Lost by the transport below: a full socket buffer.
    package var lost = 0
    /// Requests and indications that got no answer: the peer did not take the many answers before.
    package var unanswered = 0

    package var total: Int { empty + malformed + stray + unknownCommands + lost + unanswered }

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
