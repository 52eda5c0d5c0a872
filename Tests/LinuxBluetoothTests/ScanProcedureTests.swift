import TestSupport

@testable import BluetoothLELinux

private let configure = LESetScanParameters(
  ScanTiming(isActive: true, interval: 0x60, window: 0x60), ownAddressType: 0, filterPolicy: 0
).packet
private let on = LESetScanEnable(true, filterDuplicates: false).packet
private let off = LESetScanEnable(false, filterDuplicates: false).packet
/// The kernel's scan parameters for bluetoothd's discovery.
private let discoveryConfigure = LESetScanParameters(
  ScanTiming(isActive: true, interval: 0x12, window: 0x12), ownAddressType: 0, filterPolicy: 0
).packet
private let onFiltered = LESetScanEnable(true, filterDuplicates: true).packet
/// The kernel's scan parameters for connecting to a peer.
private let acceptListConfigure = LESetScanParameters(
  ScanTiming(isActive: false, interval: 0x60, window: 0x60), ownAddressType: 0, filterPolicy: 1
).packet
private let passiveConfigure = LESetScanParameters(
  ScanTiming(isActive: false, interval: 0x60, window: 0x60), ownAddressType: 0, filterPolicy: 0
).packet
private let create = LECreateConnection(
  scanInterval: 0x60, scanWindow: 0x60, filterPolicy: 0, peer: PeerAddress(Address(rawValue: 0xC0FF_EE00_0001), .random),
  ownAddressType: 0,
  parameters: ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 0, supervisionTimeout: 42)
).packet

/// Events, and the next actions that the procedure is expected to want, in order.
private enum Line {
  case wants(ScanProcedure.Step)
  /// Expects a wait of exactly this many milliseconds, then advances by it, or only by `passed`.
  case waits(Int, passed: Int? = nil)
  case idles
  case answer(ControllerErrorCode)
  case discovery(Bool?)
  /// A command of another program, sent and answered.
  case theirs(CommandPacket, ControllerErrorCode = .success)
  case theirsSent(CommandPacket)
  case connected
  case after(Int)
  case ends([CommandPacket], reminds: Bool = false, endsDiscovery: Bool? = nil)
}

private func run(_ lines: [Line], _ parameters: ScanParameters = ScanParameters(), sourceLocation: SourceLocation = #_sourceLocation) {
  guard let commands = try? ScanCommands(parameters, adapter: "hci0", ControllerInfo()) else {
    Issue.record("no scan commands", sourceLocation: sourceLocation)
    return
  }
  var procedure = ScanProcedure(commands, wantsScanResponses: parameters.isActive)
  var now = LoopClock.Instant(nanoseconds: 5_000_000_000)
  for (number, line) in lines.enumerated() {
    let place: Comment = "line \(number + 1)"
    switch line {
    case .wants(let step): #expect(procedure.next(at: now) == step, place, sourceLocation: sourceLocation)
    case .waits(let milliseconds, let passed):
      let then = now.advanced(by: .milliseconds(milliseconds))
      #expect(procedure.next(at: now) == .wait(until: then), place, sourceLocation: sourceLocation)
      now = passed.map { now.advanced(by: .milliseconds($0)) } ?? then
    case .idles: #expect(procedure.next(at: now) == .wait(until: nil), place, sourceLocation: sourceLocation)
    case .answer(let status): procedure.answered(status, at: now)
    case .discovery(let isActive): procedure.discovery(isActive, at: now)
    case .theirs(let command, let status):
      procedure.sawSent(command, at: now)
      procedure.sawAnswered(command, status, at: now)
    case .theirsSent(let command): procedure.sawSent(command, at: now)
    case .connected: procedure.connectionEnded(at: now)
    case .after(let milliseconds): now = now.advanced(by: .milliseconds(milliseconds))
    case .ends(let commands, let reminds, let endsDiscovery):
      let end = procedure.end()
      #expect((end.stop.map { [$0] } ?? []) + end.restored == commands, place, sourceLocation: sourceLocation)
      if let endsDiscovery { #expect(end.endsDiscovery == endsDiscovery, place, sourceLocation: sourceLocation) }
      #expect(end.remindsKernel == reminds, place, sourceLocation: sourceLocation)
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct ScanProcedureTests {
  private let start: [Line] = [.wants(.send(configure)), .answer(.success), .wants(.send(on)), .answer(.success), .wants(.started), .idles]
  private let again: [Line] = [.wants(.send(configure)), .answer(.success), .wants(.send(on)), .answer(.success), .idles]
  private let refused: [Line] = [.wants(.send(configure)), .answer(.commandDisallowed)]

  @Test func alone() { run(start + [.ends([off])]) }

  /// Linux 6.10.4 and later see a discovery from the start of an active scan, also after it, until blectl ends that discovery.
  @Test func aDiscoveryThatTheKernelSees() {
    run(start + [.ends([off], endsDiscovery: true)])
    run(start + [.theirs(off), .ends([], endsDiscovery: true)])
    // The scan of another program remains.
    run(start + [.theirs(off), .theirs(configure), .theirs(on), .ends([], endsDiscovery: false)])
    run(refused + [.wants(.askForDiscovery), .discovery(true), .ends([], endsDiscovery: false)])
    run([.wants(.send(configure)), .answer(.success), .ends([], endsDiscovery: false)])
    // The scan may start although the answer is missing.
    run([.wants(.send(configure)), .answer(.success), .wants(.send(on)), .ends([off], endsDiscovery: true)])
    var passive = ScanParameters()
    passive.isActive = false
    run(
      [.wants(.send(passiveConfigure)), .answer(.success), .wants(.send(on)), .answer(.success), .ends([off], endsDiscovery: false)],
      passive)
  }

  @Test(arguments: [off, Reset().packet]) func switchedOffByAnother(how: CommandPacket) {
    run(start + [.theirs(how), .ends([])])
    run(start + [.theirs(how), .waits(200)] + again + [.ends([off])])
    // Refused: the controller reports that it was not on, and nothing changed.
    run(start + [.theirs(off, .commandDisallowed), .idles, .ends([off])])
  }

  @Test func anotherScanOfOurKindTakesOver() {
    run(start + [.theirs(off), .after(3), .theirs(configure), .after(3), .theirs(on), .idles, .ends([])])
    // The other scan ends, and ours starts again.
    run(start + [.theirs(off), .theirs(configure), .theirs(on), .after(1000), .theirs(off), .waits(200)] + again + [.ends([off])])
  }

  @Test func bothStartAgainAtOnce() {
    // The other command was a little earlier.
    run(
      start + [.theirs(off), .waits(200), .wants(.send(configure)), .theirs(configure), .answer(.success), .theirs(on), .idles, .ends([])])
    run(
      start + [
        .theirs(off), .waits(200), .wants(.send(configure)), .answer(.success), .wants(.send(on)), .theirs(on), .answer(.commandDisallowed),
        .idles, .ends([]),
      ])
    // The controller may accept it.
    run(
      start + [
        .theirs(off), .waits(200), .wants(.send(configure)), .answer(.success), .wants(.send(on)), .theirs(on), .answer(.success), .idles,
        .ends([]),
      ])
    // The other command was a little later.
    run(start + [.theirs(off), .waits(200)] + again + [.theirs(configure, .commandDisallowed), .idles, .ends([off])])
  }

  @Test func discoveryWhileWeScan() {
    run(
      start + [
        .theirs(off), .theirs(discoveryConfigure), .theirs(onFiltered), .wants(.note(.noRepeats)), .idles, .after(10_240), .theirs(off),
        .waits(200),
      ] + again + [
        // The note appears once.
        .theirs(off), .theirs(discoveryConfigure), .theirs(onFiltered), .idles, .ends([]),
      ])
  }

  @Test func aPassiveScanIsUsedAsItIs() {
    run(start + [.theirs(off), .theirs(passiveConfigure), .theirs(on), .wants(.note(.noScanResponses)), .idles, .ends([])])
    var parameters = ScanParameters()
    parameters.isActive = false
    run(
      [
        .wants(.send(passiveConfigure)), .answer(.success), .wants(.send(on)), .answer(.success), .wants(.started), .theirs(off),
        .theirs(configure), .theirs(on), .idles, .ends([]),
      ], parameters)
  }

  @Test func aDiscoveryThatIsOnIsUsed() {
    let used = refused + [.wants(.askForDiscovery), .discovery(true), .wants(.note(.piggyBack)), .wants(.started), .idles]
    run(used + [.ends([])])
    run(used + [.after(9000), .theirs(off), .waits(200)] + again + [.ends([off])])
  }

  @Test func anotherScanThatIsNoDiscoveryIsReplaced() {
    let replaced = refused + [.wants(.askForDiscovery), .discovery(false), .wants(.send(off)), .answer(.success)] + start
    run(replaced + [.ends([off], reminds: true)])
    // The kernel has started its own discovery.
    run(replaced + [.theirs(off), .ends([])])
    // Our scan ended in between. The scan that we switched off, or are about to, may have been the kernel's.
    run(refused + [.wants(.askForDiscovery), .discovery(false), .wants(.send(off)), .ends([], reminds: true)])
  }

  @Test func itIsNotKnownWhetherItIsADiscovery() {
    let used = refused + [.wants(.askForDiscovery), .discovery(nil), .wants(.note(.piggyBack)), .wants(.started)]
    run(used + [.ends([])])
    run(used + [.waits(10_500), .wants(.send(off)), .answer(.success)] + again + [.ends([off], reminds: true)])
    run(used + [.after(500), .theirs(off), .waits(200)] + again + [.ends([off])])
  }

  @Test(arguments: [true, false]) func refusedForAnotherReason(atOnce: Bool) {
    let second: [Line] =
      atOnce ? [.wants(.send(configure))] : [.wants(.send(configure)), .answer(.success), .wants(.send(on))]
    let used =
      refused + [.wants(.askForDiscovery), .discovery(false), .wants(.send(off)), .answer(.commandDisallowed)] + second + [
        .answer(.commandDisallowed), .wants(.note(.piggyBack)), .wants(.started), .idles,
      ]
    // It may have been a connection attempt whose start was not seen.
    run(used + [.connected, .waits(200)] + again)
    run([.wants(.send(configure)), .answer(.invalidParameters), .wants(.failed(LESetScanParameters.opcode, .invalidParameters)), .ends([])])
    run([
      .wants(.send(configure)), .answer(.success), .wants(.send(on)), .answer(.hardwareFailure),
      .wants(.failed(LESetScanEnable.opcode, .hardwareFailure)), .ends([]),
    ])
  }

  @Test func aConnectionIsNotDisturbed() {
    // The kernel scans for the peer itself, finds it soon, and connects.
    let connecting =
      start + [
        .theirs(off), .theirs(acceptListConfigure), .theirs(onFiltered), .waits(1000, passed: 300), .theirs(off), .theirs(create),
        .waits(45_000, passed: 800),
      ]
    run(connecting + [.connected, .waits(200)] + again + [.ends([off])])
    run(connecting + [.ends([])])
    run(start + [.theirs(off), .theirs(create, .commandDisallowed), .waits(200)] + again)
    // It starts when ours was about to.
    run(start + [.theirs(off), .waits(200), .wants(.send(configure)), .theirsSent(create), .answer(.success), .waits(45_000)])
    // The attempt hangs, or its end was missed.
    run(start + [.theirs(off), .theirs(create), .waits(45_000)] + again)
  }

  @Test func theKernelsOwnScanIsReplacedAndPutBack() {
    for theirs in [(acceptListConfigure, onFiltered), (acceptListConfigure, on), (passiveConfigure, onFiltered)] {
      let replaced =
        start + [.theirs(off), .theirs(theirs.0), .theirs(theirs.1), .waits(1000), .wants(.send(off)), .answer(.success)] + again
      run(replaced + [.ends([off, theirs.0, theirs.1])])
      // The kernel has changed its mind.
      run(replaced + [.theirs(off), .waits(200)] + again + [.ends([off])])
    }
    run(
      start + [
        .theirs(off), .theirs(acceptListConfigure), .theirs(onFiltered), .waits(1000), .wants(.send(off)), .answer(.success),
        .wants(.send(configure)), .ends([acceptListConfigure, onFiltered]),
      ])
  }

  @Test func noFight() {
    var lines = start
    for _ in 0..<10 { lines += [.theirs(off), .waits(200)] + again }
    lines += [.theirs(off), .wants(.note(.interrupted)), .waits(8200)] + again + [.theirs(off), .waits(200)] + again
    run(lines)
  }

  @Test func endedInTheMiddle() {
    run([.ends([])])
    run([.wants(.send(configure)), .ends([])])
    run([.wants(.send(configure)), .answer(.success), .wants(.send(on)), .ends([off])])
    run([.wants(.send(configure)), .answer(.success), .wants(.send(on)), .theirs(on), .ends([])])
  }

  @Test func overtakenAtTheStart() {
    run([.wants(.send(configure)), .theirsSent(discoveryConfigure), .answer(.success), .waits(200)] + start)
    run([
      .wants(.send(configure)), .theirs(discoveryConfigure), .theirs(onFiltered), .answer(.commandDisallowed), .wants(.note(.noRepeats)),
      .wants(.started), .idles,
    ])
    run(refused + [.wants(.askForDiscovery), .theirsSent(off), .discovery(false), .waits(200)] + start)
  }
}
