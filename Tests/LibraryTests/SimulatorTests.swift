import BluetoothLEDeviceFiles
import TestSupport

@testable import BluetoothLESimulator

/// The simulator that needs no file.
@Suite(.timeLimit(.minutes(15))) struct SimulatorTests {
  init() { startLoop() }

  @Test func aWrongTextIsAnErrorOfOpen() async throws {
    let fault = try #require(throws: FileEntryError.self) { try PeripheralFile.parse(Array("{".utf8), name: "sim") }
    let simulator = Simulator(.failure(fault), seed: 1, isVirtual: true)
    #expect(await reason { _ = try await Adapter.open(simulator.adapter) } == .invalidArgument)
  }

  @Test func allAdaptersHearTheSameDevices() async throws {
    let simulator = try Simulator(made())
    let (first, second) = (try await Adapter.open(simulator.adapter), try await Adapter.open(simulator.adapter))
    let device = try await second.find("Made")
    try await first.withConnection(to: device) { try await $0.characteristic("ff01").write([7]) }
    let value = try await second.withConnection(to: device) { try await $0.characteristic("ff01").read().bytes }
    #expect(value == [7])
  }

  /// The address stays when the adapter opens again.
  @Test func openAdaptersHaveDifferentAddresses() async throws {
    let simulator = Simulator.empty
    let (first, second) = (try await Adapter.open(simulator.adapter), try await Adapter.open(simulator.adapter))
    func address(of adapter: Adapter) async throws -> String? {
      try await adapter.serve(LocalDevice(name: "Own")) { await $0.peripheral?.address }
    }
    let before = [try await address(of: first), try await address(of: second)]
    await first.close()
    let after = try await address(of: first)
    #expect(before == ["00:00:5E:00:53:01", "00:00:5E:00:53:02"] && after == before[0])
  }

  @Test func anAdapterThatTheProgramDropsCloses() async throws {
    let opened = Opened()
    let source = AdapterSource("sim", isVirtual: true) { bonds in
      let central = try await Simulator.preset.adapter.open(bonds)
      opened.central = central
      return central
    }
    do { _ = try await Adapter.open(source).keys }
    try await wait(9)
    #expect(await EventLoop.shared.spawn { opened.central.map { $0.failure != nil } }.value == true)
  }

  @LoopActor private final class Opened {
    var central: (any Central)?
    nonisolated init() {}
  }

  /// The error of mixed clocks advises it, and tests run in virtual time.
  @Test func thePresetMayUseRealTime() async {
    #expect(await reason { _ = try await Adapter.open(Simulator.preset(isVirtual: false).adapter) } == .clock)
    #expect(await reason { _ = try await Adapter.open(Simulator.preset(isVirtual: true).adapter) } == nil)
  }
}
