// Serves a battery, and reads it from a second adapter: serve. With an adapter, serves until a central disconnects: serve tcp:HOST:PORT
import BluetoothLESimulator

let level = LocalDevice.Characteristic(.batteryLevel, [.read, .notify], value: [60])
var device = LocalDevice(name: "Battery", services: [.init("180f", [level])])
device.advertisement?.services = ["180f"]
let simulator = Simulator.empty
let address = CommandLine.arguments.dropFirst().first
let adapter = try await Adapter.open(address.map { .h4($0) } ?? simulator.adapter)
try await adapter.serve(device) { server in
  async let phone: Void = address == nil ? usePhone(simulator) : ()
  for try await event in server.events {
    print(event)
    if case .subscribed(level, _) = event { for percent in (57...59).reversed() { try await server.notify(level, [UInt8(percent)]) } }
    if case .disconnected = event { break }
  }
  try await phone
}

/// What a central does.
func usePhone(_ simulator: Simulator) async throws {
  let phone = try await Adapter.open(simulator.adapter)
  try await phone.withConnection(to: try await phone.find("Battery")) { battery in
    let level = try await battery.characteristic(.batteryLevel)
    print("phone:", try await level.read().decoded ?? "unknown")
    for try await value in try await level.notifications().prefix(3) { print("phone:", value.decoded ?? "unknown") }
  }
}
