import Glibc
import TestSupport

@testable import BluetoothLELinux

private let adapter = AdapterInfo(index: 0, address: Address(rawValue: 0x00AA_0100_0000), isUp: true, bus: "virtual", le: true)
private let extendedCommands = SupportedCommands([LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode])
private let configure = LESetScanParameters.opcode
private let enable = LESetScanEnable.opcode
private let legacyCommands = SupportedCommands([LESetScanParameters.opcode, LESetScanEnable.opcode])
private let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
private let legacyReport = Event.leAdvertisingReports(
  AdvertisingReports([LegacyAdvertisingReport(eventType: 0, peer: peer, data: [2, 1, 6], rssi: -50)]))
private let extendedReport = Event.leExtendedAdvertisingReports(
  AdvertisingReports([ExtendedAdvertisingReport(eventType: 0x13, peer: peer, rssi: -50, data: [2, 1, 6])]))

@LoopActor
private final class Rig {
  let controller = FakeController()
  let central: KernelCentral
  private(set) var reports: [AdvertisingReport] = []
  private(set) var notes: [GAPNote] = []
  private(set) var starts = 0
  private(set) var reminders = 0
  private(set) var endedDiscoveries = 0
  var isDiscovering: Bool?
  var mayEndDiscovery = true
  private var task: Task<(any Error)?, Never>?

  init(_ commands: SupportedCommands) {
    let hci = HCISocket(controller.pair.takeOther(), name: "hci0", tap: nil)
    central = KernelCentral(adapter, hci, tap: nil)
    central.isUp = { _ in true }
    central.discovery.isActive = { [unowned self] _ in isDiscovering }
    central.discovery.remindOfBackgroundScan = { [unowned self] _ in reminders += 1 }
    central.discovery.end = { [unowned self] _ in
      endedDiscoveries += 1
      return mayEndDiscovery
    }
    central.onNote = { [unowned self] in notes.append($0) }
    controller.answers[ReadLocalSupportedCommands.opcode] = [
      .commandComplete(Event.CommandComplete(ReadLocalSupportedCommands.self, .init(commands)))
    ]
    controller.answers[LEReadLocalSupportedFeatures.opcode] = [
      .commandComplete(Event.CommandComplete(LEReadLocalSupportedFeatures.self, .init(.phyCoded)))
    ]
    for opcode in [LESetScanParameters.opcode, LESetScanEnable.opcode, LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode] {
      controller.status(opcode, 0)
    }
    controller.start()
  }

  func scan(_ parameters: ScanParameters = ScanParameters()) {
    task = EventLoop.shared.spawn {
      do {
        try await self.central.scan(parameters, started: { self.starts += 1 }, report: { self.reports.append($0) })
        return nil
      } catch {
        return error
      }
    }
  }

  func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(20)) }

  /// Plays a command of another program or the kernel, with its answer.
  func theirs(_ command: some Command) throws {
    try controller.pair.write(command.encoded)
    try controller.pair.write(Event.commandComplete(Event.CommandComplete(opcode: command.opcode, parameters: [0])).encoded)
  }

  /// Cancels the scan and returns its error.
  func finish() async -> (any Error)? {
    task?.cancel()
    return await ended()
  }

  func ended() async -> (any Error)? {
    let error = await task?.value
    controller.stop()
    return error
  }

  var opcodes: [Opcode] { controller.commands.map(\.opcode).filter { $0 != ReadLocalSupportedCommands.opcode } }
}

@Suite(.timeLimit(.minutes(15))) struct KernelScanTests {
  @Test(.onLoop) @LoopActor func legacy() async throws {
    let rig = Rig(legacyCommands)
    rig.controller.status(LESetScanEnable.opcode, 0, then: legacyReport)
    rig.scan()
    try await rig.settle()
    #expect(rig.starts == 1)
    #expect(rig.reports.last?.peer == peer)
    #expect(await rig.finish() is CancellationError)
    #expect(
      rig.controller.commands.dropFirst() == [
        LESetScanParameters(ScanTiming(isActive: true, interval: 0x60, window: 0x60), ownAddressType: 0, filterPolicy: 0),
        LESetScanEnable(true, filterDuplicates: false), LESetScanEnable(false, filterDuplicates: false),
      ])
  }

  @Test(.onLoop) @LoopActor func extended() async throws {
    let rig = Rig(extendedCommands)
    var parameters = ScanParameters()
    parameters.isActive = false
    parameters.phys = [.coded, .le1M]
    rig.scan(parameters)
    try await rig.settle()
    // Both kinds of report arrive, whichever commands were used.
    try rig.controller.pair.write(legacyReport.encoded)
    try rig.controller.pair.write(extendedReport.encoded)
    try rig.controller.pair.write([4, 0x3E, 2, 0x0D, 9])
    try await rig.settle()
    #expect(rig.reports.map(\.data) == [[2, 1, 6], [2, 1, 6]])
    #expect(rig.notes.isEmpty)
    #expect(await rig.finish() is CancellationError)
    #expect(rig.notes == [.unreadableReports(adapter: "hci0", 1)])
    let timing = ScanTiming(isActive: false, interval: 0xC0, window: 0x60)
    let off = LESetExtendedScanEnable(false, filterDuplicates: 0, duration: 0, period: 0)
    #expect(
      rig.controller.commands.dropFirst(2) == [
        LESetExtendedScanParameters(ownAddressType: 0, filterPolicy: 0, phys: [.le1M, .coded], [timing, timing]),
        LESetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0), off,
      ])
  }

  /// Linux 6.10.4 and later see a discovery in an active scan, and do not connect while they see one.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func theKernelSeesNoDiscoveryAfterwards(mayEnd: Bool) async throws {
    let rig = Rig(legacyCommands)
    rig.mayEndDiscovery = mayEnd
    rig.controller.status(InquiryCancel.opcode, 0x0C)
    rig.scan()
    try await rig.settle()
    #expect(rig.endedDiscoveries == 0)
    #expect(await rig.finish() is CancellationError)
    #expect(rig.endedDiscoveries == 1)
    #expect(rig.opcodes == [configure, enable, enable] + (mayEnd ? [] : [InquiryCancel.opcode]))
  }

  @Test(.onLoop) @LoopActor func aDiscoveryOfBluetoothdGoesOn() async throws {
    let rig = Rig(legacyCommands)
    rig.central.keyring.hasDaemon = { true }
    rig.isDiscovering = true
    rig.scan()
    try await rig.settle()
    #expect(await rig.finish() is CancellationError)
    #expect(rig.endedDiscoveries == 0)
    #expect(rig.opcodes == [configure, enable, enable])
  }

  @Test(.onLoop) @LoopActor func codedNeedsExtendedCommands() async throws {
    let rig = Rig(legacyCommands)
    var parameters = ScanParameters()
    parameters.phys = [.coded]
    rig.scan(parameters)
    #expect(await rig.ended() as? GAPError == .cannotScan(adapter: "hci0", on: .coded, hasExtended: false))
    #expect(rig.opcodes.isEmpty)
  }

  @Test(arguments: [LESetScanParameters.opcode, LESetScanEnable.opcode]) func someoneElsesScanIsUsedAndLeftAlone(refused: Opcode)
    async throws
  {
    try await onLoop(with: Rig(legacyCommands)) { rig in
      rig.isDiscovering = true
      rig.controller.status(refused, 0x0C)
      rig.scan()
      try await rig.settle()
      #expect(rig.starts == 1)
      #expect(rig.notes.count == 1)
      try rig.controller.pair.write(legacyReport.encoded)
      try await rig.settle()
      #expect(rig.reports.count == 1)
      let before = rig.opcodes
      #expect(await rig.finish() is CancellationError)
      #expect(rig.opcodes == before)
    }
  }

  @Test(.onLoop) @LoopActor func aScanThatIsNoDiscoveryIsReplaced() async throws {
    let rig = Rig(legacyCommands)
    rig.isDiscovering = false
    // The scan stays on until it is switched off.
    rig.controller.status(LESetScanParameters.opcode, 0x0C)
    rig.controller.onCommand = { [unowned rig] in
      if LESetScanEnable($0)?.isOn == false { rig.controller.status(LESetScanParameters.opcode, 0) }
    }
    rig.scan()
    try await rig.settle()
    #expect(rig.opcodes == [configure, enable, configure, enable])
    #expect(rig.starts == 1)
    #expect(rig.notes.isEmpty)
    #expect(rig.reminders == 0)
    #expect(await rig.finish() is CancellationError)
    // It may have been the kernel's scan.
    #expect(rig.reminders == 1)
    #expect(rig.controller.commands.last == LESetScanEnable(false, filterDuplicates: false))
  }

  @Test(.onLoop) @LoopActor func aScanThatAnotherSwitchesOffIsSwitchedOnAgain() async throws {
    let rig = Rig(legacyCommands)
    rig.scan()
    try await rig.settle()
    try rig.theirs(LESetScanEnable(false, filterDuplicates: false))
    try await EventLoop.shared.sleep(for: .milliseconds(150))
    #expect(rig.opcodes.count == 2)
    try await EventLoop.shared.sleep(for: .milliseconds(100))
    #expect(rig.opcodes == [configure, enable, configure, enable])
    #expect(rig.starts == 1)
    // Another program switched it on, so it stays on at the end.
    try rig.theirs(LESetScanEnable(false, filterDuplicates: false))
    try rig.theirs(LESetScanEnable(true, filterDuplicates: true))
    try await rig.settle()
    #expect(rig.notes == [.scan(adapter: "hci0", .noRepeats)])
    #expect(await rig.finish() is CancellationError)
    #expect(rig.opcodes.count == 4)
  }

  /// Both packets are readable before the scan's task runs.
  @Test(.onLoop) @LoopActor func whatComesRightBehindAnAnswerComesAfterIt() async throws {
    let rig = Rig(legacyCommands)
    var isFirst = true
    rig.controller.onCommand = { [unowned rig] in
      guard isFirst, LESetScanEnable($0)?.isOn == true else { return }
      isFirst = false
      let off = LESetScanEnable(false, filterDuplicates: false)
      let answer = Event.commandComplete(Event.CommandComplete(opcode: LESetScanEnable.opcode, parameters: [0])).encoded
      for packet in [answer, off.encoded, answer] { try? rig.controller.pair.write(packet) }
      rig.controller.answers[LESetScanEnable.opcode] = []
    }
    rig.scan()
    try await EventLoop.shared.sleep(for: .milliseconds(150))
    rig.controller.status(LESetScanEnable.opcode, 0)
    try await EventLoop.shared.sleep(for: .milliseconds(100))
    #expect(rig.opcodes == [configure, enable, configure, enable])
    #expect(await rig.finish() is CancellationError)
    #expect(rig.controller.commands.last == LESetScanEnable(false, filterDuplicates: false))
  }

  /// The kernel may have an earlier command with the same opcode.
  @Test(.onLoop) @LoopActor func theAnswerToAnothersCommandIsNotOurs() async throws {
    let rig = Rig(legacyCommands)
    rig.controller.answers[LESetScanParameters.opcode] = [
      .commandComplete(Event.CommandComplete(opcode: LESetScanParameters.opcode, parameters: [0x12])),
      .commandComplete(Event.CommandComplete(opcode: LESetScanParameters.opcode, parameters: [0])),
    ]
    rig.controller.onCommand = { [unowned rig] in
      if $0.opcode == LESetScanParameters.opcode { try? rig.controller.pair.write($0.encoded) }
    }
    rig.scan()
    try await EventLoop.shared.sleep(for: .milliseconds(100))
    rig.controller.onCommand = nil
    rig.controller.status(LESetScanParameters.opcode, 0)
    try await EventLoop.shared.sleep(for: .milliseconds(250))
    #expect(rig.starts == 1)
    #expect(await rig.finish() is CancellationError)
  }

  @Test(.onLoop) @LoopActor func aRefusalIsAnError() async throws {
    let rig = Rig(legacyCommands)
    rig.controller.status(LESetScanParameters.opcode, 0x12)
    rig.scan()
    let error = await rig.ended()
    #expect(error as? ControllerError == ControllerError("hci0", .refused(LESetScanParameters.opcode, .invalidParameters)))
    #expect(rig.starts == 0)
  }

  @Test(.onLoop) @LoopActor func aControllerThatDoesNotAnswer() async throws {
    let rig = Rig(legacyCommands)
    rig.controller.answers[LESetScanParameters.opcode] = nil
    rig.scan()
    let error = await rig.ended()
    #expect(error as? AdapterProblem == .silent("hci0", LESetScanParameters.opcode, after: .seconds(3)))
    // Nothing was switched on, so nothing is switched off: a running scan may belong to another program.
    #expect(rig.opcodes == [LESetScanParameters.opcode])
  }

  @Test(.onLoop) @LoopActor func cancelledWhileStarting() async throws {
    let rig = Rig(legacyCommands)
    rig.controller.answers[LESetScanEnable.opcode] = nil
    rig.scan()
    try await rig.settle()
    let waiting = EventLoop.shared.spawn { await rig.finish() }
    try await rig.settle()
    // The late answer is not taken for the next command's.
    rig.controller.status(LESetScanEnable.opcode, 0)
    try rig.controller.pair.write(
      Event.commandComplete(Event.CommandComplete(opcode: LESetScanEnable.opcode, parameters: [0])).encoded)
    #expect(await waiting.value is CancellationError)
    #expect(rig.starts == 0)
    #expect(rig.controller.commands.last == LESetScanEnable(false, filterDuplicates: false))
  }

  @Test(.onLoop) @LoopActor func anAdapterThatGoesDownEndsTheScan() async throws {
    let rig = Rig(legacyCommands)
    rig.scan()
    try await rig.settle()
    rig.central.isUp = { _ in false }
    #expect(await rig.ended() as? AdapterProblem == .down("hci0"))
  }

  @Test(.onLoop) @LoopActor func anAdapterThatIsUnpluggedEndsTheScan() async throws {
    let rig = Rig(legacyCommands)
    rig.scan()
    try await rig.settle()
    rig.controller.stop()
    rig.controller.pair.close()
    #expect(await rig.ended() as? AdapterProblem == .unplugged("hci0"))
  }

  @Test(.onLoop) @LoopActor func closingEndsTheScan() async throws {
    let rig = Rig(legacyCommands)
    rig.scan()
    try await rig.settle()
    await rig.central.close()
    #expect(await rig.ended() is CancellationError)
    #expect(rig.controller.commands.last == LESetScanEnable(false, filterDuplicates: false))
  }
}
