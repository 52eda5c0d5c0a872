import Bluetooth
import EventLoop
package import GAP
import HCI
import HostCommon

/// A running scan.
@LoopActor
final class Scan {
  let commands: ScanCommands
  let ended = Wait<Void>()
  private(set) lazy var reader = AdvertisingReportReader(onUnreadable: onUnreadable) { [weak self] in self?.deliver($0) }
  /// Whether the controller confirmed the scan. Earlier reports belong to another scan.
  private var isOn = false
  private var isOver = false
  private let onUnreadable: @LoopActor (Int) -> Void
  private let report: @LoopActor (AdvertisingReport) -> Void

  init(
    _ commands: ScanCommands, onUnreadable: @escaping @LoopActor (Int) -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) {
    self.commands = commands
    self.onUnreadable = onUnreadable
    self.report = report
  }

  private func deliver(_ one: AdvertisingReport) { if isOn { report(one) } }

  /// Starts reporting. - Returns: false if the scan has already ended.
  func begin() -> Bool {
    isOn = !isOver
    return isOn
  }

  func end() {
    (isOn, isOver) = (false, true)
    reader.stop()
  }
}

extension HostCentral {
  package func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    try host.check()
    guard scan == nil else { throw GAPError.isScanning(adapter: name) }
    try Task.checkCancellation()
    let commands = try ScanCommands(parameters, adapter: name, adapterInfo, sharing: !host.links.isEmpty)
    let scan = Scan(commands) { [weak self, name] in
      self?.onNote?(.unreadableReports(adapter: name, $0))
    } report: { [weak self] in
      if $0.primaryPHY == .coded, let self, let peer = $0.peer, codedPeers.count < 256 { codedPeers.insert(peer) }
      report($0)
    }
    self.scan = scan
    let dropped = host.controller.droppedPackets
    defer {
      if let note = GAPNote.droppedPackets(adapter: name, before: dropped, now: host.controller.droppedPackets) { onNote?(note) }
    }
    do {
      // Start in the callback, not after the wait: thousands of reports may follow the confirmation before this task continues.
      try await enable(scan) { if scan.begin() { started() } }
      try await scan.ended.value()
    } catch {
      await finish(scan)
      throw error
    }
    await finish(scan)
  }

  /// Disables the scan, also if the command to start it is still on its way.
  private func finish(_ scan: Scan) async {
    scan.end()
    if host.controller.failure == nil {
      await shielded { [host] in _ = await host.controller.cleanUp(scan.commands.disable) }
    }
    if self.scan === scan { self.scan = nil }
  }

  private func enable(_ scan: Scan, confirmed: @escaping @LoopActor () -> Void) async throws {
    do {
      try await perform(scan, confirmed)
    } catch let error as ControllerError where error.status == .commandDisallowed {
      // Another host left a scan on. Its parameters cannot change while it runs.
      do {
        try await host.controller.perform(scan.commands.disable)
      } catch let error as ControllerError where error.status != nil {}
      do {
        try await perform(scan, confirmed)
      } catch let error as ControllerError where error.status == .commandDisallowed {
        throw HostError.cannotScan(adapter: name, isExtended: scan.commands.isExtended)
      }
    }
  }

  private func perform(_ scan: Scan, _ confirmed: @escaping @LoopActor () -> Void) async throws {
    try await host.controller.perform(scan.commands.configure)
    try await host.controller.perform(scan.commands.enable, accepted: confirmed)
  }
}
