// SPDX-License-Identifier: Apache-2.0
/// Sends bytes to one attribute, segment by segment, as Write Requests or Write Commands (Vol 3 Part G §4.9.1, §4.9.3).
/// The pace follows the link and the peer's responses. The number of bytes is unlimited.
@LoopActor
package final class Transfer {
  /// The number of bytes per segment, 1…ATT_MTU − 3. A change applies to the next segment.
  package var segment: Int
  /// The known parameters of the link, which determine how soon a response can arrive.
  package var link = LinkCapacity()
  /// The peripheral latency, in connection events.
  package var latency = 0
  /// The progress, as byte offsets in the source.
  package private(set) var progress: WriteProgress
  /// The number of segments sent so far.
  package private(set) var segments = 0
  /// The pace at which the device accepts Write Commands. Nil unless `WritePacing.adapts` is true and the mode is `.command`.
  package private(set) var pace: TransferPace?

  /// The byte offset up to which the peer has certainly acknowledged the data, by its link layer or with a response.
  package var acknowledged: Int {
    guard let open = client.bearer.unacknowledged else { return proof.confirmed }
    return max(proof.confirmed, progress.sent - open * segment)
  }

  private let client: Client
  private let handle: AttributeHandle
  private let isCommand: Bool
  private let pacing: WritePacing
  private let source: any ByteSource
  private let proof: RunningProof
  /// The number of segments since the last request that confirms arrival.
  private var unasked = 0
  /// The number of segments since the last request that measured the pace.
  private var burst = 0
  /// The byte offset that the transfer had reached at the last request that measured the pace.
  private var probed = 0
  /// The length and start time of the burst that the peer's application has not fully confirmed yet. Nil if there is none.
  private var untold: (segments: Int, begin: LoopClock.Instant)?
  private var isChanged = false
  private var burstBegin = EventLoop.shared.now
  /// The time at which the transfer sent the last segment.
  private var last = EventLoop.shared.now

  /// Creates a transfer to one attribute.
  /// - Parameters:
  ///   - mode: `.request` or `.command`. Any other mode counts as `.request`.
  ///   - offset: the byte offset in the source at which to start.
  ///   - question: the request that confirms arrival. Nil selects Find Information, which the peer answers after all earlier commands.
  ///   - pace: the initial pace, if `pacing` adapts.
  package init(
    _ client: Client, to handle: AttributeHandle, mode: WriteMode, segment: Int, pacing: WritePacing, _ source: any ByteSource,
    from offset: Int = 0, asking question: ArrivalQuestion? = nil, pace: TransferPace = TransferPace()
  ) {
    self.client = client
    self.handle = handle
    isCommand = mode == .command
    (self.segment, self.pacing, self.source) = (segment, pacing, source)
    progress = WriteProgress(sent: offset, confirmed: offset)
    proof = RunningProof(client, question ?? ArrivalQuestion(client.barrierRequest(after: handle)), from: offset)
    self.pace = pacing.adapts && isCommand ? pace : nil
  }

  /// Sends all bytes up to the end of the source. Sends an empty source as one empty segment, if the transfer starts at offset 0.
  /// - Parameter update: receives the progress after every segment, and after the last confirmation of arrival.
  /// - Throws: GATTError, ATTError, SegmentsMissing, CancellationError, the error that closed the channel, errors of `source` or `update`.
  package func run(_ update: (@LoopActor (WriteProgress) throws -> Void)? = nil) async throws {
    defer { proof.end() }
    do {
      // Avoid asynchronous calls if there is nothing to wait for: a few of them cost more than the packet.
      while true {
        let bytes = if let ready = source.buffered(at: progress.sent, atMost: segment) { ready } else { try await load() }
        if bytes.isEmpty, segments > 0 || progress.sent > 0 { break }
        if segments > 0, pacing.gap > .zero { try await EventLoop.shared.sleep(for: pacing.gap) }
        if isCommand {
          if isChanged || pacing.window != nil || pace.map({ $0.gap > .zero }) ?? false { try await waitForRoom() }
          if pace?.burst != nil, segments > 0 { last = EventLoop.shared.now }
          try await client.writeCommand(bytes, to: handle)
          if let failure = proof.failure { throw failure }
        } else {
          try await client.writeRequest(Array(bytes), to: handle)
        }
        segments += 1
        progress.sent += bytes.count
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

  /// Loads the next segment from the source, and waits for it if necessary. Returns no bytes at the end of the source.
  private func load() async throws -> ArraySlice<UInt8> {
    let bytes = try await source.bytes(at: progress.sent, atMost: segment)
    // Do not count the wait for the source as time of the device.
    burst = 0
    return bytes
  }

  /// Continues with another pace after the link has changed.
  package func begin(_ pace: TransferPace) {
    guard self.pace != nil else { return }
    self.pace = pace
    (burst, untold, isChanged) = (0, nil, true)
  }

  // MARK: Commands

  private func waitForRoom() async throws {
    if isChanged {
      isChanged = false
      // Segments in flight arrive at the speed of the changed link.
      while proof.confirmed < progress.sent { try await waitForProof() }
    }
    if let window = pacing.window { try await client.bearer.waitUntilUnacknowledged(below: window) }
    guard let pace, pace.gap > .zero, segments > 0 else { return }
    try await EventLoop.shared.sleep(until: last.advanced(by: pace.gap))
  }

  /// Counts a segment that the transfer has just sent.
  /// - Returns: false if `waitAhead` must run before the next segment.
  private func isNowSent() -> Bool {
    unasked += 1
    burst += 1
    if burst == 1, pace?.burst != nil { burstBegin = EventLoop.shared.now }
    guard source.count.map({ progress.sent < $0 }) ?? true else { return true }
    if isProbeDue { return false }
    if let every = pacing.provesEvery, unasked >= every, !proof.isOpen { ask(nil) }
    return !isFarAhead
  }

  /// Whether the current burst has enough segments for a request that measures the pace.
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

  private func ask(_ burst: (segments: Int, begin: LoopClock.Instant)?) {
    unasked = 0
    proof.ask(progress.sent, isTimed: burst != nil)
    guard let burst else { return proof.onAnswer = nil }
    proof.onAnswer = { [weak self] in self?.learn($0, burst.segments, burst.begin) }
  }

  /// Waits until the peer confirms more bytes. While its application lags, repeats the request, for up to 2 s without progress.
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
      // If no code waits for this answer, no later answer follows.
      if pace?.ahead != nil { untold = (segments, begin) } else { learn(segments, begin, delay: nil) }
      return
    }
    // On a link that loses packets, the time to deliver the segments before the question is unknown: estimate it.
    let delay = answer.delay ?? answer.time - Duration.seconds(Double(answer.ahead) / max(1, link.rate(segment))) * 1.5
    learn(segments, begin, delay: delay)
  }

  /// Adapts the pace to the result of one burst.
  /// - Parameter delay: the time from the burst's delivery to the response. Nil if the response did not confirm all sent bytes.
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

/// The error of a transfer whose peer reports fewer bytes than the transfer sent, without progress for 2 s.
package struct SegmentsMissing: Error, Sendable, Equatable {
  /// The number of bytes that the peer's application reports.
  package let arrived: Int
  package let sent: Int

  /// The longest wait for a report of further bytes.
  static let patience = Duration.seconds(2)
}
