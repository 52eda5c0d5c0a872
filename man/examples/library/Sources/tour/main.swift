// Everything at once: tour [default|tcp:HOST:PORT]. Without an adapter, on the simulator.
import BluetoothLELinux
import BluetoothLESimulator

let name = CommandLine.arguments.dropFirst().first
let source: AdapterSource = name.map { $0 == "default" ? .default : .h4($0) } ?? Simulator.preset.adapter
let adapter = try await Adapter.open(source)
let image = (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
for try await found in adapter.advertisements(.active) where found.name == "Band-7" {
  try await adapter.withConnection(to: found.peripheral) { band in
    print(band.mtu, try await band.characteristic(.manufacturerName).read().decoded ?? "unknown")
    for try await beat in try await band.characteristic(.heartRateMeasurement).notifications().prefix(5) { print(beat.time, beat.bytes) }
    try await band.characteristic("ff02").write([0x1b, 0x99, 0x01])
  }
  try await adapter.withConnection(to: try await adapter.find("Panel")) { panel in
    for try await progress in try await panel.characteristic("fff6").send(image, verify: .notification("fff7")) {
      print(progress.confirmed, progress.total)
    }
  }
  break
}
