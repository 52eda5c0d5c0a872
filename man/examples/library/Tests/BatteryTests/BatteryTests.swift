import BluetoothLESimulator
import Testing

/// Tests of a device that the program serves, by a central on the same simulated radio.
struct BatteryTests {
  @Test func itRefusesMoreThan100Percent() async throws {
    var level = LocalDevice.Characteristic(.batteryLevel, [.read, .write], value: [60])
    level.onWrite = { value, _ in if value.count != 1 || value[0] > 100 { throw BluetoothError.refusal(0x13) } }
    let simulator = Simulator.empty
    let (adapter, phone) = (try await Adapter.open(simulator.adapter), try await Adapter.open(simulator.adapter))
    try await adapter.serve(LocalDevice(name: "Battery", services: [.init("180f", [level])])) { server in
      try await phone.withConnection(to: try await phone.find("Battery")) { battery in
        let found = try await battery.characteristic(.batteryLevel)
        await #expect { try await found.write([101]) } throws: { ($0 as? BluetoothError)?.reason == .refused(0x13) }
        try await found.write([100])
      }
      #expect(try await server.value(of: level) == [100])
    }
  }
}
