import BluetoothLEDeviceFiles
import TestSupport

@testable import BluetoothLESimulator

/// The simulator that needs no file.
@Suite(.timeLimit(.minutes(15))) struct PresetTests {
  init() { startLoop() }

  @Test func aWrongTextIsAnErrorOfOpen() async throws {
    let fault = try #require(throws: FileEntryError.self) { try PeripheralFile.parse(Array("{".utf8), name: "sim") }
    let simulator = Simulator(.failure(fault), seed: 1, isVirtual: true)
    #expect(await reason { _ = try await Adapter.open(simulator.adapter) } == .invalidArgument)
  }

  /// The error of mixed clocks advises it, and tests run in virtual time.
  @Test func thePresetMayUseRealTime() async {
    #expect(await reason { _ = try await Adapter.open(Simulator.preset(isVirtual: false).adapter) } == .clock)
    #expect(await reason { _ = try await Adapter.open(Simulator.preset(isVirtual: true).adapter) } == nil)
  }
}
