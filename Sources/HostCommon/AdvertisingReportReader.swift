package import EventLoop
package import GAP
package import HCI

/// Advertising reports out of a controller's events, in whatever form they come: that follows neither the scan command nor the controller's
/// version. Legacy, directed and extended reports are read here, chained data is joined, and what never becomes whole is given up after a while.
///
/// What cannot be read is dropped, counted, told of at the end, and stops nothing: an event type that the specification reserves, and the
/// rest of an event behind a malformed report. A new form of report is one case of `receive`.
@LoopActor
package final class AdvertisingReportReader {
  /// Reports and events that could not be read.
  package private(set) var unreadable = 0

  private var parts = ExtendedReportReassembler()
  private var expiry: LoopTimer?
  private var report: (@LoopActor (AdvertisingReport) -> Void)?
  private let onUnreadable: @LoopActor (Int) -> Void

  /// - Parameter onUnreadable: told by `stop` how many reports and events could not be read, when there were any.
  package init(onUnreadable: @escaping @LoopActor (Int) -> Void, _ report: @escaping @LoopActor (AdvertisingReport) -> Void) {
    self.report = report
    self.onUnreadable = onUnreadable
  }

  /// Events of other kinds are none of its business.
  package func receive(_ event: HCI.Event) {
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

  /// Nothing is reported any more. Idempotent.
  package func stop() {
    guard report != nil else { return }
    report = nil
    expiry?.cancel()
    if unreadable > 0 { onUnreadable(unreadable) }
  }

  /// Parts whose rest never comes are reported all the same.
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
