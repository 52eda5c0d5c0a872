package import Bluetooth
package import EventLoop

/// Which way a PDU went, seen from here.
package enum Direction: Sendable {
  case sent
  case received
}

/// One ATT bearer on a channel: performs what `Transaction` decides.
@LoopActor
package final class Bearer {
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
  }

  /// Sees every PDU, in both directions, before it is judged.
  package var onPDU: (@LoopActor (Direction, [UInt8]) -> Void)?
  /// Notifications and indications in the order of arrival; indications are confirmed already.
  package var onUnsolicited: (@LoopActor (Unsolicited) -> Void)?
  /// A server's answer to a request of the peer (never Exchange MTU); nil leaves it to the answers of a device without attributes.
  package var onRequest: (@LoopActor (Request) -> Response?)?
  package var onCommand: (@LoopActor (Command) -> Void)?
  /// The peer confirmed an indication of ours.
  package var onConfirmation: (@LoopActor () -> Void)?
  package var onFault: (@LoopActor (Transaction.Fault) -> Void)?
  /// Called once.
  package var onClosed: (@LoopActor (BluetoothError) -> Void)?

  package private(set) var faults = Faults()

  private let channel: any Channel
  private let timeout: Duration
  private var transaction: Transaction
  private var waits: [Transaction.Token: Wait<Response>] = [:]
  private var timer: LoopTimer?
  private var isStarted = false

  /// - Parameters:
  ///   - timeout: of one transaction; 30 s in the specification (Vol 3 Part F §3.3.3). When it passes, the bearer is closed.
  ///   - rxMTU: what we can receive, 23…517, for both roles.
  package init(_ channel: any Channel, timeout: Duration = .seconds(30), rxMTU: Int = Transaction.largestMTU) {
    self.channel = channel
    self.timeout = timeout
    transaction = Transaction(rxMTU: rxMTU)
  }

  /// Begins to receive; what arrived before was kept by the channel. Set the handlers first. Idempotent, and implied by the first request.
  package func start() {
    guard !isStarted else { return }
    isStarted = true
    channel.handler = { [weak self] event in self?.handle(event) }
  }

  /// ATT_MTU in effect, 23…517.
  package var mtu: Int { transaction.mtu }
  package var rxMTU: Int { transaction.rxMTU }
  /// Why the bearer carries nothing any more; nil while it is open.
  package var closed: BluetoothError? { transaction.closed }
  /// True when no request of ours is outstanding or waiting.
  package var isIdle: Bool { transaction.isIdle }

  /// Sends a request when its turn comes, and waits for the answer, which may be `.error`.
  /// - Throws: BluetoothError(.protocolViolation) for an answer that is none, `.timeout`, `.linkLost`; CancellationError.
  package func request(_ request: Request) async throws -> Response {
    start()
    let (token, actions) = transaction.submit(request)
    let wait = Wait<Response>()
    waits[token] = wait
    perform(actions)
    do { return try await wait.value() } catch {
      if waits.removeValue(forKey: token) != nil { transaction.abandon(token) }
      throw error
    }
  }

  /// Sets what the next Exchange MTU offers, 23…517; ignored once the peer was told another value.
  package func offer(rxMTU wanted: Int) { transaction.offer(rxMTU: wanted) }

  /// Sends a command now; may be called while a request is outstanding. See `waitUntilWritable`.
  package func send(_ command: Command) {
    EventLoop.shared.spendStep()
    sendNow(command.bytes)
  }

  /// Sends a notification, or an indication: the caller keeps to one outstanding indication (`onConfirmation`).
  package func send(_ event: Unsolicited) { sendNow(event.bytes) }

  /// See `Channel.unacknowledged`.
  package var unacknowledged: Int? { channel.unacknowledged }

  /// See `Channel.waitUntilUnacknowledged`. - Throws: BluetoothError(.timeout) too, when no PDU is acknowledged for the time of a transaction.
  package func waitUntilUnacknowledged(below count: Int) async throws {
    if let closed { throw closed }
    while let before = channel.unacknowledged, before >= max(1, count) {
      try await limited { [channel] in try await channel.waitUntilUnacknowledged(below: before) }
    }
  }

  /// True when `waitUntilWritable` would return at once; false also when it is time to give the loop a turn.
  package var isWritable: Bool { closed == nil && !EventLoop.shared.isShareSpent && channel.isWritable }

  /// Returns when another command would not have to wait in this process.
  /// - Throws: as `Channel.waitUntilWritable`; BluetoothError(.timeout) when nothing is taken for the time of a transaction.
  package func waitUntilWritable() async throws {
    start()
    try await EventLoop.shared.waitForTurn()
    if let closed { throw closed }
    if channel.isWritable { return }
    try await limited { [channel] in try await channel.waitUntilWritable() }
  }

  /// A dead controller never says that the link is lost, and a peer can refuse packets for as long as it likes.
  private func limited(_ wait: @escaping @LoopActor () async throws -> Void) async throws {
    guard try await withDeadline(EventLoop.shared.now.advanced(by: timeout), wait) == nil else { return }
    throw BluetoothError(
      .timeout, "nothing that was sent got through for \(timeout.shortText) s: is the device still there, and the adapter alive?")
  }

  /// Ends every pending request with `error` and closes the channel. Idempotent.
  package func close(_ error: BluetoothError = BluetoothError(.linkLost, "the connection was closed by blectl")) {
    perform(transaction.close(error))
  }

  /// A peer may have one request and one indication open (Vol 3 Part F §3.3.2). One that asks on without listening must not fill the memory
  /// with answers. Far above what our own commands can have under way.
  package static let answerLimit = 512

  private func sendAnswer(_ bytes: [UInt8]) {
    if let waiting = channel.unacknowledged, waiting >= Self.answerLimit { faults.unanswered &+= 1 } else { sendNow(bytes) }
  }

  private func sendNow(_ bytes: [UInt8]) {
    guard closed == nil else { return }
    start()
    onPDU?(.sent, bytes)
    channel.send(bytes)
  }

  private func handle(_ event: ChannelEvent) {
    switch event {
    case .received(let bytes):
      guard closed == nil else { return }
      onPDU?(.received, bytes)
      perform(transaction.receive(bytes))
    case .dropped(let count): perform([.fault(.lost(count))])
    case .closed(let error): perform(transaction.close(error))
    }
  }

  private func perform(_ actions: [Transaction.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes):
        onPDU?(.sent, bytes)
        channel.send(bytes)
      case .answer(let bytes): sendAnswer(bytes)
      case .startTimer:
        timer?.cancel()
        let limit = timeout
        timer = EventLoop.shared.schedule(after: limit) { [weak self] in
          guard let self else { return }
          perform(transaction.timeOut(after: "\(limit.shortText) s"))
        }
      case .stopTimer:
        timer?.cancel()
        timer = nil
      case .finish(let token, let outcome):
        guard let wait = waits.removeValue(forKey: token) else { continue }
        switch outcome {
        case .response(let response): wait.resume(returning: response)
        case .failure(let error): wait.resume(throwing: error)
        }
      case .serve(let request):
        let response = onRequest?(request) ?? Transaction.answerWithoutServer(request)
        sendAnswer(response.bytes)
      case .obey(let command): onCommand?(command)
      case .deliver(let event): onUnsolicited?(event)
      case .confirmed: onConfirmation?()
      case .fault(let fault):
        count(fault)
        onFault?(fault)
      case .close:
        channel.close()
        if let closed {
          onClosed?(closed)
          onClosed = nil
        }
      }
    }
  }

  private func count(_ fault: Transaction.Fault) {
    switch fault {
    case .empty: faults.empty &+= 1
    case .malformed: faults.malformed &+= 1
    case .stray: faults.stray &+= 1
    case .unknownCommand: faults.unknownCommands &+= 1
    case .lost(let count): faults.lost &+= max(0, count)
    }
  }
}

extension Duration {
  /// Seconds, without a fraction when there is none.
  fileprivate var shortText: String {
    let (seconds, rest) = components
    return rest == 0 ? "\(seconds)" : "\(inSeconds)"
  }
}
