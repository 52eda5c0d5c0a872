// SPDX-License-Identifier: Apache-2.0
/// Extracts advertising reports from a controller's events: legacy, directed and extended reports, from any scan command.
/// The reader joins the parts of chained data, and delivers incomplete data as truncated after 250 ms.
/// The reader drops and counts reports with a reserved event type, and the bytes of an event after a malformed report.
/// `stop` passes the number of dropped reports and events to the handler given to the initializer.
@LoopActor
package final class AdvertisingReportReader {
  /// The number of unreadable reports and events so far.
  package private(set) var unreadable = 0

  private var parts = ExtendedReportReassembler()
  private var expiry: LoopTimer?
  private var report: (@LoopActor (AdvertisingReport) -> Void)?
  private let onUnreadable: @LoopActor (Int) -> Void

  /// Creates a reader, which passes each advertising report to a handler.
  /// - Parameter onUnreadable: receives the number of unreadable reports and events from `stop`, unless it is 0.
  package init(onUnreadable: @escaping @LoopActor (Int) -> Void, _ report: @escaping @LoopActor (AdvertisingReport) -> Void) {
    self.report = report
    self.onUnreadable = onUnreadable
  }

  /// Extracts the reports from an event. Ignores events without advertising reports.
  package func receive(_ event: Event) {
    switch event {
    case .leAdvertisingReports(let event):
      for one in event.reports { if let one = one.report { report?(one) } else { unreadable &+= 1 } }
      if event.error != nil { unreadable &+= 1 }
    case .leDirectedAdvertisingReports(let event):
      for one in event.reports { report?(one.report) }
      if event.error != nil { unreadable &+= 1 }
    case .leExtendedAdvertisingReports(let event):
      for one in event.reports { for whole in parts.add(one, at: EventLoop.shared.now.nanoseconds) { report?(whole) } }
      if event.error != nil { unreadable &+= 1 }
      awaitRest()
    default: break
    }
  }

  /// Stops the delivery of reports, and reports the number of unreadable reports and events. Idempotent.
  package func stop() {
    guard report != nil else { return }
    report = nil
    expiry?.cancel()
    if unreadable > 0 { onUnreadable(unreadable) }
  }

  /// Schedules the delivery of incomplete data, 10 ms after the time limit. Does nothing without incomplete data.
  private func awaitRest() {
    guard parts.count > 0, expiry == nil, report != nil else { return }
    expiry = EventLoop.shared.schedule(after: ExtendedReportReassembler.timeout + .milliseconds(10)) { [weak self] in
      guard let self else { return }
      expiry = nil
      for whole in parts.expire(at: EventLoop.shared.now.nanoseconds) { report?(whole) }
      awaitRest()
    }
  }
}
