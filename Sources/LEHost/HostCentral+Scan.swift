import Bluetooth
import EventLoop
package import GAP
import HCI

/// A scan that is on.
@LoopActor
final class Scan {
  let isExtended: Bool
  let ended = Wait<Void>()
  var joiner = ExtendedReportReassembler()
  var expiry: LoopTimer?
  enum Phase { case preparing, asked, on, over }

  /// Reports count from the moment the controller is asked to scan; what comes earlier belongs to someone else's scan.
  var phase = Phase.preparing
  /// What came together with the confirmation, before it was seen.
  private var early: [AdvertisingReport] = []
  private static let earlyLimit = 256
  private let report: @LoopActor (AdvertisingReport) -> Void

  init(isExtended: Bool, report: @escaping @LoopActor (AdvertisingReport) -> Void) {
    self.isExtended = isExtended
    self.report = report
  }

  func deliver(_ one: AdvertisingReport) {
    switch phase {
    case .on: report(one)
    case .asked where early.count < Self.earlyLimit: early.append(one)
    default: break
    }
  }

  func begin() {
    phase = .on
    let kept = early
    early = []
    for one in kept where phase == .on { report(one) }
  }

  func end() {
    phase = .over
    early = []
    expiry?.cancel()
  }

  var disable: any Command {
    isExtended
      ? LESetExtendedScanEnable(false, filterDuplicates: 0, duration: 0, period: 0) : LESetScanEnable(false, filterDuplicates: false)
  }
}

extension HostCentral {
  package func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    try check()
    guard scan == nil else { throw BluetoothError(.adapter, "\(name) scans already") }
    try Task.checkCancellation()
    let phys = PHYMask(parameters.phys).intersection([.le1M, .coded])
    guard !phys.isEmpty else { throw BluetoothError(.usage, "devices advertise on the 1M or the coded PHY") }
    let isExtended = adapterInfo.supported.scansExtended
    if phys.contains(.coded), !isExtended || !adapterInfo.leFeatures.contains(.phyCoded) {
      throw BluetoothError(.adapter, "\(name) cannot scan on the coded PHY")
    }
    let scan = Scan(isExtended: isExtended, report: report)
    self.scan = scan
    do {
      try await enable(scan, phys, isActive: parameters.isActive)
      started()
      scan.begin()
      try await scan.ended.value()
    } catch {
      await finish(scan)
      throw error
    }
    await finish(scan)
  }

  /// However it ended, the command to start may be on its way: the scan is off when this returns.
  private func finish(_ scan: Scan) async {
    scan.end()
    if controller.failure == nil {
      await shielded { [controller] in _ = await controller.tidy(scan.disable) }
    }
    if self.scan === scan { self.scan = nil }
  }

  private func enable(_ scan: Scan, _ phys: PHYMask, isActive: Bool) async throws {
    // 60 ms; links of ours and the other PHY need their share of the radio.
    let interval: UInt16 = 96
    let window = links.isEmpty && phys.phys.count == 1 ? interval : interval / 2
    let timing = ScanTiming(isActive: isActive, interval: interval, window: window)
    let own = adapterInfo.ownAddress.type.hciValue
    let commands: [any Command] =
      scan.isExtended
      ? [
        LESetExtendedScanParameters(ownAddressType: own, filterPolicy: 0, phys: phys, phys.phys.map { _ in timing }),
        LESetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0),
      ] : [LESetScanParameters(timing, ownAddressType: own, filterPolicy: 0), LESetScanEnable(true, filterDuplicates: false)]
    do {
      try await perform(commands, scan)
    } catch let error as BluetoothError where error.isRefusal(.commandDisallowed) {
      // A scan that someone left on: parameters cannot change under it.
      do {
        _ = try await controller.perform(scan.disable)
      } catch let error as BluetoothError where error.kind == .hci {}
      do {
        try await perform(commands, scan)
      } catch var error as BluetoothError where error.isRefusal(.commandDisallowed) {
        error.message =
          "\(name) cannot scan now: \(ControllerErrorCode.commandDisallowed). "
          + "It may be connecting, or have been used with \(scan.isExtended ? "legacy" : "extended") commands by another program"
        throw error
      }
    }
  }

  /// The last command enables.
  private func perform(_ commands: [any Command], _ scan: Scan) async throws {
    for command in commands {
      if command.opcode == scan.disable.opcode { scan.phase = .asked }
      try await controller.perform(command)
    }
  }

  func receive(_ reports: AdvertisingReports<ExtendedAdvertisingReport>) {
    guard let scan else { return }
    let now = EventLoop.shared.now.nanoseconds
    for report in reports.reports {
      for whole in scan.joiner.add(report, at: now) {
        if whole.primaryPHY == .coded, let peer = whole.peer, codedPeers.count < 256 { codedPeers.insert(peer) }
        scan.deliver(whole)
      }
    }
    awaitRest(of: scan)
  }

  /// Parts whose rest never comes are delivered all the same.
  private func awaitRest(of scan: Scan) {
    guard scan.joiner.count > 0, scan.expiry == nil, scan.phase == .on else { return }
    scan.expiry = EventLoop.shared.schedule(after: ExtendedReportReassembler.timeout + .milliseconds(10)) { [weak self, weak scan] in
      guard let self, let scan else { return }
      scan.expiry = nil
      for report in scan.joiner.expire(at: EventLoop.shared.now.nanoseconds) { scan.deliver(report) }
      self.awaitRest(of: scan)
    }
  }
}
