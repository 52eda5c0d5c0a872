/// Decides how to scan on a controller that the kernel and other programs also use.
/// A controller has one scan, which each of them can switch on or off. A raw HCI socket shows their commands.
/// This type tracks which program switched the scan on or off and returns the next step. It does nothing itself. `ScanCommands` decides
/// whether blectl's own scan is active, for `SharedCentral`, which combines what the listeners want.
///
/// - Use another program's scan unchanged. Stopping the kernel's discovery would also stop the timer that resumes it.
/// - Replace a background scan that reports no new devices, such as the kernel's scan for devices to connect to.
/// - Restart a scan that no program resumes, but not during a connection attempt, when controllers may refuse a scan.
/// - When blectl's scan ends, the program that last switched the scan on switches it off.
struct ScanProcedure: Equatable {
  enum Step: Equatable {
    case send(CommandPacket)
    /// The caller asks the kernel whether its discovery is active, and passes the answer to `discovery`.
    case askForDiscovery
    /// The controller has started to scan.
    case started
    /// The caller shows the note to the user. The procedure returns each note once.
    case note(ScanNote)
    case failed(Opcode, ControllerErrorCode)
    /// The caller waits until that time or until the next event. Nil means no time limit.
    case wait(until: LoopClock.Instant?)
  }

  /// A scan, described by the commands that switched it on.
  private struct Seen: Equatable {
    let configure: CommandPacket
    let enable: CommandPacket

    /// Whether the scan reports almost no new devices. The kernel uses such a scan between discoveries.
    var isBackground: Bool { usesAcceptList || !isActive && filtersDuplicates }

    var isActive: Bool {
      if let legacy = LESetScanParameters(configure) { return legacy.timing.isActive }
      if let extended = LESetExtendedScanParameters(configure) { return extended.timings.contains { $0.isActive } }
      return true
    }

    private var usesAcceptList: Bool {
      let policy = LESetScanParameters(configure)?.filterPolicy ?? LESetExtendedScanParameters(configure)?.filterPolicy ?? 0
      return policy & 1 != 0
    }

    var filtersDuplicates: Bool {
      LESetScanEnable(enable)?.filterDuplicates ?? LESetExtendedScanEnable(enable).map { $0.filterDuplicates != 0 } ?? false
    }
  }

  private enum Scan: Equatable {
    case unknown
    case off(since: LoopClock.Instant)
    case ours
    case others(Seen, since: LoopClock.Instant)
    /// A scan that is on, although blectl received no command for it. After `until`, it cannot be a discovery. Nil leaves the scan on.
    case unidentified(until: LoopClock.Instant?)
  }

  private enum Activity: Equatable {
    case displacing, configuring, enabling, asking, watching
    case failed(Opcode, ControllerErrorCode)
  }

  /// The wait before a restart. In this time, another program can send the three commands of a new scan, or connect to a found peer.
  static let settling: Duration = .milliseconds(200)
  /// The wait before blectl replaces a background scan, in which the kernel may connect with its own scan.
  static let patience: Duration = .seconds(1)
  /// The maximum duration of a discovery. The kernel scans for at most 10.24 s without a break.
  static let discovery: Duration = .milliseconds(10_500)
  /// The maximum duration of a connection attempt, which the kernel cancels after 20 s or 40 s.
  static let connecting: Duration = .seconds(45)
  /// The maximum number of restarts in `restartsPeriod`, so that blectl does not compete with another program for the scan.
  static let restarts = 10
  static let restartsPeriod: Duration = .seconds(10)

  private let wantsScanResponses: Bool
  private let stop: CommandPacket
  private let configure: CommandPacket
  private let enable: CommandPacket

  private var activity = Activity.configuring
  private var scan = Scan.unknown
  private var inFlight: CommandPacket?
  /// Whether another program or the kernel sent a scan or connection command since blectl last tried to start a scan.
  private var isOvertaken = false
  private var hasAsked = false
  private var hasStarted = false
  private var lastConfigure: CommandPacket?
  private var connectingSince: LoopClock.Instant?
  private var restartTimes: [LoopClock.Instant] = []
  private var notes: [ScanNote] = []
  private var saidNotes: Set<ScanNote> = []
  private var displaced: Scan?
  /// Whether blectl switched an active scan on.
  private var hasSearched = false

  init(_ commands: ScanCommands, wantsScanResponses: Bool) {
    self.wantsScanResponses = wantsScanResponses
    (configure, enable, stop) = (commands.configure, commands.enable, commands.disable)
  }

  // MARK: What to do

  /// Returns the next step. The caller must call `answered` after `.send`, and `discovery` after `.askForDiscovery`.
  mutating func next(at now: LoopClock.Instant) -> Step {
    if !notes.isEmpty { return .note(notes.removeFirst()) }
    switch activity {
    case .displacing: return send(stop)
    case .configuring: return send(configure)
    case .enabling: return send(enable)
    case .asking: return .askForDiscovery
    case .failed(let opcode, let status): return .failed(opcode, status)
    case .watching: break
    }
    if !hasStarted, isOn {
      hasStarted = true
      return .started
    }
    guard let due else { return .wait(until: nil) }
    guard due <= now else { return .wait(until: due) }
    restartTimes.append(now)
    if restartTimes.count > Self.restarts { restartTimes.removeFirst() }
    isOvertaken = false
    hasAsked = false
    connectingSince = nil
    activity = isOn ? .displacing : .configuring
    return next(at: now)
  }

  private mutating func send(_ command: CommandPacket) -> Step {
    inFlight = command
    return .send(command)
  }

  private var isOn: Bool {
    switch scan {
    case .ours, .others, .unidentified: true
    case .unknown, .off: false
    }
  }

  private var due: LoopClock.Instant? {
    var time: LoopClock.Instant
    switch scan {
    case .off(let since): time = since.advanced(by: Self.settling)
    case .others(let seen, let since) where seen.isBackground: time = since.advanced(by: Self.patience)
    case .unidentified(let until?): time = until
    default: return nil
    }
    if let connectingSince { time = max(time, connectingSince.advanced(by: Self.connecting)) }
    guard restartTimes.count >= Self.restarts, let first = restartTimes.first else { return time }
    return max(time, first.advanced(by: Self.restartsPeriod))
  }

  /// The steps that end a scan, in the order in which the caller performs them.
  struct Ending: Equatable {
    /// The command that switches blectl's own scan off. Nil if it is off already.
    var stop: CommandPacket?
    /// Whether the caller ends the discovery that the kernel may see because of blectl's own active scan.
    var endsDiscovery = false
    /// The commands that switch the scan of another program on again.
    var restored: [CommandPacket] = []
    /// Whether the kernel should check if it needs a scan, because this procedure may have switched off the kernel's own scan.
    var remindsKernel = false
  }

  /// Ends the scan in any state.
  mutating func end() -> Ending {
    var ending = Ending()
    if scan == .ours || inFlight == enable && !isOn { ending.stop = stop }
    if inFlight == stop { noteDisplaced() }
    ending.endsDiscovery = ending.stop != nil ? wantsScanResponses : hasSearched && !isOn
    switch displaced {
    case .others(let seen, _)?: ending.restored = [seen.configure, seen.enable]
    case .unidentified?: ending.remindsKernel = true
    default: break
    }
    return ending
  }

  // MARK: What happened

  /// Updates the state after the controller answered the command of the last `.send`.
  /// - Parameter status: The status in the answer.
  mutating func answered(_ status: ControllerErrorCode, at now: LoopClock.Instant) {
    inFlight = nil
    switch activity {
    case .displacing:
      // Ignore the status: most controllers refuse to disable a scan that is off.
      noteDisplaced()
      scan = .off(since: now)
      activity = .configuring
    case .configuring:
      guard status == .success else { return refused(configure, status, at: now) }
      lastConfigure = configure
      if scan == .unknown { scan = .off(since: now) }
      activity = .enabling
    case .enabling:
      guard status == .success else { return refused(enable, status, at: now) }
      // If it was already on, its owner is unchanged.
      if !isOn { (scan, hasSearched) = (.ours, wantsScanResponses) }
      activity = .watching
    case .asking, .watching, .failed: break
    }
    if isOvertaken { giveWay(at: now) }
  }

  private mutating func refused(_ command: CommandPacket, _ status: ControllerErrorCode, at now: LoopClock.Instant) {
    guard status == .commandDisallowed else { return activity = .failed(command.opcode, status) }
    // The usual reason: a scan is already on.
    if case .others = scan { return activity = .watching }
    if isOvertaken { return giveWay(at: now) }
    if hasAsked { return use(.unidentified(until: nil)) }
    hasAsked = true
    activity = .asking
  }

  private mutating func giveWay(at now: LoopClock.Instant) {
    activity = .watching
    if scan == .unknown { scan = .off(since: now) }
  }

  /// Updates the state after the answer to `.askForDiscovery`.
  /// - Parameter isActive: Whether the kernel's discovery is active. Nil if unknown.
  mutating func discovery(_ isActive: Bool?, at now: LoopClock.Instant) {
    if isOvertaken { return giveWay(at: now) }
    switch isActive {
    case true?: use(.unidentified(until: nil))
    case nil: use(.unidentified(until: now.advanced(by: Self.discovery)))
    case false?:
      // It is another program that tolerates our scan, the kernel's background scan, or the rest of a killed program.
      scan = .unidentified(until: now)
      activity = .displacing
    }
  }

  private mutating func use(_ scan: Scan) {
    self.scan = scan
    activity = .watching
    say(.piggyBack)
  }

  private mutating func noteDisplaced() {
    switch scan {
    case .others, .unidentified: displaced = scan
    case .unknown, .off, .ours: break
    }
  }

  private mutating func say(_ note: ScanNote) { if saidNotes.insert(note).inserted { notes.append(note) } }

  /// Updates the state after another program or the kernel sent a command to the controller.
  mutating func sawSent(_ command: CommandPacket, at now: LoopClock.Instant) {
    switch command.opcode {
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode:
      connectingSince = now
      isOvertaken = true
    case LESetScanParameters.opcode, LESetScanEnable.opcode, LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode,
      Reset.opcode:
      isOvertaken = true
    default: break
    }
  }

  /// Updates the state after the controller answered a command of another program or the kernel.
  mutating func sawAnswered(_ command: CommandPacket, _ status: ControllerErrorCode, at now: LoopClock.Instant) {
    switch command.opcode {
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode: if status != .success { connectionEnded(at: now) }
    case LESetScanParameters.opcode, LESetExtendedScanParameters.opcode: if status == .success { lastConfigure = command }
    case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode, Reset.opcode:
      guard status == .success else { return }
      displaced = nil
      guard LESetScanEnable(command)?.isOn ?? LESetExtendedScanEnable(command)?.isOn ?? false else {
        return switchedOff(isReset: command.opcode == Reset.opcode, at: now)
      }
      let seen = Seen(configure: lastConfigure ?? configure, enable: command)
      scan = .others(seen, since: now)
      if seen.isBackground { return }
      if seen.filtersDuplicates { say(.noRepeats) }
      if wantsScanResponses, !seen.isActive { say(.noScanResponses) }
    default: break
    }
  }

  private mutating func switchedOff(isReset: Bool, at now: LoopClock.Instant) {
    if isReset { connectingSince = nil }
    if scan == .ours, restartTimes.count >= Self.restarts, let first = restartTimes.first, first.advanced(by: Self.restartsPeriod) > now {
      say(.interrupted)
    }
    scan = .off(since: now)
  }

  /// Updates the state after LE Connection Complete with any status.
  mutating func connectionEnded(at now: LoopClock.Instant) {
    connectingSince = nil
    switch scan {
    // The controller may have refused the scan because it was connecting.
    case .off, .unidentified(nil): scan = .off(since: now)
    default: break
    }
  }
}
