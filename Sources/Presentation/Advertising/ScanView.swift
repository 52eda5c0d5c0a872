package import BluetoothLE
package import BluetoothLEDeviceFiles
import BluetoothLEText
package import Terminal

/// A view of the results of a scan as records, plain lines, or a live table.
@LoopActor
package final class ScanView {
  private let output: Output
  private let log: ScanLog?
  private let showsBytes: Bool
  /// Whether the view shows a line or record for each device instead of each packet.
  private let showsDevices: Bool
  /// Whether the caller shows the devices again and again, so that the view does not show them at the end.
  private let repeats: Bool
  /// The number of devices to show. Nil for all.
  private let limit: Int?
  private let formats: AdvertisingFormats
  /// Whether the view updates a table on the terminal instead of printing a line for each record.
  package let isLive: Bool
  private var watch: DeviceWatch
  private var order: DeviceOrder
  private let live = LiveView()
  private let begin = EventLoop.shared.now
  /// The facts of each visible device, with the device's number of payload changes when the view collected the facts.
  private var facts: [PeerAddress: (changes: Int, facts: ScanFacts)] = [:]

  package init(
    _ options: DeviceWatch.Options, sort: DeviceOrder.Key, showsBytes: Bool = false, showsDevices: Bool = false,
    repeats: Bool = false, limit: Int? = nil, formats: AdvertisingFormats, _ output: Output, _ log: ScanLog? = nil
  ) {
    self.log = log
    self.formats = formats
    self.output = output
    self.showsBytes = showsBytes
    self.showsDevices = showsDevices
    self.repeats = repeats
    self.limit = limit
    isLive = output.canAnimateOut && !output.style.json && !showsBytes && !repeats
    watch = DeviceWatch(options)
    order = DeviceOrder(sort)
  }

  package var records: Int { watch.records }
  /// The number of devices with records.
  package var shownDevices: Int { watch.devicesWithRecords.count }
  package var deviceCount: Int { watch.deviceCount }
  /// All devices that the scan has heard, including devices that do not match the filter.
  package var heard: [DeviceView] { watch.all }

  /// Adds a report and shows it if it matches the filter. `time` is its arrival in nanoseconds since 1970-01-01T00:00:00Z.
  package func add(_ report: AdvertisingReport, at time: Int64) async throws {
    let record = watch.add(report, at: isLive || showsDevices ? time : nil)
    if let log, let record { try await log.write(Output.record { write(&$0, record, at: time) }) }
    // The table also updates the strength of known devices.
    if isLive { return try redraw() }
    guard let record, !showsDevices else { return }
    if output.style.json {
      if try !output.recordWithoutWaiting({ write(&$0, record, at: time) }) { try await output.record { write(&$0, record, at: time) } }
    } else {
      try await output.line(
        timeText(time) + (showsBytes ? ScanRecord.rawLine(record.report) : ScanRecord.line(record.report, record.advertisement, formats)))
      if !showsBytes, output.style.verbosity > 0 {
        let report = record.report
        for line in AdvertisingDetail.lines(report.data, isCut: report.isTruncated, of: report.peer, pdu: report.pdu, formats) {
          try await output.line(output.displayText(line))
        }
      }
    }
  }

  private func write(_ json: inout RecordWriter, _ record: DeviceWatch.Record, at time: Int64) {
    ScanRecord.json(&json, record.report, record.advertisement, time, formats, namesPeer: output.resultsNamePeer)
  }

  /// The devices with records, in exact order and up to the limit.
  private var sortedDevices: ArraySlice<DeviceView> { order.sorted(watch.devicesWithRecords).prefix(limit ?? .max) }

  /// Writes a line or record for each device with records.
  package func writeDevices() async throws {
    let now = EventLoop.shared.wallClock
    for device in sortedDevices {
      if output.style.json {
        try await output.record { DeviceRecord.json(&$0, device, formats, at: repeats ? now : nil, namesPeer: output.resultsNamePeer) }
      } else {
        try await output.line(
          timeText(repeats ? now : device.signal.lastHeard ?? now) + output.displayText(DeviceRecord.line(device, formats)))
      }
    }
  }

  /// Returns a time at the start of a line. Empty unless the user asks for a form of times.
  private func timeText(_ time: Int64) -> String { output.style.times == nil ? "" : output.timeText(time).map { "\($0) " } ?? "" }

  /// Draws the empty table on a terminal. Without a table, does nothing.
  package func start() throws { if isLive { try redraw() } }

  /// Draws the final table and closes the log. Removes the table if the scan failed with `error` before the first record.
  package func finish(after error: (any Error)? = nil) async throws {
    if isLive {
      try await live.finish(error != nil && records == 0 ? [] : table(isLast: true), on: output)
      if output.style.verbosity > 0 { try await showDetails() }
    } else if showsDevices, !repeats {
      try await writeDevices()
    }
    try await log?.close()
  }

  private func showDetails() async throws {
    for device in sortedDevices {
      for line in AdvertisingDetail.lines(device, formats, paint: { output.paint($0, .bold) }) {
        try await output.line(output.displayText(line))
      }
    }
  }

  private func redraw() throws { try live.redraw(on: output) { [weak self] in self?.table(isLast: false) ?? [] } }

  private func table(isLast: Bool) -> [LiveView.Line] {
    let table = ScanTable(width: output.width, isUTF8: output.isUTF8, paint: output.paint)
    // The other three lines: header, summary, and cursor.
    let room = max(1, output.height - 3)
    let time = EventLoop.shared.wallClock
    let all = watch.devicesWithRecords
    let devices = isLast ? order.sorted(all) : order.arrange(all, inView: room, at: time)
    let rows = devices.prefix(isLast ? limit ?? .max : room)
    var lines = [table.header]
    var seen: [PeerAddress: (changes: Int, facts: ScanFacts)] = [:]
    for device in rows {
      let known = facts[device.peer].flatMap { $0.changes == device.changes ? $0.facts : nil } ?? ScanFacts(device, formats)
      seen[device.peer] = (device.changes, known)
      lines.append(table.row(device, at: time, known))
    }
    facts = seen
    let hidden = devices.count - rows.count
    let seconds = Int(begin.duration(to: EventLoop.shared.now).inSeconds)
    let below = hidden > 0 ? " (\(hidden) below)" : ""
    let heard = devices.isEmpty && deviceCount > 0 ? ", \(deviceCount.counted("device")) filtered out" : ""
    lines.append(
      table.summary(
        "\(devices.count.counted("device"))\(below), \(records.counted("record")) in \(seconds) s\(heard)\(isLast ? "" : ". Press Ctrl-C to stop.")"
      ))
    return lines
  }
}
