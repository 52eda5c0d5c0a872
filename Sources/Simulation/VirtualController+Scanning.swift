import Bluetooth
import EventLoop
import GAP
import HCI

extension VirtualController {
  struct Scanner {
    var isEnabled = false
    var isActive = false
    /// 0.625 ms units; nil before parameters were set by an extended command.
    var interval: UInt16 = 0x10
    var window: UInt16 = 0x10
    var hears1M = true
    var hasExtendedParameters = false
    var start: Int64 = 0
    /// ns; scanning for the first part of every period. 0: no period.
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
      return elapsed % (Int64(interval) * 625_000) < Int64(window) * 625_000
    }

    /// False for what was reported already.
    mutating func shouldReport(_ sighting: Sighting, at now: Int64) -> Bool {
      if filter == .off { return true }
      if filter == .eachPeriod, period > 0, (now - start) / period != seenInPeriod {
        seenInPeriod = (now - start) / period
        seen = []
      }
      return seen.insert(sighting).inserted
    }
  }

  func scan(_ command: Command) {
    let opcode = command.opcode
    switch command {
    case .leSetScanParameters(let timing, let own, let policy):
      guard use(.legacy, for: opcode) else { return }
      guard Self.isValid(timing, limit: 0x4000), policy <= 3, isOwnAddress(own) else { return refuse(opcode, .invalidParameters) }
      guard !scanner.isEnabled else { return refuse(opcode, .commandDisallowed) }
      setScanParameters(timing, hears1M: true)
      complete(opcode)
    case .leSetExtendedScanParameters(let own, let policy, let phys, let timings):
      guard use(.extended, for: opcode) else { return }
      guard !phys.isEmpty, PHYMask([.le1M, .coded]).isSuperset(of: phys), let timing = timings.first,
        timings.allSatisfy({ Self.isValid($0, limit: 0xFFFF) }), policy <= 3, isOwnAddress(own)
      else { return refuse(opcode, .invalidParameters) }
      guard PHYMask(configuration.phys).isSuperset(of: phys) else { return refuse(opcode, .unsupportedFeature) }
      guard !scanner.isEnabled else { return refuse(opcode, .commandDisallowed) }
      // The devices in this air advertise on 1M.
      setScanParameters(timing, hears1M: phys.contains(.le1M))
      scanner.hasExtendedParameters = true
      complete(opcode)
    case .leSetScanEnable(let isOn, let filterDuplicates):
      guard use(.legacy, for: opcode) else { return }
      setScanEnable(isOn, filterDuplicates ? .on : .off, duration: 0, period: 0)
      complete(opcode)
    case .leSetExtendedScanEnable(let isOn, let filterDuplicates, let duration, let period):
      guard use(.extended, for: opcode) else { return }
      guard !isOn || scanner.hasExtendedParameters else { return refuse(opcode, .commandDisallowed) }
      let (durationTime, periodTime) = (Int64(duration) * 10_000_000, Int64(period) * 1_280_000_000)
      if isOn {
        guard filterDuplicates <= 2, filterDuplicates < 2 || period > 0, duration == 0 || period == 0 || periodTime > durationTime else {
          return refuse(opcode, .invalidParameters)
        }
      }
      setScanEnable(
        isOn, filterDuplicates == 0 ? .off : filterDuplicates == 1 ? .on : .eachPeriod, duration: durationTime,
        period: duration == 0 ? 0 : periodTime)
      complete(opcode)
    default: break
    }
  }

  private static func isValid(_ timing: Command.ScanTiming, limit: UInt16) -> Bool {
    (4...limit).contains(timing.interval) && (4...timing.interval).contains(timing.window)
  }

  private func setScanParameters(_ timing: Command.ScanTiming, hears1M: Bool) {
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

  func updateListening() {
    if scanner.isEnabled || initiator != nil { air.listen(self) } else { air.stopListening(self) }
  }

  func report(_ advertisement: Air.Advertisement, at now: Int64) {
    guard scanner.isListening(at: now) else { return }
    let settings = advertisement.settings
    let peer = advertisement.peer
    let isNew = scanner.shouldReport(Scanner.Sighting(peer: peer, isScanResponse: false), at: now)
    if advertisement.isExtended {
      // A radio that knows legacy PDUs only does not even notice.
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

  /// A legacy PDU, in the form that goes with the scan command.
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

  /// More than 31 octets come on the secondary channels, in parts of at most 229.
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
  /// "Incomplete, more data to come" in the event type.
  fileprivate static let moreBits = UInt16(more.rawValue) << 5
}
