// Opens a lock with its code, and waits for its answer: lock
import BluetoothLESimulator

let adapter = try await Adapter.open(Simulator.preset.adapter)
// All locks have the same name. The one that is meant has this MAC in its advertisement.
let lock = try await adapter.find("mac:A4:C1:38:00:11:22")
// 104 bytes whose sum, modulo 256, is 0. The lock takes 20 of them in a packet.
let code = Array(UInt8(1)...103) + [0x14]
try await adapter.withConnection(to: lock) { lock in
  let state = try await lock.characteristic("ffe2")
  print("before:", try await state.read().text ?? "?")
  let answers = try await state.notifications()
  try await lock.characteristic("ffe1").write(code)
  for try await answer in answers.prefix(1) { print("after:", answer.text ?? "?") }
}
