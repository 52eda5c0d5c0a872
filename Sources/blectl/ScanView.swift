import Bluetooth
import EventLoop
import GAP
import Operations
import Terminal
import Text

/// Decides which reports become records, and shows them: JSON lines, plain lines, or a table that is drawn in place.
@LoopActor
final class ScanView {
  private let command: Scan
  private let output: Output
  private let isLive: Bool
  private let live = LiveView()
  private var drawnAt: LoopClock.Instant?
  private var seen: Set<Record> = []
  private var order: [PeerAddress] = []
  private(set) var devices: [PeerAddress: DeviceView] = [:]
  private var shown: Set<PeerAddress> = []
  private(set) var printed = 0
  /// Records for which a slow reader had no room, and how many of them the user knows of since when.
  private(set) var dropped = 0
  private var told = 0
  private var toldAt: LoopClock.Instant?

  private struct Record: Hashable {
    let peer: PeerAddress?
    let pdu: AdvertisingReport.PDU
    let data: [UInt8]
  }

  init(_ command: Scan, _ output: Output) {
    self.command = command
    self.output = output
    isLive = output.canAnimateOut && !command.raw
  }

  /// - Returns: true when `--count` is reached.
  func add(_ report: AdvertisingReport) throws -> Bool {
    let advertisement = Advertisement(report.data)
    forget()
    if let peer = report.peer {
      if devices[peer] == nil { order.append(peer) }
      devices[peer, default: DeviceView(peer)].add(report, advertisement)
    }
    guard passes(report, advertisement) else { return false }
    if !command.duplicates {
      guard seen.insert(Record(peer: report.peer, pdu: report.pdu, data: report.data)).inserted else {
        if isLive { try redraw() }
        return false
      }
    }
    if let peer = report.peer { shown.insert(peer) }
    guard try show(report, advertisement) else {
      // Not told, so it is new when it comes again.
      if !command.duplicates { seen.remove(Record(peer: report.peer, pdu: report.pdu, data: report.data)) }
      return false
    }
    printed += 1
    return command.count.map { printed >= $0 } ?? false
  }

  /// - Returns: false when there was no room: the air does not wait for a slow reader.
  private func show(_ report: AdvertisingReport, _ advertisement: Advertisement) throws -> Bool {
    if isLive {
      try redraw()
      return true
    }
    let isTaken =
      command.options.json
      ? try output.offerRecord { ScanRecord.json(&$0, report, advertisement, EventLoop.shared.wallClock) }
      : try output.offerLine(command.raw ? ScanRecord.rawLine(report) : ScanRecord.line(report, advertisement))
    if !isTaken {
      dropped += 1
    } else if dropped > told, toldAt.map({ $0.duration(to: EventLoop.shared.now) >= .seconds(10) }) ?? true {
      tellOfDropped()
    }
    return isTaken
  }

  private func tellOfDropped() {
    guard dropped > told else { return }
    output.note("\(dropped) record(s) were dropped so far, because nobody read the output")
    told = dropped
    toldAt = EventLoop.shared.now
  }

  /// Phones change their addresses every quarter of an hour, and a scan may last for days: what was heard first is forgotten first. A record
  /// that was forgotten is printed again when it comes again; nothing is lost.
  private func forget() {
    if seen.count >= 50_000 { seen.removeAll(keepingCapacity: true) }
    guard order.count >= 20_000 else { return }
    for peer in order.prefix(10_000) {
      devices[peer] = nil
      shown.remove(peer)
    }
    order.removeFirst(10_000)
  }

  func finish() async throws {
    tellOfDropped()
    if isLive { try await live.finish(table(isLast: true), on: output) }
  }

  private func passes(_ report: AdvertisingReport, _ advertisement: Advertisement) -> Bool {
    if let floor = command.minRssi { guard let rssi = report.rssi, Int(rssi) >= floor else { return false } }
    if let address = command.address { guard report.peer?.address == address.address else { return false } }
    guard command.name != nil || command.service != nil || command.manufacturer != nil else { return true }
    var device = report.peer.flatMap { devices[$0] }
    if device == nil {
      // An anonymous advertiser has no history: the record stands for itself.
      var alone = DeviceView(PeerAddress(Address(rawValue: 0), .random))
      alone.add(report, advertisement)
      device = alone
    }
    guard let device else { return false }
    if let pattern = command.name { guard let name = device.name, Glob.matches(pattern, name) else { return false } }
    if let service = command.service { guard device.services.contains(service.uuid) else { return false } }
    if let wanted = command.manufacturer {
      guard device.manufacturerData.contains(where: { $0.company == wanted.company && $0.data.starts(with: wanted.prefix) }) else {
        return false
      }
    }
    return true
  }

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
    let rows = order.filter { shown.contains($0) }.compactMap { devices[$0] }
    for device in rows.suffix(isLast ? rows.count : room) { table.add(ScanRecord.row(device)) }
    var lines = table.lines(width: output.width)
    if !isLast, rows.count > room { lines.append(DisplayText.clip("… \(rows.count - room) more above", to: output.width)) }
    if let header = lines.first { lines[0] = output.paint(header, .bold) }
    if !isLast {
      let summary = DisplayText.clip("devices: \(rows.count), records: \(printed); Ctrl-C ends", to: output.width)
      lines.append(output.paint(summary, .dim))
    }
    return lines
  }
}
