// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension VirtualController {
  struct Scanner {
    var isEnabled = false
    var isActive = false
    var interval: Slots = 0x10
    var window: Slots = 0x10
    var phys: PHYMask = .le1M
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
      var isScanResponse: Bool
      /// The set and the data of extended PDUs. 0 for legacy PDUs.
      var sid: UInt8 = 0
      var dataID: UInt16 = 0
    }

    func isListening(on phy: PHY, at now: Int64) -> Bool {
      guard isEnabled, phys.contains(PHYMask(phy)) else { return false }
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
      controller.setScanParameters(command.timing, phys: .le1M)
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
    setScanParameters(timing, phys: command.phys)
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

  private func setScanParameters(_ timing: ScanTiming, phys: PHYMask) {
    scanner.isActive = timing.isActive
    scanner.interval = timing.interval
    scanner.window = timing.window
    scanner.phys = phys
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
    let (settings, pdus, peer) = (advertisement.settings, advertisement.pdus, advertisement.peer)
    // The basic filter policies ignore advertisements that are directed to others.
    guard scanner.isListening(on: pdus.primary, at: now), pdus.target.map(isOwn) ?? true, hasRoomForReport() else { return }
    var sighting = Scanner.Sighting(peer: peer, isScanResponse: false)
    if pdus.isExtended {
      // A controller that knows only legacy PDUs does not notice extended ones.
      guard commandSet == .extended, configuration.phys.contains(pdus.secondary) else { return }
      (sighting.sid, sighting.dataID) = (pdus.sid, pdus.dataID)
      if scanner.shouldReport(sighting, at: now) { reportExtended(advertisement, peer, settings.data, advertisement.rssi) }
      guard scanner.isActive, pdus.isScannable else { return }
      sighting.isScanResponse = true
      guard scanner.shouldReport(sighting, at: now) else { return }
      return reportExtended(advertisement, peer, settings.scanResponse, advertisement.scanResponseRSSI, isScanResponse: true)
    }
    // ADV_DIRECT_IND, ADV_IND, ADV_SCAN_IND, ADV_NONCONN_IND.
    let type: UInt8 = pdus.target != nil ? 1 : settings.isConnectable ? 0 : pdus.isScannable ? 2 : 3
    if scanner.shouldReport(sighting, at: now) {
      reportLegacy(type, inResponseTo: nil, peer, settings.data, advertisement.rssi, target: pdus.target)
    }
    guard scanner.isActive, pdus.isScannable else { return }
    sighting.isScanResponse = true
    guard scanner.shouldReport(sighting, at: now) else { return }
    reportLegacy(4, inResponseTo: type, peer, settings.scanResponse, advertisement.scanResponseRSSI)
  }

  private func isOwn(_ target: PeerAddress) -> Bool { target == ownAddress(0) || target == ownAddress(1) }

  /// Reports a legacy PDU in a legacy or an extended report, as the host's scan command requires.
  private func reportLegacy(
    _ type: UInt8, inResponseTo advertised: UInt8?, _ peer: PeerAddress, _ data: [UInt8], _ rssi: Int8, target: PeerAddress? = nil
  ) {
    guard commandSet == .extended else {
      return emit(.leAdvertisingReports(AdvertisingReports([LegacyAdvertisingReport(eventType: type, peer: peer, data: data, rssi: rssi)])))
    }
    // Vol 4 Part E §7.7.65.13: legacy bit 4, scan response bit 3, directed bit 2, scannable bit 1, connectable bit 0.
    let extendedType: UInt16 =
      switch advertised ?? type {
      case 0: 0x13
      case 1: 0x15
      case 2: 0x12
      default: 0x10
      }
    var report = ExtendedAdvertisingReport(eventType: extendedType | (advertised == nil ? 0 : 0x08), peer: peer, rssi: rssi, data: data)
    report.setTarget(target)
    emit(.leExtendedAdvertisingReports(AdvertisingReports([report])))
  }

  /// Reports extended advertising data in reports of at most 229 bytes each.
  private func reportExtended(
    _ advertisement: Air.Advertisement, _ peer: PeerAddress, _ data: [UInt8], _ rssi: Int8, isScanResponse: Bool = false
  ) {
    let pdus = advertisement.pdus
    let data = data.prefix(Self.advertisingDataLimit)
    let form: UInt16 =
      (advertisement.settings.isConnectable ? 0x01 : 0) | (pdus.isScannable ? 0x02 : 0) | (pdus.target == nil ? 0 : 0x04)
      | (isScanResponse ? 0x08 : 0)
    for start in stride(from: 0, to: max(1, data.count), by: 229) {
      let part = Array(data[start..<min(data.count, start + 229)])
      let isLast = start + 229 >= data.count
      var report = ExtendedAdvertisingReport(
        eventType: form | (isLast ? 0 : ExtendedAdvertisingReport.DataStatus.moreBits), peer: pdus.isAnonymous ? nil : peer,
        primaryPHY: pdus.primary.rawValue, secondaryPHY: pdus.secondary.rawValue, sid: pdus.sid, txPower: pdus.txPower, rssi: rssi,
        data: part)
      report.setTarget(pdus.target)
      emit(.leExtendedAdvertisingReports(AdvertisingReports([report])))
    }
  }
}

extension ExtendedAdvertisingReport {
  fileprivate mutating func setTarget(_ target: PeerAddress?) {
    guard let target else { return }
    (directAddressType, directAddress) = (target.type.hciValue, target.address)
  }
}

extension ExtendedAdvertisingReport.DataStatus {
  /// The bits for "Incomplete, more data to come" in the event type.
  fileprivate static let moreBits = UInt16(more.rawValue) << 5
}
