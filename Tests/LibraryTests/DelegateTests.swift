import BluetoothLESimulator
import TestSupport

/// A person in front of a device that displays a passkey.
private final class Person: PairingDelegate {
  let typed: String?
  let abilities: PairingAbilities
  let agrees: Bool
  let asked = Guarded<[Peripheral]>([])
  /// The digits that the person has seen.
  let seen = Guarded<[String]>([])

  init(_ typed: String?, _ abilities: PairingAbilities = .keyboardAndDisplay, agrees: Bool = false) {
    (self.typed, self.abilities, self.agrees) = (typed, abilities, agrees)
  }

  func show(passkey: String, for device: Peripheral) async { seen.withLock { $0.append(passkey) } }

  func confirm(number: String, for device: Peripheral) async -> Bool {
    seen.withLock { $0.append(number) }
    return agrees
  }

  func passkey(for device: Peripheral) async -> String? {
    asked.withLock { $0.append(device) }
    return typed
  }
}

@Suite(.timeLimit(.minutes(15))) struct DelegateTests {
  private func safe(_ keys: KeyRing = KeyRing()) async throws -> (Adapter, Peripheral) {
    startLoop()
    let adapter = try await Adapter.open(Simulator.preset.adapter, keys: keys)
    return (adapter, try await adapter.find("SafeLock"))
  }

  @Test func aPasskeyPairsAndItsKeysServeLaterProcesses() async throws {
    let texts = Guarded<[String]>([])
    let (adapter, lock) = try await safe(try KeyRing { text in texts.withLock { $0.append(text) } })
    let person = Person("246810")
    try await adapter.withConnection(to: lock) { lock in
      #expect(try await lock.pair(person, level: .authenticated) == .secureConnections)
      #expect(try await lock.characteristic("ff51").read().text == "locked")
      // The bond suffices.
      try await lock.pair(Person(nil), level: .authenticated)
    }
    #expect(person.asked.withLock { $0 } == [lock] && adapter.keys.peripherals == [lock])
    let saved = try #require(texts.withLock { $0 }.last)
    var options = ConnectionOptions()
    options.security = .authenticated
    let (later, _) = try await safe(try KeyRing(saved))
    #expect(try await later.withConnection(to: lock, options) { try await $0.characteristic("ff51").read().text } == "locked")
    #expect(later.keys.remove(lock) && later.keys.text.isEmpty && !later.keys.remove(lock))
    #expect(await reason { try await later.withConnection(to: lock, options) { _ in } } == .security)
    #expect(await reason { _ = try KeyRing("{}") } == .invalidArgument)
  }

  @Test(arguments: [("111111", .keyboard), ("24681", .keyboard), (nil, .keyboard), ("246810", .none)] as [(String?, PairingAbilities)])
  func aWrongAnswerIsAnErrorThatSaysSo(_ typed: String?, _ abilities: PairingAbilities) async throws {
    let (adapter, lock) = try await safe()
    try await adapter.withConnection(to: lock) { lock in
      #expect(await reason { try await lock.pair(Person(typed, abilities), level: .authenticated) } == .pairing)
    }
    #expect(adapter.keys.peripherals.isEmpty)
  }

  @Test(arguments: [true, false]) func aPersonComparesTheNumbers(_ agrees: Bool) async throws {
    let (adapter, device) = try await opened(made(#""security": {"io": "yesno"},"#))
    let person = Person(nil, .displayAndYesNo, agrees: agrees)
    try await adapter.withConnection(to: device) { device in
      #expect(await reason { try await device.pair(person, level: .authenticated) } == (agrees ? nil : .pairing))
    }
    #expect(person.seen.withLock { $0.map(\.count) } == [6])
    #expect(adapter.keys.peripherals == (agrees ? [device] : []))
  }

  /// The user of the device types other digits than those.
  @Test func aPersonSeesThePasskeyToType() async throws {
    let (adapter, device) = try await opened(made(#""security": {"io": "keyboard", "passkey": "246810"},"#))
    let person = Person(nil, .display)
    try await adapter.withConnection(to: device) { device in
      #expect(await reason { try await device.pair(person, level: .authenticated) } == .pairing)
    }
    #expect(person.seen.withLock { $0.map(\.count) } == [6])
  }

  @Test func aLinkPairsWhenTheDeviceDemandsIt() async throws {
    let (adapter, lock) = try await safe()
    var options = ConnectionOptions()
    options.pairing = Person("246810")
    #expect(try await adapter.withConnection(to: lock, options) { try await $0.characteristic("ff51").read().text } == "locked")
    #expect(adapter.keys.peripherals == [lock])
  }
}
