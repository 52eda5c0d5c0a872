package import ATT
package import EventLoop

/// Octets of any number on their way to one attribute, segment by segment, as Write Requests or Write Commands (Vol 3 Part G §4.9.1, §4.9.3). What
/// is sent next is decided when it is sent: by what the link carries then, and by what the peer has answered for.
@LoopActor
package final class Transfer {
  /// Octets per segment from now on, 1…ATT_MTU − 3.
  package var segment: Int
  /// What is known of the link, for how soon the peer can answer.
  package var link = LinkCapacity()
  /// Peripheral latency, in connection events.
  package var latency = 0
  /// How far it is, as places in what is sent.
  package private(set) var progress: WriteProgress
  /// Sent so far.
  package private(set) var segments = 0
  /// Nil unless `WritePacing.adapts`.
  package private(set) var pace: TransferPace?

  /// Up to where the peer's link layer, at least, has acknowledged it.
  package var acknowledged: Int {
    guard let open = client.bearer.unacknowledged else { return proof.confirmed }
    return max(proof.confirmed, progress.sent - open * segment)
  }

  private let client: Client
  private let handle: AttributeHandle
  private let isCommand: Bool
  private let pacing: WritePacing
  private let source: any OctetSource
  private let proof: RunningProof
  /// Segments since the last question.
  private var unasked = 0
  /// Segments since the last question about the pace, and when the first of them was sent.
  private var burst = 0
  /// How far sending was at the last question about the pace.
  private var probed = 0
  /// Whether the pace was kept is known when the peer's application has told of all of these.
  private var untold: (segments: Int, begin: LoopClock.Instant)?
  private var isChanged = false
  private var burstBegin = EventLoop.shared.now
  /// When the last segment was sent.
  private var last = EventLoop.shared.now

  /// - Parameters:
  ///   - mode: `.request` or `.command`; any other counts as `.request`.
  ///   - offset: the place in the source at which it begins.
  ///   - question: nil: Find Information, which the peer's ATT layer answers behind what it has passed on.
  ///   - pace: to begin with, where pacing adapts.
  package init(
    _ client: Client, to handle: AttributeHandle, mode: WriteMode, segment: Int, pacing: WritePacing, _ source: any OctetSource,
    from offset: Int = 0, asking question: ArrivalQuestion? = nil, pace: TransferPace = TransferPace()
  ) {
    self.client = client
    self.handle = handle
    isCommand = mode == .command
    self.segment = segment
    self.pacing = pacing
    self.source = source
    progress = WriteProgress(sent: offset, confirmed: offset)
    proof = RunningProof(client, question ?? ArrivalQuestion(client.barrierRequest(after: handle)), from: offset)
    self.pace = pacing.adapts && isCommand ? pace : nil
  }

  /// Until the end of the source. An empty source is one empty segment; where it goes on at the end there is none.
  /// - Parameter update: told after every segment, and after the last proof.
  /// - Throws: GATTError, ATTError, SegmentsMissing, what the source throws, what the channel ended with, CancellationError; what `update` throws.
  package func run(_ update: (@LoopActor (WriteProgress) throws -> Void)? = nil) async throws {
    defer { proof.end() }
    do {
      // What need not wait is not asked of an asynchronous function: a few of these cost more than the packet.
      while true {
        let octets = if let ready = source.buffered(at: progress.sent, atMost: segment) { ready } else { try await load() }
        if octets.isEmpty, segments > 0 || progress.sent > 0 { break }
        if segments > 0, pacing.gap > .zero { try await EventLoop.shared.sleep(for: pacing.gap) }
        if isCommand {
          if isChanged || pacing.window != nil || pace.map({ $0.gap > .zero }) ?? false { try await waitForRoom() }
          if pace?.burst != nil, segments > 0 { last = EventLoop.shared.now }
          try await client.writeCommand(octets, to: handle)
          if let failure = proof.failure { throw failure }
        } else {
          try await client.writeRequest(Array(octets), to: handle)
        }
        segments += 1
        progress.sent += octets.count
        progress.confirmed = isCommand ? proof.confirmed : progress.sent
        source.release(before: progress.confirmed)
        try update?(progress)
        if isCommand, !isNowSent() { try await waitAhead() }
      }
      guard isCommand, pacing.provesArrival else { return }
      try await proveAll()
    } catch {
      progress.confirmed = max(progress.confirmed, proof.confirmed)
      throw error
    }
    try update?(progress)
  }

  /// The next segment; empty at the end.
  private func load() async throws -> ArraySlice<UInt8> {
    let octets = try await source.octets(at: progress.sent, atMost: segment)
    // The time until there was something to send is not the device's.
    burst = 0
    return octets
  }

  /// The link has changed, and what was found with it.
  package func begin(_ pace: TransferPace) {
    guard self.pace != nil else { return }
    self.pace = pace
    (burst, untold, isChanged) = (0, nil, true)
  }

  // MARK: Commands

  private func waitForRoom() async throws {
    if isChanged {
      isChanged = false
      // What is on its way arrives as fast as the link has become.
      while proof.confirmed < progress.sent { try await waitForProof() }
    }
    if let window = pacing.window { try await client.bearer.waitUntilUnacknowledged(below: window) }
    guard let pace, pace.gap > .zero, segments > 0 else { return }
    try await EventLoop.shared.sleep(until: last.advanced(by: pace.gap))
  }

  /// - Returns: false when `waitAhead` has to be asked before the next segment.
  private func isNowSent() -> Bool {
    unasked += 1
    burst += 1
    if burst == 1, pace?.burst != nil { burstBegin = EventLoop.shared.now }
    guard source.count.map({ progress.sent < $0 }) ?? true else { return true }
    if isProbeDue { return false }
    proveInBetween()
    return !isFarAhead
  }

  /// The burst is long enough to be asked about. A device that is slow is slower still when it is asked more often.
  private var isProbeDue: Bool {
    guard let pace, let length = pace.burst, untold == nil else { return false }
    return burst >= (pace.isSlower ? max(8, min(length, pacing.provesEvery ?? length)) : length)
  }

  private var isFarAhead: Bool { pace?.ahead.map { progress.sent - probed >= $0 * segment } ?? false }

  private func waitAhead() async throws {
    if isProbeDue {
      if pace?.ahead != nil { try await proof.answered() }
      if !proof.isOpen {
        probed = progress.sent
        ask((burst, burstBegin))
        burst = 0
      }
    }
    guard isFarAhead else { return }
    while proof.confirmed < probed { try await waitForProof() }
    if let (segments, begin) = untold { learn(segments, begin, delay: nil) }
    untold = nil
  }

  private func proveInBetween() {
    if let every = pacing.provesEvery, unasked >= every, !proof.isOpen { ask(nil) }
  }

  private func ask(_ burst: (segments: Int, begin: LoopClock.Instant)?) {
    unasked = 0
    proof.ask(progress.sent, isTimed: burst != nil)
    guard let burst else { return proof.onAnswer = nil }
    proof.onAnswer = { [weak self] in self?.learn($0, burst.segments, burst.begin) }
  }

  /// Where the peer's application counts, it may be behind its ATT layer: it is asked until it has all, or has stopped.
  private func waitForProof() async throws {
    let (before, begin) = (proof.confirmed, EventLoop.shared.now)
    while true {
      if !proof.isOpen { ask(nil) }
      try await proof.answered()
      if proof.confirmed > before || !proof.isBehind { return }
      if begin.duration(to: EventLoop.shared.now) >= SegmentsMissing.patience {
        throw SegmentsMissing(arrived: proof.confirmed, sent: progress.sent)
      }
      try await EventLoop.shared.sleep(for: max(.milliseconds(5), link.interval ?? .zero))
    }
  }

  private func proveAll() async throws {
    try await proof.answered()
    repeat { try await waitForProof() } while proof.confirmed < progress.sent
    progress.confirmed = proof.confirmed
    source.release(before: progress.confirmed)
  }

  // MARK: Pacing

  private func learn(_ answer: RunningProof.Answer, _ segments: Int, _ begin: LoopClock.Instant) {
    guard !proof.isBehind else {
      // Where nobody waits for it, there is no later answer.
      if pace?.ahead != nil { untold = (segments, begin) } else { learn(segments, begin, delay: nil) }
      return
    }
    // How long it takes to bring what stood before the question, on a link that loses packets, nobody knows.
    let delay = answer.delay ?? answer.time - Duration.seconds(Double(answer.ahead) / max(1, link.rate(segment))) * 1.5
    learn(segments, begin, delay: delay)
  }

  /// - Parameter delay: of the answer, behind what stood before it; nil: it told of less.
  private func learn(_ segments: Int, _ begin: LoopClock.Instant, delay: Duration?) {
    let interval = (link.interval ?? .milliseconds(50)) * (1 + max(0, latency))
    let airTime = link.airTime(segment)
    // The answer waits for a connection event.
    let roundTrip = max(client.bearer.shortestRoundTrip ?? .zero, interval)
    pace?.answered(
      TransferPace.Burst(
        segments: segments, time: begin.duration(to: EventLoop.shared.now), lateness: delay.map { $0 - roundTrip }, interval: interval,
        roundTrip: roundTrip, airTime: airTime))
  }
}

/// The peer's application tells of less than was sent to it, and of no more after a while.
package struct SegmentsMissing: Error, Sendable, Equatable {
  /// Places in what was sent: what it tells of, and how far sending was.
  package let arrived: Int
  package let sent: Int

  /// How long nothing more may arrive.
  static let patience = Duration.seconds(2)
}
