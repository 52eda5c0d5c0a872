// Pairs with a lock that displays a passkey, and opens it: pair [PASSKEY]
import BluetoothLESimulator

struct Person: PairingDelegate {
  let typed: String
  func passkey(for device: Peripheral) async -> String? { typed }
}
let person = Person(typed: CommandLine.arguments.dropFirst().first ?? "246810")
let keys = try KeyRing { text in print("keep in a file that only you can read:", text.count, "characters") }
let adapter = try await Adapter.open(Simulator.preset.adapter, keys: keys)
let lock = try await adapter.find("SafeLock")
do {
  try await adapter.withConnection(to: lock) { lock in
    print("paired:", try await lock.pair(person, level: .authenticated))
    try await lock.characteristic("ff52").write([1])
    print("state:", try await lock.characteristic("ff51").read().text ?? "?")
  }
  var options = ConnectionOptions()
  options.security = .authenticated
  try await adapter.withConnection(to: lock, options) { print("again:", try await $0.parameters().security) }
} catch let error as BluetoothError { print(error.reason, error) }
