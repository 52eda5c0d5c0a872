// Opens a lock with its code, and waits for its answer: lock
import BluetoothLESimulator

let adapter = try await Adapter.open(Simulator.preset.adapter)
