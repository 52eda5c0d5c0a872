// Opens a lock with its code, and waits for its answer: lock
import BluetoothLESimulator

let adapter = try await Adapter.open(Simulator.preset.adapter)
// All locks have the same name. The one that is meant has this MAC in its advertisement.
let lock = try await adapter.find("mac:A4:C1:38:00:11:22")
