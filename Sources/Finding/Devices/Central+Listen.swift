import EventLoop
package import GAP

/// The decision of a listener after a report.
package enum Listening: Sendable, Equatable {
  case goOn
  case end
  /// Continue for this time, in case a better match appears.
  case endAfter(Duration)
}

extension Central {
  /// Scans until `take` ends it, or for `limit` at most. The scan is off when this returns or throws.
  ///
  /// `take` gets one report after the other with the time of its arrival (nanoseconds since 1970-01-01T00:00:00Z), and may wait meanwhile.
  /// What was heard before the limit it still gets; after `.end` it gets no more, not even what stood in the same HCI event.
  /// - Parameters:
  ///   - limit: counts from when the controller listens, not from when it was asked; nil for no limit.
  ///   - onDrop: told how many reports were dropped so far, because `take` was seconds behind: now and then, and at the end; after a cancellation
  ///     with those that `take` had not got to.
  /// - Throws: what `take` throws, what scanning throws, CancellationError.
  package func listen(
    _ parameters: ScanParameters, for limit: Duration?, take: @escaping @LoopActor (AdvertisingReport, Int64) async throws -> Listening,
    onDrop: (@LoopActor (Int) -> Void)? = nil
  ) async throws {
    let reports = BoundedQueue<(AdvertisingReport, Int64)>(capacity: 8192, onDrop: onDrop)
    let scanning = EventLoop.shared.spawn {
      do {
        try await self.scan(parameters) {
          if let limit { reports.close(after: limit) }
        } report: {
          reports.add(($0, EventLoop.shared.wallClock))
        }
        reports.close()
      } catch { reports.close(throwing: error) }
    }
    let outcome: Result<Void, any Error>
    do {
      taking: while true {
        let item = if let ready = try reports.ready() { ready } else { try await reports.next() }
        guard let (report, time) = item else { break }
        switch try await take(report, time) {
        case .goOn: break
        case .end: break taking
        case .endAfter(let time): reports.close(after: time)
        }
      }
      outcome = .success(())
    } catch {
      if error is CancellationError { reports.abandon() }
      outcome = .failure(error)
    }
    scanning.cancel()
    await scanning.value
    reports.close()
    try outcome.get()
  }
}
