import Bluetooth
import EventLoop
import GAP
import HCI
import HostCommon

/// A scan on a controller that others use too: the kernel for its connections and for bluetoothd's discovery, and programs like this one.
/// A controller knows one scan, which anyone switches on and off without a word to anyone; the commands of the others can be seen, though.
/// So this follows who switched what, and decides; it does nothing itself.
///
/// - A scan of someone else's is used as it is: switching the kernel's discovery off would also stop the timer that lets it go on.
///   Except one that shows nothing to us, like the kernel's scan for the devices that it connects to; ours finds those as well.
/// - A scan that nobody switches on again is switched on again, but not while a connection is made, which some controllers refuse then.
/// - At the end the scan is switched off by who switched it on last.
struct ScanProcedure: Equatable {
  enum Step: Equatable {
    case send(CommandPacket)
    /// Whether the kernel's discovery is under way.
    case askForDiscovery
    /// The controller scans.
    case started
    /// What the user should know, once.
    case note(ScanNote)
    case failed(HCI.Opcode, ControllerErrorCode)
    /// Nothing to do before that time, or before something happens.
    case wait(until: LoopClock.Instant?)
  }

  /// A scan as the commands describe it that switched it on.
  private struct Seen: Equatable {
    let configure: CommandPacket
    let enable: CommandPacket

    /// Whether the scan finds almost nothing new for its owner. The kernel scans like this between discoveries.
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
    /// On, but it was not seen who switched it on. `until`: when it cannot be a discovery any more; nil: not to be touched.
    case unidentified(until: LoopClock.Instant?)
  }

  private enum Activity: Equatable {
    case displacing, configuring, enabling, asking, watching
    case failed(HCI.Opcode, ControllerErrorCode)
  }

  /// Time for the others to go on: the three commands of a new scan, or the one for a connection after the scan that found the peer.
  static let settling: Duration = .milliseconds(200)
  /// Time for a connection to be made with the scan that the kernel made for it.
  static let patience: Duration = .seconds(1)
  /// A discovery of the kernel scans for 10.24 s at most without a break.
  static let discovery: Duration = .milliseconds(10_500)
  /// The kernel cancels an attempt to connect after 20 s, or 40 s.
  static let connecting: Duration = .seconds(45)
  /// So many starts in so long a time are no fight.
  static let restarts = 10
  static let restartsPeriod: Duration = .seconds(10)

  private let wantsScanResponses: Bool
  private let stop: CommandPacket
  private let configure: CommandPacket
  private let enable: CommandPacket

  private var activity = Activity.configuring
  private var scan = Scan.unknown
  private var inFlight: CommandPacket?
  /// Someone else acted since we began to.
  private var isOvertaken = false
  private var hasAsked = false
  private var hasStarted = false
  private var lastConfigure: CommandPacket?
  private var connectingSince: LoopClock.Instant?
  private var restartTimes: [LoopClock.Instant] = []
  private var notes: [ScanNote] = []
  private var saidNotes: Set<ScanNote> = []
  private var displaced: Scan?

  init(_ commands: ScanCommands, wantsScanResponses: Bool) {
    self.wantsScanResponses = wantsScanResponses
    (configure, enable, stop) = (commands.configure, commands.enable, commands.disable)
  }

  // MARK: What to do

  /// After `.send` and `.askForDiscovery`, `answered` and `discovery` come first.
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

  /// What is left to do, however far it got.
  /// - Returns: the last commands; and whether the kernel should then look whether it wants to scan, because we have switched off what may
  ///   have been its scan.
  mutating func end() -> (commands: [CommandPacket], remindsKernel: Bool) {
    let mayBeOurs = scan == .ours || inFlight == enable && !isOn
    if inFlight == stop { noteDisplaced() }
    let restored: [CommandPacket] = if case .others(let seen, _)? = displaced { [seen.configure, seen.enable] } else { [] }
    let remindsKernel = if case .unidentified? = displaced { true } else { false }
    return ((mayBeOurs ? [stop] : []) + restored, remindsKernel)
  }

  // MARK: What happened

  /// - Parameter status: of the command of the step before.
  mutating func answered(_ status: ControllerErrorCode, at now: LoopClock.Instant) {
    inFlight = nil
    switch activity {
    case .displacing:
      // Whatever it says: most controllers refuse to disable what is not enabled.
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
      // Else it was on already, and still is who switched it on.
      if !isOn { scan = .ours }
      activity = .watching
    case .asking, .watching, .failed: break
    }
    if isOvertaken { giveWay(at: now) }
  }

  private mutating func refused(_ command: CommandPacket, _ status: ControllerErrorCode, at now: LoopClock.Instant) {
    guard status == .commandDisallowed else { return activity = .failed(command.opcode, status) }
    // The usual reason: it scans.
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

  /// - Parameter isActive: nil when it is not known.
  mutating func discovery(_ isActive: Bool?, at now: LoopClock.Instant) {
    if isOvertaken { return giveWay(at: now) }
    switch isActive {
    case true?: use(.unidentified(until: nil))
    case nil: use(.unidentified(until: now.advanced(by: Self.discovery)))
    case false?:
      // Another program that can live with our scan, the kernel's scan in the background, or what a killed program left.
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

  /// A command of someone else's that is on its way to the controller.
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

  /// The answer to a command of someone else's.
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

  /// LE Connection Complete, whatever it says.
  mutating func connectionEnded(at now: LoopClock.Instant) {
    connectingSince = nil
    switch scan {
    // The controller may have refused because it was connecting.
    case .off, .unidentified(nil): scan = .off(since: now)
    default: break
    }
  }
}
