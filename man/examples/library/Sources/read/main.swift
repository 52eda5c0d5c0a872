// Reads what a wristband tells about itself: read [NAME [tcp:HOST:PORT]]
import BluetoothLESimulator

let arguments = Array(CommandLine.arguments.dropFirst())
let adapter = try await Adapter.open(arguments.count > 1 ? .h4(arguments[1]) : Simulator.preset.adapter)
let band = try await adapter.find(arguments.first ?? "Band-7")
try await adapter.withConnection(to: band) { device in
  for service in try await device.services() {
    print(service)
    for item in service.characteristics where item.properties?.contains(.read) ?? false {
      do {
        let value = try await item.read()
        print("  \(item): \(value.decoded ?? "\(value.bytes)")")
      } catch let error as BluetoothError { print("  \(item): \(error)") }
    }
  }
}
