// SPDX-License-Identifier: Apache-2.0
/// A transfer of a file to a characteristic, over several links if necessary.
@LoopActor
package final class FileTransfer {
  package enum Event: Sendable {
    /// The segment size in bytes changed because the link parameters changed. `from` is the old size, `to` the new size.
    case plannedAnew(from: Int, to: Int, LinkParameters)
    /// The segment size in bytes changed with the device's speed. True means that the device is slower than the link.
    case deviceIsSlower(Bool, from: Int, to: Int)
    /// The transfer resumes at this byte. Unless the device reported the byte (`isTold`), bytes up to `sent` may arrive twice.
    case goesOn(at: Int, sent: Int, isTold: Bool)
    /// The transfer resumes at this byte of the file without a report from the device. Bytes may arrive twice.
    case resumesUnasked(at: Int)
    /// The device has none of the `remembered` bytes. The transfer starts over.
    case startsOver(remembered: Int)
    /// The device's counter started at this value, not at 0.
    case counterIsAt(Int)
  }

  package var onEvent: (@LoopActor (Event) -> Void)?
  /// The observer of progress. The transfer calls it after every segment.
  package var onProgress: (@LoopActor (FileTransfer) throws -> Void)?
  /// The remembered pace of the device, replaced by a pace that this transfer measures. Nil without a known pace.
  package var pace: TransferMemory.Pace?
  /// Whether the transfer resumes an earlier transfer. The device may have more bytes than the remembered position.
  package var resumes = false

  /// The sent and confirmed byte positions in the file.
  package var progress: WriteProgress { resting ?? transfer?.progress ?? WriteProgress() }
  /// The number of segments sent on all links.
  package var segments: Int { earlierSegments + (transfer?.segments ?? 0) }
  /// The number of bytes per segment. Nil before the first link.
  package var segment: Int? { transfer?.segment }
  /// The mode of the writes. Nil before the first link.
  package private(set) var mode: TransferOptions.Mode?
  package private(set) var use = LinkUse()

  private let selector: Selector
  private let options: TransferOptions
  private let source: any ByteSource
  /// The zero-based position of the first byte of the file to send.
  package private(set) var offset = 0
  private let reports: DeviceReports
  /// The writes on the latest link. Nil before the first link.
  private var transfer: Transfer?
  /// The progress between two links and after the last link. Nil while the client sends segments.
  private var resting: WriteProgress?
  private var earlierSegments = 0
  private var isSlower = false
  /// The pause between two segments that the search on the last link found. Zero if the device needs none. Nil without a result.
  package var gap: Duration? { transfer?.pace?.found }

  /// Creates a transfer. `report` is the characteristic that reports byte count and CRC-32. Nil if the user named none.
  package init(to selector: Selector, _ options: TransferOptions, _ source: any ByteSource, report: Selector?) {
    self.selector = selector
    reports = DeviceReports(report)
    self.options = options
    self.source = source
  }

  /// The size of the file in bytes. Nil for input of unknown size, until the source reaches the end.
  package var total: Int? { source.count }
  /// The number of sent segments that the device has not confirmed.
  package var inFlight: Int { segment.map { (progress.sent - progress.confirmed + $0 - 1) / max(1, $0) } ?? 0 }

  /// Prepares the transfer before the first link.
  /// - Parameter remembered: The position to start at, and the CRC-32 that the file must have up to it. Nil starts at `offset`.
  /// - Returns: False if the CRC-32 differs. The caller must then call this function again without `remembered`.
  /// - Throws: `TransferError.nothingToSend`, or the error of the source.
  @discardableResult
  package func prepare(from offset: Int, remembered: TransferMemory.Point? = nil) async throws -> Bool {
    let place = remembered?.offset ?? offset
    try await skip(to: place)
    if let remembered {
      guard source.count.map({ place <= $0 }) ?? true, try await source.crc(upTo: place) == remembered.crc else { return false }
    }
    if try await isEnd(place), remembered == nil { throw TransferError.nothingToSend(from: place, of: source.count) }
    begin(at: place)
    return true
  }

  private func begin(at place: Int) {
    offset = place
    resting = WriteProgress(sent: place, confirmed: place)
  }

  private func isEnd(_ place: Int) async throws -> Bool { try await source.bytes(at: place, atMost: 1).isEmpty }

  /// Reads and discards input up to a byte position, if the source cannot seek.
  private func skip(to place: Int) async throws {
    var now = 0
    while source.count == nil, now < place {
      now += try await source.bytes(at: now, atMost: min(16_384, place - now)).count
      source.release(before: now)
    }
  }

  /// Returns the position to remember after a failure, with its CRC-32. Returns nil if `place` is 0.
  /// - Parameter place: The number of bytes known to have arrived.
  /// - Throws: The errors of the source.
  package func point(_ place: Int) async throws -> TransferMemory.Point? {
    guard place > 0 else { return nil }
    return TransferMemory.Point(offset: place, crc: try await source.crc(upTo: place))
  }

  /// Returns the reports that prove that all sent bytes arrived.
  /// - Throws: The errors of the source.
  package func proof() async throws -> ArrivalProof { try await proof(at: progress.sent) }

  /// Returns the number of bytes of the file that a report covers. Returns nil if the report does not match the file.
  /// - Throws: The errors of the source.
  package func place(of report: ArrivalReport) async throws -> Int? {
    for place in [report.count, offset + report.count] where (offset...max(offset, progress.sent)).contains(place) {
      let proof = try await proof(at: place)
      if report == proof.whole || report == proof.part { return place }
    }
    return nil
  }

  private func proof(at place: Int) async throws -> ArrivalProof {
    let whole = ArrivalReport(count: place, crc: try await source.crc(upTo: place))
    guard offset > 0, place >= offset else { return ArrivalProof(part: whole, whole: whole) }
    let crc = CRC32.ofTail(place - offset, whole: whole.crc, head: try await source.crc(upTo: offset))
    return ArrivalProof(part: ArrivalReport(count: place - offset, crc: crc), whole: whole)
  }

  // MARK: On a link

  /// Sends the remaining bytes of the file on a link.
  /// - Parameter check: Receives the attribute before the first write.
  /// - Throws: `IncompleteWrite` or the error of `onProgress`. Before the first write, `TransferError`, `GATTError` or a discovery error.
  package func run(on connection: Connection, check: @LoopActor (Attribute, TransferOptions.Mode) async throws -> Void) async throws {
    let client = connection.client
    let target = try await client.attribute(selector, discovering: true)
    let mode = try options.mode(for: target)
    self.mode = mode
    let question = try await subscribe(client)
    // The device may have lost bytes that arrived. Only a report would show it.
    if use.count == 0, reports.before == nil, offset > 0, try await isEnd(offset) {
      throw TransferError.nothingToSend(from: offset, of: source.count)
    }
    use.connect(try await connection.link.parameters(), mtu: client.mtu, at: progress.sent)
    let pace = newPace()
    isSlower = mode == .command && options.pacing(segment: 1).adapts && pace.isSlower
    let segment = try options.segment(mode, mtu: client.mtu, link: use.model, isSlower: isSlower)
    try await check(target, mode)
    let transfer = Transfer(
      client, to: target.handle, mode: mode.writeMode, segment: segment, pacing: options.pacing(segment: segment, link: use.model), source,
      from: progress.sent, asking: question, pace: pace)
    let beginning = progress.sent
    earlierSegments = segments
    self.transfer = transfer
    resting = nil
    adapt(transfer)
    connection.link.onParameters = { [weak self] in self?.linkChanged($0) }
    use.start(at: EventLoop.shared.now)
    defer {
      connection.link.onParameters = nil
      use.account(until: EventLoop.shared.now)
      self.pace = found ?? self.pace
      if transfer.segments > 0 { reports.forgetBefore() }
    }
    var refusal: (any Error)?
    do {
      try await transfer.run { _ in
        if self.use.parameters.phy == .coded, self.use.learn(transfer.acknowledged, EventLoop.shared.now) { self.planAnew() }
        if transfer.pace?.isSlower ?? false != self.isSlower { self.paceChanged() }
        do { try self.onProgress?(self) } catch {
          refusal = error
          throw error
        }
      }
    } catch let missing as SegmentsMissing where missing.sent == source.count {
      // Everything is sent. Compare it with the final report.
      resting = WriteProgress(
        sent: transfer.progress.sent, confirmed: min(transfer.progress.confirmed, await intact(from: beginning) ?? .max))
      return
    } catch {
      var known = transfer.progress
      if let intact = await intact(from: beginning) { known.confirmed = min(known.confirmed, intact) }
      resting = known
      if let refusal { throw refusal }
      throw IncompleteWrite(
        mode: mode.writeMode, progress: known, total: source.count ?? transfer.progress.sent, segments: .max, cause: error)
    }
  }

  /// Waits for the device's final report.
  /// - Parameter other: Receives the values that are not reports.
  /// - Returns: The outcome. Nil without a report characteristic.
  package func verify(until deadline: LoopClock.Instant, other: @LoopActor (ValueEvent) -> Void) async throws -> ArrivalProof.Outcome? {
    guard let subscription = reports.subscription else { return nil }
    let proof = try await proof()
    // A device that already had everything got no segments, so it sends no notification.
    if let before = reports.before, proof.evaluate(before) == .proven(from: 0) { return .proven(from: 0) }
    return try await subscription.arrival(of: proof, until: deadline, other: other)
  }

  // MARK: Reports of the device

  /// Subscribes to reports, and finds the byte position to send from.
  /// - Returns: The request for the device's byte count while the client sends Write Commands. Nil if the count is not readable.
  private func subscribe(_ client: Client) async throws -> ArrivalQuestion? {
    let told = try await reports.open(client)
    if use.count > 0 {
      try await goOn(told)
    } else if let told {
      try await begin(told)
    } else if resumes, offset > 0 {
      onEvent?(.resumesUnasked(at: offset))
    }
    return reports.question(from: progress.sent)
  }

  /// Returns the byte up to which the device's CRC-32 matches the file. A device that dropped a segment may count later segments.
  /// - Parameter beginning: The byte position in the file at which this link started.
  /// - Returns: `beginning` without a match. Nil if there are no reports to compare.
  private func intact(from beginning: Int) async -> Int? {
    guard !reports.latest.isEmpty else { return nil }
    guard reports.coversFile else { return beginning }
    do {
      for report in reports.latest.reversed() { if let place = try await place(of: report) { return place } }
      return beginning
    } catch {
      // The source cannot read earlier input again.
      return beginning
    }
  }

  /// Starts at the position that the device reports, which may differ from the remembered position. Runs before the first segment.
  /// - Throws: `TransferError.otherBytes` if the device has other bytes, or fewer than a source that cannot seek back.
  private func begin(_ told: ArrivalReport) async throws {
    if resumes || offset > 0, told.count > 0, try await isBeginning(told) {
      if resumes || told.count != offset, told.count != source.count { onEvent?(.goesOn(at: told.count, sent: told.count, isTold: true)) }
      begin(at: told.count)
    } else if resumes, offset > 0 {
      // The device's report outweighs the remembered point.
      guard told.count == 0, try await source.isThere(0) else { throw TransferError.otherBytes(told) }
      onEvent?(.startsOver(remembered: offset))
      begin(at: 0)
    }
    reports.count(told, as: offset)
    if told.count != 0, told.count != offset { onEvent?(.counterIsAt(told.count)) }
  }

  /// Returns whether a report matches the start of the file. A report of the whole file counts only if `resumes` is true.
  private func isBeginning(_ told: ArrivalReport) async throws -> Bool {
    // Read a pipe further only on request.
    guard source.count != nil || resumes || told.count <= offset, try await source.isThere(told.count) else { return false }
    if let count = source.count, told.count > count || told.count == count && !resumes { return false }
    return try await source.crc(upTo: told.count) == told.crc
  }

  /// Continues after a lost link at the reported or the confirmed position.
  private func goOn(_ told: ArrivalReport?) async throws {
    var place = progress.confirmed
    let counted = told.flatMap { reports.place(of: $0) }
    if let told, let counted {
      place = counted
      // The response to the last request may be lost with the link.
      let latest = progress.sent + (mode == .request ? segment ?? 0 : 0)
      guard place >= progress.confirmed, place <= latest else { throw TransferError.otherBytes(told) }
      if reports.coversFile {
        let proof = try await proof(at: place)
        guard told == proof.part || told == proof.whole else { throw TransferError.otherBytes(told) }
      }
    }
    onEvent?(.goesOn(at: place, sent: progress.sent, isTold: counted != nil))
    resting = WriteProgress(sent: place, confirmed: place)
  }
}

extension ByteSource {
  /// Returns whether the source can read the byte at a zero-based position. False for bytes that a pipe has passed.
  /// - Throws: `CancellationError`.
  fileprivate func isThere(_ place: Int) async throws -> Bool {
    do { _ = try await bytes(at: place, atMost: 1) } catch {
      if error is CancellationError { throw error }
      return false
    }
    return true
  }
}

/// Adapts a transfer to parameter changes, and estimates the device's pace.
extension FileTransfer {
  private func linkChanged(_ parameters: LinkParameters) {
    let found = found
    use.change(to: parameters, at: progress.sent, EventLoop.shared.now)
    if let transfer, mode == .command {
      if let found { pace = found }
      if transfer.pace?.found == nil || !(found?.holds(on: use.parameters.interval, airTime: airTime) ?? false) {
        transfer.begin(newPace())
        isSlower = transfer.pace?.isSlower ?? false
      }
    }
    planAnew()
  }

  /// Returns a pace for the current link. Uses the remembered gap only if the gap is valid on this link.
  private func newPace() -> TransferPace {
    let known = pace.flatMap { $0.holds(on: use.parameters.interval, airTime: airTime) ? $0 : nil }
    return TransferPace(gap: known.map { .microseconds($0.gap) }).begin(on: use.parameters.interval, isCounted: reports.isCounted)
  }

  private var airTime: Duration { use.airTime(chunk: options.chunk) }

  /// The pace that the transfer found on its current link. Nil if it found none.
  private var found: TransferMemory.Pace? { transfer?.pace?.found.flatMap { pace(of: Int($0 / .microseconds(1))) } }

  /// Returns a pace measured on the current link. Returns nil if the connection interval is unknown. `gap` is in microseconds.
  package func pace(of gap: Int) -> TransferMemory.Pace? {
    use.parameters.interval.map {
      TransferMemory.Pace(gap: gap, interval: Int($0 / .microseconds(1)), airTime: Int(airTime / .microseconds(1)))
    }
  }

  private func paceChanged() {
    isSlower.toggle()
    planAnew { .deviceIsSlower(isSlower, from: $0, to: $1) }
  }

  private func planAnew() { planAnew { .plannedAnew(from: $0, to: $1, use.parameters) } }

  private func planAnew(_ event: (_ before: Int, _ now: Int) -> Event) {
    guard let transfer, let mode else { return }
    adapt(transfer)
    guard options.chunk == nil, let segment = try? options.segment(mode, mtu: use.mtu, link: use.model, isSlower: isSlower),
      segment != transfer.segment
    else { return }
    onEvent?(event(transfer.segment, segment))
    transfer.segment = segment
  }

  private func adapt(_ transfer: Transfer) {
    transfer.link = use.model
    transfer.latency = use.parameters.latency ?? 0
  }
}
