import BluetoothLESimulator
import TestSupport

/// A device without air and links: its machine and attributes, on the test's clock.
struct PeripheralDevice {
  let description: PeripheralDescription
  var machine: PeripheralMachine
  var database: AttributeDatabase
  /// The time in nanoseconds.
  var now: Int64 = 0

  /// - Parameters:
  ///   - inside: Entries of the peripheral.
  ///   - reactions: The reactions of ff01 (written). Its only service also has ff02 (read, notified).
  init(_ inside: String, reactions: String = "[]", seed: UInt64 = 1) throws {
    let text = #"""
      {"name": "T", "address": "D1:00:00:00:00:09/random", \#(inside) "services": [{"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["write"], "reactions": \#(reactions)},
        {"uuid": "ff02", "properties": ["read", "notify", "indicate"], "value": "0a0b"}
      ]}]}
      """#
    description = try PeripheralFile.parse(Array(text.utf8), name: "x")[0]
    database = description.database
    machine = PeripheralMachine(
      state: PeripheralState(
        variables: description.variables, now: 0, wallClock: 1_767_225_600_000_000_000, seed: seed, stream: 9),
      timers: description.timers, description.database)
  }

  private var reactions: [Reaction] { description.behaviours[description.handle("ff01")]?.reactions ?? [] }

  /// Returns the index of the reaction to these bytes.
  mutating func choice(_ written: String) -> Int? {
    let chosen = machine.choose(reactions, written: Hex.decode(written) ?? [], at: now, database)
    return reactions.firstIndex { $0 == chosen }
  }

  /// Writes a value and returns the immediate actions.
  mutating func write(_ hex: String) -> [String] {
    let written = Hex.decode(hex) ?? []
    guard let chosen = machine.choose(reactions, written: written, at: now, database) else { return [] }
    return text(machine.begin(chosen.actions, written: written, at: now, &database))
  }

  /// Advances the clock and returns the actions until then.
  mutating func advance(milliseconds: Int64) -> [String] {
    now += milliseconds * 1_000_000
    return text(machine.advance(to: now, &database))
  }

  var value: String { Hex.encode(database[description.handle("ff02")]?.value ?? []) }

  private func text(_ effects: [PeripheralMachine.Effect]) -> [String] {
    effects.map { effect in
      switch effect {
      case .notify(_, let value): "notify \(Hex.encode(value))"
      case .indicate(_, let value): "indicate \(Hex.encode(value))"
      case .reset: "reset"
      case .disconnect(let how): "\(how)"
      case .busy(let time): "busy \(time)"
      case .failController(let code): "controller error \(code)"
      }
    }
  }
}
