import BluetoothLE
import DequeModule

/// An open link that sends the recorded packets of a device to the host at the recorded pace.
@LoopActor
final class ReplayedLink {
  /// The connection handle that the host uses for the link. The recording may have another handle.
  let handle: ConnectionHandle
  private var recorded: Recording.Link { answerer.link }
  private unowned let transport: ReplayTransport
  private var answerer: Answerer
  private var stream = Recombination()

  private var queue: Deque<(due: Int64, kind: Recording.Happening.Kind)> = []
  private var timer: LoopTimer?
  private var isDelivering = false
  /// The host's request for which the recording ends before the response. Nil if the host sent no such request.
  private var unanswered: [UInt8]?
  /// The time of the host's last action, in nanoseconds on the event loop's clock.
  private var lastAction: Int64
  private var exhaustion: LoopTimer?

  /// The number of the host's fragments that the replay has not reported as completed.
  private var outstanding = 0
  /// Whether the recording determines when the host's fragments complete. Otherwise the link reports them as completed immediately.
  private var isInStep: Bool

  private var used: [Opcode: Set<Int>] = [:]

  init(_ recorded: Recording.Link, others: [Recording.Link], handle: ConnectionHandle, isWhole: Bool, _ transport: ReplayTransport) {
    self.handle = handle
    self.transport = transport
    answerer = Answerer(recorded, others: others, isStrict: transport.isStrict)
    isInStep = isWhole
    lastAction = transport.now
  }

  func begin() { enqueue(recorded.opening, response: nil) }

  func end() {
    timer?.cancel()
    exhaustion?.cancel()
    (timer, exhaustion) = (nil, nil)
    queue = []
  }

  // MARK: From the host

  func receive(_ data: ACLData) {
    outstanding += 1
    lastAction = transport.now
    if let frame = stream.add(data), frame.channel == .att { answer(frame.payload) }
    if !isInStep { complete() }
    watch()
  }

  private func answer(_ pdu: [UInt8]) {
    // The host acts longer than the recorded one, so the device has no reason to leave.
    if !transport.isStrict { queue.removeAll { $0.kind.isDisconnection } }
    switch answerer.answer(pdu) {
    case .play(let index, let response):
      let request = recorded.requests[index]
      if response != nil || request.pdu != pdu { isInStep = false }
      transport.align(request.time)
      hurry()
      let isLast = !recorded.requests[(index + 1)...].contains(where: \.isRequest)
      if recorded.isCut, request.isRequest, request.response == nil, isLast { unanswered = pdu }
      enqueue(request.following, response: response)
    case .answer(let response):
      isInStep = false
      for data in fragments(response) { transport.post(data) }
    case .nothing: isInStep = false
    case .unknown(let next):
      let asked = answerer.asked(pdu)
      guard !transport.isStrict else { return transport.fail(self, .notRecorded(asked, next: next.map { answerer.asked($0) })) }
      refuse(pdu, asked)
    }
  }

  /// Answers a request that the recording lacks with an error.
  private func refuse(_ pdu: [UInt8], _ asked: ReplayError.Asked) {
    isInStep = false
    let refusal = answerer.refusal(of: pdu)
    let isSearch = refusal?.code == .attributeNotFound
    let isUndiscovered = isSearch && !answerer.database.isDiscovered
    transport.note(
      isUndiscovered ? .undiscovered(answerer.knownHandles) : isSearch ? .partlyDiscovered(asked) : .notRecorded(asked, refusal?.code))
    if let refusal { for data in fragments(refusal.response) { transport.post(data) } }
  }

  /// Returns a recorded command with the same opcode and the same parameters after the handle. Returns each recorded command only once.
  func take(_ command: CommandPacket) -> Recording.Command? {
    let opcode = command.opcode
    guard let all = recorded.commands[opcode] else { return nil }
    let index = all.indices.first {
      !used[opcode, default: []].contains($0) && all[$0].packet.parameters.dropFirst(2) == command.parameters.dropFirst(2)
    }
    guard let index else { return nil }
    used[opcode, default: []].insert(index)
    return all[index]
  }

  /// Returns the last recorded command with this opcode that has an answer. Nil if the recording has none.
  func last(_ opcode: Opcode) -> Recording.Command? { recorded.commands[opcode]?.last { $0.answer != nil } }

  // MARK: To the host

  /// Delivers immediately the packets that preceded the host's next action in the recording.
  private func hurry() {
    let now = transport.now
    for index in queue.indices where queue[index].due > now { queue[index].due = now }
  }

  private func enqueue(_ happenings: [Recording.Happening], response: [UInt8]?) {
    let last = response == nil ? nil : happenings.indices.last { happenings[$0].kind.isResponse }
    if let response, last == nil { for data in fragments(response) { queue.append((transport.now, .packet(data, isResponse: true))) } }
    for (index, happening) in happenings.enumerated() {
      let due = transport.due(happening.time)
      if let response, happening.kind.isResponse {
        if index == last { for data in fragments(response) { queue.append((due, .packet(data, isResponse: true))) } }
      } else {
        queue.append((due, happening.kind))
      }
    }
    schedule()
  }

  private func fragments(_ pdu: [UInt8]) -> [[UInt8]] {
    L2CAPFrame(channel: .att, payload: pdu).fragments(handle: handle, length: 251, first: .firstFlushable).map(\.encoded)
  }

  private func schedule() {
    timer?.cancel()
    timer = nil
    guard !isDelivering else { return }
    guard let first = queue.first else {
      if let pdu = unanswered {
        guard !transport.isStrict else { return transport.fail(self, .cut(answerer.asked(pdu))) }
        unanswered = nil
        refuse(pdu, answerer.asked(pdu))
      }
      return watch()
    }
    timer = EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: first.due)) { [weak self] in self?.deliver() }
  }

  private func deliver() {
    isDelivering = true
    while let first = queue.first, first.due <= transport.now {
      queue.removeFirst()
      switch first.kind {
      case .packet(let bytes, _):
        transport.deliver(RecordedEvent.with(handle, bytes))
        if RecordedEvent.kind(bytes) == .disconnectionComplete { return transport.ended(self) }
      case .completed(let count): if isInStep { complete(count) }
      }
    }
    isDelivering = false
    schedule()
  }

  /// The time by which a host may be later than recorded, in nanoseconds.
  private static let patience: Int64 = 1_000_000_000

  /// Skips what the recorded host asked and this host does not ask in time. Returns false if nothing can be skipped.
  private func skip() -> Bool {
    guard let time = answerer.skipTime else { return false }
    if transport.now < transport.place(time) + Pace.slack { return true }
    guard let index = answerer.skip() else { return false }
    isInStep = false
    complete()
    enqueue(recorded.requests[index].following.filter { !$0.kind.isResponse && !$0.kind.isOtherResponse }, response: nil)
    return true
  }

  /// The time, in nanoseconds, after which no more values arrive, because the host does not act as recorded.
  private var exhausted: Int64 { max(lastAction, transport.place(answerer.nextTime ?? recorded.end)) + Self.patience }

  private var reason: ReplayError {
    guard let next = answerer.beforeNextValues().map({ recorded.requests[$0] }) else { return .ended }
    return .unasked(answerer.asked(next.pdu), packet: next.packet)
  }

  private func watch() {
    guard exhaustion == nil, queue.isEmpty, transport.links[handle] === self else { return }
    let time = answerer.skipTime.map { transport.place($0) + Pace.slack } ?? exhausted
    exhaustion = EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: max(transport.now, time))) { [weak self] in
      guard let self else { return }
      exhaustion = nil
      guard queue.isEmpty else { return }
      if skip() { return watch() }
      if transport.now < exhausted { watch() } else { transport.handler?(.linkExhausted(handle, reason)) }
    }
  }

  private func complete(_ count: Int? = nil) {
    let count = min(count ?? outstanding, outstanding)
    guard count > 0 else { return }
    outstanding -= count
    let event = Event.numberOfCompletedPackets([.init(handle: handle, count: UInt16(clamping: count))]).encoded
    if isInStep { transport.deliver(event) } else { transport.post(event) }
  }
}
