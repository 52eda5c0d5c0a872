// Prints ten heart rates, for two readers at once: notify [NAME [CHARACTERISTIC [tcp:HOST:PORT]]]
import BluetoothLESimulator

let arguments = Array(CommandLine.arguments.dropFirst())
let adapter = try await Adapter.open(arguments.count > 2 ? .h4(arguments[2]) : Simulator.preset.adapter)
let name = arguments.count > 1 ? AttributeName(arguments[1]) : .heartRateMeasurement
var options = ConnectionOptions()
options.reconnect = .times(3)
try await adapter.withConnection(to: try await adapter.find(arguments.first ?? "Band-7"), options) { band in
  let heartRate = try await band.characteristic(name)
  let counted = try await heartRate.notifications()
  async let beats = counted.prefix(10).reduce(0) { sum, _ in sum + 1 }
  for try await beat in try await heartRate.notifications().prefix(10) { print(beat.time, beat.decoded ?? "\(beat.bytes)") }
  print(try await beats, "values")
}
