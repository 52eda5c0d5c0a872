// SPDX-License-Identifier: Apache-2.0
/// The decision of a report's receiver on whether the scan continues.
package enum Listening: Sendable, Equatable {
  case goOn
  case end
  /// The scan continues for this time after the report, because a better match may appear.
  case endAfter(Duration)
}

extension Central {
  /// Scans until `take` ends the scan, or for at most `limit`. The scan is off when this function returns or throws.
  ///
  /// `take` receives one report after the other with its arrival time (nanoseconds since 1970-01-01T00:00:00Z), and may wait. `take` also
  /// receives the reports that the controller heard before the limit. `.end` stops the reports, also those of the same HCI event.
  /// - Parameters:
  ///   - limit: The time from the moment at which the controller starts to listen. Nil means no limit.
  ///   - resolver: Adds identities to the reports. Nil adds none.
  ///   - onDrop: The callback with the number of reports that the scan dropped because `take` was seconds behind, repeatedly and at the
  ///     end. After a cancellation, the number includes the reports that `take` had not received.
  /// - Throws: The error of `take` or of the scan, or `CancellationError`.
  package func listen(
    _ parameters: ScanParameters, for limit: Duration?, resolving resolver: IdentityResolver? = nil,
    take: @escaping @LoopActor (AdvertisingReport, Int64) async throws -> Listening,
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
        guard case (var report, let time)? = item else { break }
        if let resolver { report.identity = resolver.identity(of: report.peer) }
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
