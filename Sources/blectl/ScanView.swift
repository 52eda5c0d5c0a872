import Bluetooth
import EventLoop
import GAP
import Operations
import Terminal
import Text

/// Shows what a scan hears: JSON lines, plain lines, or a table that is drawn in place.
@LoopActor
final class ScanView {
  private let output: Output
  private let showsOctets: Bool
  private let isLive: Bool
  private var watch: DeviceWatch
  private let live = LiveView()
  private var drawnAt: LoopClock.Instant?

  init(_ options: DeviceWatch.Options, showsOctets: Bool, _ output: Output) {
    self.output = output
    self.showsOctets = showsOctets
    isLive = output.canAnimateOut && !showsOctets
    watch = DeviceWatch(options)
  }

  var records: Int { watch.records }
  var deviceCount: Int { watch.deviceCount }

  /// - Parameter time: of arrival, nanoseconds since 1970-01-01T00:00:00Z.
  func add(_ report: AdvertisingReport, at time: Int64) async throws {
    let record = watch.add(report)
    // The table shows the strength of known devices too.
    if isLive { return try redraw() }
    guard let record else { return }
    if output.style.json {
      try await output.record { ScanRecord.json(&$0, record.report, record.advertisement, time) }
    } else {
      try await output.line(showsOctets ? ScanRecord.rawLine(record.report) : ScanRecord.line(record.report, record.advertisement))
    }
  }

  func finish() async throws { if isLive { try await live.finish(table(isLast: true), on: output) } }

  /// At most ten times a second: eyes are slower, and a busy air is not.
  private func redraw() throws {
    let now = EventLoop.shared.now
    if let drawnAt, drawnAt.duration(to: now) < .milliseconds(100) { return }
    drawnAt = now
    try live.draw(table(isLast: false), on: output)
  }

  private func table(isLast: Bool) -> [String] {
    var table = Table(["ADDRESS", "TYPE", "RSSI", "NAME", "SERVICES", "MANUFACTURER"])
    let room = max(3, output.height - 3)
    let rows = watch.devicesWithRecords
    for device in rows.suffix(isLast ? rows.count : room) { table.add(ScanRecord.row(device)) }
    var lines = table.lines(width: output.width)
    if !isLast, rows.count > room { lines.append(DisplayText.clip("… \(rows.count - room) more above", to: output.width)) }
    if let header = lines.first { lines[0] = output.paint(header, .bold) }
    if !isLast {
      let summary = DisplayText.clip("devices: \(rows.count), records: \(records); Ctrl-C ends", to: output.width)
      lines.append(output.paint(summary, .dim))
    }
    return lines
  }
}
