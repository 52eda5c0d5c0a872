import TestSupport

@testable import BluetoothLELinux

/// Several scans and a kernel on one controller, which handles one command at a time and shows each to all others.
private struct SharedController {
  enum Party: Equatable { case kernel, scan(Int) }

  struct Scan {
    var procedure: ScanProcedure
    let joins: Int
    let leaves: Int
    var state = State.absent
    var commands = 0
    enum State: Equatable { case absent, ready, waiting, asleep(until: Int?), gone }
  }

  private(set) var now = 0
  private(set) var isOn = false
  private(set) var configured: CommandPacket?
  private(set) var isConnecting = false
  var scans: [Scan]
  /// The kernel's own actions with their times, in order. Each follows the answer to the previous one.
  var kernel: [(at: Int, does: KernelAction)]
  private(set) var isDiscovering = false
  private(set) var broken: [String] = []
  private var kernelSteps: [CommandPacket] = []
  private var kernelIsBusy = false
  private var queue: [(Party, CommandPacket)] = []
  private var current: (Party, CommandPacket, done: Int)?
  private var discoveryIsScanning = false
  private var blindSince: Int?
  private var random: any RandomNumberGenerator

  enum KernelAction { case discover, endDiscovery, look, create, connected }

  init(_ scans: [Scan], _ kernel: [(at: Int, does: KernelAction)], _ random: any RandomNumberGenerator) {
    self.scans = scans
    self.kernel = kernel
    self.random = random
  }

  private var instant: LoopClock.Instant { LoopClock.Instant(nanoseconds: Int64(now) * 1_000_000) }

  mutating func run(until end: Int) {
    while now < end {
      actKernel()
      for index in scans.indices { act(index) }
      process()
      look()
      now += 1
    }
  }

  private mutating func actKernel() {
    // A report makes the kernel connect.
    if kernelSteps.isEmpty, !kernelIsBusy, let first = kernel.first, first.at <= now, first.does != .create || isOn {
      kernel.removeFirst()
      // The kernel's view is the true state.
      let off: [CommandPacket] = isOn ? [LESetScanEnable(false, filterDuplicates: false).packet] : []
      switch first.does {
      case .discover:
        isDiscovering = true
        kernelSteps =
          off + [
            LESetScanParameters(.init(isActive: true, interval: 0x12, window: 0x12), ownAddressType: 0, filterPolicy: 0).packet,
            LESetScanEnable(true, filterDuplicates: true).packet,
          ]
      case .endDiscovery:
        isDiscovering = false
        kernelSteps = off
      case .look:
        kernelSteps =
          off + [
            LESetScanParameters(.init(isActive: false, interval: 0x60, window: 0x60), ownAddressType: 0, filterPolicy: 1).packet,
            LESetScanEnable(true, filterDuplicates: true).packet,
          ]
      case .create: kernelSteps = off + [create]
      case .connected:
        isConnecting = false
        for index in scans.indices { scans[index].procedure.connectionEnded(at: instant) }
        wake()
      }
    }
    if !kernelIsBusy, !kernelSteps.isEmpty {
      kernelIsBusy = true
      queue.append((.kernel, kernelSteps.removeFirst()))
    }
  }

  private mutating func act(_ index: Int) {
    if scans[index].state == .absent, now >= scans[index].joins { scans[index].state = .ready }
    if case .asleep(let until?) = scans[index].state, until <= now { scans[index].state = .ready }
    if now >= scans[index].leaves, scans[index].state != .gone {
      scans[index].state = .gone
      let end = scans[index].procedure.end()
      for command in [end.stop].compactMap({ $0 }) + end.restored { queue.append((.scan(index), command)) }
    }
    while scans[index].state == .ready {
      switch scans[index].procedure.next(at: instant) {
      case .send(let command):
        scans[index].commands += 1
        scans[index].state = .waiting
        queue.append((.scan(index), command))
      case .askForDiscovery: scans[index].procedure.discovery(isDiscovering, at: instant)
      case .started, .note: break
      case .failed(let opcode, let status):
        broken.append("\(now): failed \(opcode) \(status)")
        scans[index].state = .gone
      case .wait(let until): scans[index].state = .asleep(until: until.map { Int($0.nanoseconds / 1_000_000) })
      }
    }
  }

  private mutating func wake() {
    for index in scans.indices { if case .asleep = scans[index].state { scans[index].state = .ready } }
  }

  private mutating func process() {
    if let (party, command, done) = current, done <= now {
      current = nil
      let status = execute(party, command)
      for index in scans.indices where scans[index].state != .gone && scans[index].state != .absent {
        if party == .scan(index) {
          scans[index].procedure.answered(status, at: instant)
          scans[index].state = .ready
        } else {
          scans[index].procedure.sawAnswered(command, status, at: instant)
        }
      }
      wake()
      if party == .kernel { kernelIsBusy = false }
    }
    if current == nil, !queue.isEmpty {
      let (party, command) = queue.removeFirst()
      current = (party, command, now + Int.random(in: 1...8, using: &random))
      for index in scans.indices where party != .scan(index) && scans[index].state != .gone && scans[index].state != .absent {
        scans[index].procedure.sawSent(command, at: instant)
      }
      wake()
    }
  }

  private mutating func execute(_ party: Party, _ command: CommandPacket) -> ControllerErrorCode {
    switch command.opcode {
    case LESetScanParameters.opcode:
      if isOn { return .commandDisallowed }
      configured = command
    case LESetScanEnable.opcode:
      guard let command = LESetScanEnable(command) else { return .invalidParameters }
      let (enable, filters) = (command.isOn, command.filterDuplicates)
      if !enable, discoveryIsScanning, party != .kernel { broken.append("\(now): \(party) has stopped the discovery") }
      if party == .kernel { discoveryIsScanning = enable && filters && isDiscovering }
      isOn = enable
    case LECreateConnection.opcode:
      // Some controllers do this.
      if isOn {
        broken.append("\(now): scanning when the kernel connects")
        return .commandDisallowed
      }
      isConnecting = true
    default: break
    }
    return .success
  }

  /// Records a fault if no scan sees anything for 1.5 s although one is wanted.
  private mutating func look() {
    let isWanted = scans.contains { $0.joins < now - 300 && $0.leaves > now }
    let sees: Bool = isOn && configured.flatMap { LESetScanParameters($0) }?.filterPolicy == 0
    guard isWanted, !sees, !isConnecting else { return blindSince = nil }
    if let blindSince {
      if now - blindSince == 1500 { broken.append("\(now): blind") }
    } else {
      blindSince = now
    }
  }

  private let create = LECreateConnection(
    scanInterval: 0x60, scanWindow: 0x60, filterPolicy: 0, peer: PeerAddress(Address(rawValue: 0xC0FF_EE00_0001), .random),
    ownAddressType: 0, parameters: ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 0, supervisionTimeout: 42)
  ).packet
}

@Suite(.timeLimit(.minutes(15))) struct ScanSharingTests {
  private func scans(_ random: inout some RandomNumberGenerator, count: Int, until end: Int) throws -> [SharedController.Scan] {
    let commands = try ScanCommands(ScanParameters(), adapter: "hci0", ControllerInfo())
    return (0..<count).map { _ in
      let joins = Int.random(in: 0..<end - 3000, using: &random)
      return SharedController.Scan(
        procedure: ScanProcedure(commands, wantsScanResponses: true), joins: joins,
        leaves: Int.random(in: joins + 1...end, using: &random))
    }
  }

  @Test(arguments: 0..<60) func scansBesideEachOther(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var controller = SharedController(try scans(&random, count: 1 + seed % 4, until: 12_000), [], random)
    controller.run(until: 13_000)
    #expect(controller.broken.isEmpty)
    #expect(!controller.isOn)
    for scan in controller.scans { #expect(scan.commands <= 20) }
  }

  @Test(arguments: 0..<60) func besideDiscoveryAndConnections(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var plan: [(at: Int, does: SharedController.KernelAction)] = []
    var time = 0
    while time < 40_000 {
      time += Int.random(in: 1500...6000, using: &random)
      if Bool.random(using: &random) {
        plan.append((time, .discover))
        time += Int.random(in: 300...10_240, using: &random)
        plan.append((time, .endDiscovery))
      } else {
        plan.append((time, .look))
        time += Int.random(in: 20...3000, using: &random)
        plan.append((time, .create))
        time += Int.random(in: 20...3000, using: &random)
        plan.append((time, .connected))
      }
    }
    let scans = try scans(&random, count: 1 + seed % 3, until: 50_000)
    var controller = SharedController(scans, plan, random)
    controller.run(until: 60_000)
    #expect(controller.broken.isEmpty)
    #expect(!controller.isOn)
    for scan in controller.scans { #expect(scan.commands <= 100) }
  }
}
