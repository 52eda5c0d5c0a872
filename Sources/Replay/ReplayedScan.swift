import EventLoop
import HCI

/// A running scan with the reports of a recorded scan, and then of the recorded scans that follow.
@LoopActor
final class ReplayedScan {
  private unowned let transport: ReplayTransport
  private let isActive: Bool
  private var index: Int
  private var position = 0
  /// Our time at the start of the recorded scan, in nanoseconds.
  private var origin: Int64
  private var timer: LoopTimer?

  init(_ transport: ReplayTransport, from index: Int, origin: Int64, isActive: Bool) {
    self.transport = transport
    self.index = index
    self.origin = origin
    self.isActive = isActive
    schedule()
  }

  /// Stops the scan. Returns the index of the recorded scan with which the next scan continues.
  @discardableResult
  func stop() -> Int {
    timer?.cancel()
    timer = nil
    return index + 1
  }

  private func schedule() {
    let scans = transport.recording.scans
    while scans.indices.contains(index), position >= scans[index].reports.count {
      guard index + 1 < scans.count else { return }
      origin += scans[index].end - scans[index].time
      index += 1
      position = 0
    }
    guard scans.indices.contains(index) else { return }
    let report = scans[index].reports[position]
    timer = EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: origin + report.time - scans[index].time)) { [weak self] in
      self?.deliver(report)
    }
  }

  private func deliver(_ report: Recording.Packet) {
    position += 1
    timer = nil
    if isActive || !RecordedEvent.isScanResponse(report.octets) { transport.deliver(report.octets) }
    // The host may have ended the scan.
    if transport.scan === self { schedule() }
  }
}

extension ReplayTransport {
  func enableScan(_ command: CommandPacket) {
    let isOn = command.parameters.first == 1
    if !isOn {
      if let scan { nextScan = scan.stop() }
      scan = nil
      answer(command)
      return
    }
    if !recording.scans.indices.contains(nextScan) { nextScan = 0 }
    answer(command)
    guard scan == nil, recording.scans.indices.contains(nextScan) else { return }
    let time = recording.scans[nextScan].time
    align(time)
    scan = ReplayedScan(self, from: nextScan, origin: due(time), isActive: isActiveScan)
  }
}
