// Lists the devices that advertise within five seconds, strongest first: scan [tcp:HOST:PORT]
import BluetoothLESimulator

let source = CommandLine.arguments.dropFirst().first.map { AdapterSource.h4($0) } ?? Simulator.preset.adapter
let adapter = try await Adapter.open(source)
var strongest: [Peripheral: Discovery] = [:]
var begin: Duration?
for try await found in adapter.advertisements(.active) {
  if found.time - (begin ?? found.time) > .seconds(5) { break }
  begin = begin ?? found.time
  if found.rssi ?? -128 >= strongest[found.peripheral]?.rssi ?? -128 || found.name != nil { strongest[found.peripheral] = found }
}
for found in strongest.values.sorted(by: { $0.rssi ?? -128 > $1.rssi ?? -128 }) {
  print(found, found.rssi.map { "\($0) dBm" } ?? "", found.services.joined(separator: " "))
}
