// Sends a picture to a panel, and lets the panel confirm it: transfer
import BluetoothLESimulator

let image = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
let adapter = try await Adapter.open(Simulator.preset.adapter)
var options = ConnectionOptions()
(options.phy, options.interval, options.reconnect) = (.le2M, .milliseconds(15), .times(5))
try await adapter.withConnection(to: try await adapter.find("Panel"), options) { panel in
  let link = try await panel.parameters()
  print("MTU \(panel.mtu), asked for 15 ms, granted \(link.interval.map { "\($0)" } ?? "unknown")")
  try await panel.characteristic("fff8").write([0])
  for try await progress in try await panel.characteristic("fff6").send(image, verify: .notification("fff7")) {
    if progress.sent == progress.total { print(progress.confirmed, "of", progress.total, progress.isVerified ? "verified" : "") }
  }
}
