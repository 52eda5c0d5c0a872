// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension VirtualController {
  struct Scanner {
    var isEnabled = false
    var isActive = false
    var interval: Slots = 0x10
    var window: Slots = 0x10
    var hears1M = true
    var hasExtendedParameters = false
    var start: Int64 = 0
    /// The time from one scan to the next, in ns. 0 if the scan does not repeat.
    var period: Int64 = 0
    var duration: Int64 = 0
    var timer: LoopTimer?
    var filter = Filter.off
    var seen: Set<Sighting> = []
    var seenInPeriod: Int64 = 0

    enum Filter { case off, on, eachPeriod }

    struct Sighting: Hashable {
      let peer: PeerAddress
      let isScanResponse: Bool
    }

    func isListening(at now: Int64) -> Bool {
      guard isEnabled, hears1M else { return false }
      let elapsed = now - start
      if period > 0, elapsed % period >= duration { return false }
      return elapsed % interval.nanoseconds < window.nanoseconds
    }

    /// Returns whether the controller reports a sighting, and adds the sighting to the duplicate filter.
    mutating func shouldReport(_ sighting: Sighting, at now: Int64) -> Bool {
      if filter == .off { return true }
      if filter == .eachPeriod, period > 0, (now - start) / period != seenInPeriod {
        seenInPeriod = (now - start) / period
        seen = []
      }
      return seen.insert(sighting).inserted
    }
  }

  static func enterScanning(_ commands: inout Commands) {
    commands.on(LESetScanParameters.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.use(.legacy, for: command)
      guard isValid(command.timing, limit: 0x4000), command.filterPolicy <= 3, controller.isOwnAddress(command.ownAddressType) else {
        throw .invalidParameters
      }
      guard !controller.scanner.isEnabled else { throw .commandDisallowed }
      controller.setScanParameters(command.timing, hears1M: true)
    }
    commands.on(LESetScanEnable.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.use(.legacy, for: command)
      controller.setScanEnable(command.isOn, command.filterDuplicates ? .on : .off, duration: 0, period: 0)
    }
  }

  static func enterExtendedScanning(_ commands: inout Commands) {
    commands.on(LESetExtendedScanParameters.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.setScanParameters(command)
    }
    commands.on(LESetExtendedScanEnable.self) { (controller, command) throws(ControllerErrorCode) in try controller.setScanEnable(command) }
  }

  private func setScanParameters(_ command: LESetExtendedScanParameters) throws(ControllerErrorCode) {
    try use(.extended, for: command)
    guard !command.phys.isEmpty, PHYMask([.le1M, .coded]).isSuperset(of: command.phys), let timing = command.timings.first,
      command.timings.allSatisfy({ Self.isValid($0, limit: 0xFFFF) }), command.filterPolicy <= 3, isOwnAddress(command.ownAddressType)
    else { throw .invalidParameters }
    guard PHYMask(configuration.phys).isSuperset(of: command.phys) else { throw .unsupportedFeature }
    guard !scanner.isEnabled else { throw .commandDisallowed }
    // The simulated devices advertise on 1M only.
    setScanParameters(timing, hears1M: command.phys.contains(.le1M))
    scanner.hasExtendedParameters = true
  }

  private func setScanEnable(_ command: LESetExtendedScanEnable) throws(ControllerErrorCode) {
    try use(.extended, for: command)
    guard !command.isOn || scanner.hasExtendedParameters else { throw .commandDisallowed }
    let (duration, period) = (command.duration.nanoseconds, Int64(command.period) * 1_280_000_000)
    if command.isOn {
      guard command.filterDuplicates <= 2, command.filterDuplicates < 2 || period > 0, duration == 0 || period == 0 || period > duration
      else { throw .invalidParameters }
    }
    let filter: Scanner.Filter = command.filterDuplicates == 0 ? .off : command.filterDuplicates == 1 ? .on : .eachPeriod
    setScanEnable(command.isOn, filter, duration: duration, period: duration == 0 ? 0 : period)
  }

  private static func isValid(_ timing: ScanTiming, limit: Slots) -> Bool {
    (4...limit).contains(timing.interval) && (4...timing.interval).contains(timing.window)
  }

  private func setScanParameters(_ timing: ScanTiming, hears1M: Bool) {
    scanner.isActive = timing.isActive
    scanner.interval = timing.interval
    scanner.window = timing.window
    scanner.hears1M = hears1M
  }

  private func setScanEnable(_ isOn: Bool, _ filter: Scanner.Filter, duration: Int64, period: Int64) {
    scanner.timer?.cancel()
    scanner.timer = nil
    scanner.isEnabled = isOn
    scanner.filter = filter
    scanner.seen = []
    scanner.seenInPeriod = 0
    scanner.start = EventLoop.shared.now.nanoseconds
    scanner.duration = duration
    scanner.period = period
    if isOn, duration > 0, period == 0 {
      scanner.timer = EventLoop.shared.schedule(after: .nanoseconds(duration)) { [weak self] in self?.scanTimeout() }
    }
    updateListening()
  }

  private func scanTimeout() {
    scanner.isEnabled = false
    updateListening()
    // LE Scan Timeout, Vol 4 Part E §7.7.65.17.
    emit(.leOther(subevent: 0x11, []))
    deliver()
  }

  func updateListening() { if scanner.isEnabled || initiator != nil { air.listen(self) } else { air.stopListening(self) } }

  func report(_ advertisement: Air.Advertisement, at now: Int64) {
    guard scanner.isListening(at: now), hasRoomForReport() else { return }
    let settings = advertisement.settings
    let peer = advertisement.peer
    let isNew = scanner.shouldReport(Scanner.Sighting(peer: peer, isScanResponse: false), at: now)
    if advertisement.isExtended {
      // A controller that knows only legacy PDUs does not notice extended ones.
      if commandSet == .extended, isNew { reportExtended(settings, peer, advertisement.rssi) }
      return
    }
    let isScannable = settings.isConnectable || !settings.scanResponse.isEmpty
    // ADV_IND, ADV_SCAN_IND, ADV_NONCONN_IND.
    let type: UInt8 = settings.isConnectable ? 0 : isScannable ? 2 : 3
    if isNew { reportLegacy(type, inResponseTo: nil, peer, settings.data, advertisement.rssi) }
    guard scanner.isActive, isScannable, scanner.shouldReport(Scanner.Sighting(peer: peer, isScanResponse: true), at: now) else { return }
    reportLegacy(4, inResponseTo: type, peer, settings.scanResponse, advertisement.scanResponseRSSI)
  }

  /// Reports a legacy PDU in a legacy or an extended report, as the host's scan command requires.
  private func reportLegacy(_ type: UInt8, inResponseTo advertised: UInt8?, _ peer: PeerAddress, _ data: [UInt8], _ rssi: Int8) {
    guard commandSet == .extended else {
      return emit(.leAdvertisingReports(AdvertisingReports([LegacyAdvertisingReport(eventType: type, peer: peer, data: data, rssi: rssi)])))
    }
    // Vol 4 Part E §7.7.65.13: legacy bit 4, scan response bit 3, scannable bit 1, connectable bit 0.
    let extendedType: UInt16 =
      switch advertised ?? type {
      case 0: 0x13
      case 2: 0x12
      default: 0x10
      }
    let report = ExtendedAdvertisingReport(eventType: extendedType | (advertised == nil ? 0 : 0x08), peer: peer, rssi: rssi, data: data)
    emit(.leExtendedAdvertisingReports(AdvertisingReports([report])))
  }

  /// Reports extended advertising data in reports of at most 229 bytes each.
  private func reportExtended(_ settings: AdvertisingSettings, _ peer: PeerAddress, _ rssi: Int8) {
    let data = settings.data.prefix(1650)
    for start in stride(from: 0, to: max(1, data.count), by: 229) {
      let part = Array(data[start..<min(data.count, start + 229)])
      let isLast = start + 229 >= data.count
      let type: UInt16 = (settings.isConnectable ? 0x01 : 0x00) | (isLast ? 0 : ExtendedAdvertisingReport.DataStatus.moreBits)
      emit(
        .leExtendedAdvertisingReports(
          AdvertisingReports([ExtendedAdvertisingReport(eventType: type, peer: peer, secondaryPHY: 1, sid: 0, rssi: rssi, data: part)])))
    }
  }
}

extension ExtendedAdvertisingReport.DataStatus {
  /// The bits for "Incomplete, more data to come" in the event type.
  fileprivate static let moreBits = UInt16(more.rawValue) << 5
}
