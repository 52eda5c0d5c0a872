import BluetoothLESimulator
import TestSupport

/// What the sequences and calls of a lost link do: each of them ends, with the reason.
@Suite(.timeLimit(.minutes(15))) struct LostLinkTests {
  private static let pairing = #""security": {"io": "display", "passkey": "246810"},"#

  private func lose(_ device: ConnectedDevice) async throws {
    let item = try await device.characteristic("ff05")
    _ = await reason { try await item.write([0]) }
  }

  /// Returns the reason of the end of a connection, which must come within a minute.
  private func end(of device: ConnectedDevice) async throws -> BluetoothError {
    let end = Task { try await device.untilDisconnected() }
    try await wait(60)
    end.cancel()
    return try await end.value
  }

  /// Nothing follows the error.
  @Test func notificationsEndWithTheLink() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      var values = try await device.characteristic("ff02").notifications().makeAsyncIterator()
      #expect(try await values.next()?.bytes == [1])
      try await lose(device)
      var last: BluetoothError.Reason?
      while last == nil { last = await reason { _ = try await values.next() } }
      #expect(last == .disconnected)
      #expect(try await values.next() == nil)
    }
  }

  @Test(arguments: [.never, .forever] as [ReconnectPolicy]) func aWaitForTheLossEndsWithTheBody(_ policy: ReconnectPolicy) async throws {
    let (adapter, device) = try await opened()
    var options = ConnectionOptions()
    options.reconnect = policy
    let waiting = try await adapter.withConnection(to: device, options) { device in
      let waiting = Task { try await device.untilDisconnected() }
      _ = try await device.characteristic("ff01").read()
      return waiting
    }
    #expect(try await waiting.value.reason == .disconnected)
  }

  @Test func aPolicyEndsAfterItsAttempts() async throws {
    let off = #"{"uuid": "ff07", "properties": ["write"], "reactions": [{"then": [{"advertise": false}, {"disconnect": true}]}]}"#
    let (adapter, device) = try await opened(made(with: off))
    var options = ConnectionOptions()
    options.reconnect = .times(2)
    try await adapter.withConnection(to: device, options) { device in
      let item = try await device.characteristic("ff07")
      _ = await reason { try await item.write([0]) }
      let end = try await end(of: device)
      #expect(end.reason == .disconnected && "\(end)".contains("2 attempts") && end.mayPass)
    }
  }

  /// The device does not answer a command.
  @Test func aCommandThatLosesTheLinkIsAnError() async throws {
    let item = #"{"uuid": "ff07", "properties": ["write_without_response"], "reactions": [{"then": [{"disconnect": true}]}]}"#
    let (adapter, device) = try await opened(made(with: item))
    try await adapter.withConnection(to: device) { device in
      let item = try await device.characteristic("ff07")
      #expect(await reason { try await item.write([0]) } == .disconnected)
    }
  }

  @Test func closingTheAdapterEndsItsLinks() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      let item = try await device.characteristic("ff01")
      await adapter.close()
      #expect(await reason { _ = try await item.read() } == .disconnected)
    }
  }

  @Test func valuesThatWaitKeepTheirTime() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      var values = try await device.characteristic("ff02").notifications().makeAsyncIterator()
      let first = try #require(try await values.next())
      try await wait(9)
      let second = try #require(try await values.next())
      #expect(second.time - first.time < .seconds(2))
    }
  }

  /// The queue has 16,384 places, and the device sends 100 values a second.
  @Test func valuesThatWereNotTakenAreAnErrorAfterThoseThatWaited() async throws {
    let (adapter, device) = try await opened(made().replacing("\"every_ms\": 1000", with: "\"every_ms\": 10"))
    try await adapter.withConnection(to: device) { device in
      var values = try await device.characteristic("ff02").notifications().makeAsyncIterator()
      #expect(await reason { _ = try await adapter.find("Nobody", within: .seconds(200)) } == .notFound)
      var count = 0
      #expect(await reason { while try await values.next() != nil { count += 1 } } == .overrun)
      #expect(count == 16_384)
      #expect(try await values.next() == nil)
      #expect(try await device.characteristic("ff06").read().bytes == [0])
    }
  }

  @Test func aSecondIterationHasNoValues() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      let values = try await device.characteristic("ff02").notifications()
      var first = values.makeAsyncIterator()
      do {
        var second = values.makeAsyncIterator()
        #expect(try await second.next() == nil)
      }
      #expect(try await first.next()?.bytes == [1])
      #expect(try await first.next()?.bytes == [2])
    }
  }

  /// Without the bond, the link cannot come back, so there is nothing to wait for.
  @Test func aTransferEndsWithTheRestoration() async throws {
    let (adapter, device) = try await opened(made(Self.pairing))
    try await adapter.withConnection(to: device) { _ = try await $0.pair(Answers(.none)) }
    var options = ConnectionOptions()
    (options.security, options.reconnect) = (.encrypted, .forever)
    try await adapter.withConnection(to: device, options) { device in
      let item = try await device.characteristic("ff05")
      #expect(adapter.keys.remove(device.peripheral))
      do {
        for try await _ in try await item.send([0, 1, 2], segment: 1) {}
        Issue.record("The transfer ended.")
      } catch let error as BluetoothError { #expect(error.reason == .disconnected && "\(error)".contains("no bond")) }
    }
  }

  /// A characteristic of the list is found by its place, and not by a handle that may be another attribute later.
  @Test func characteristicsOfTheListOutliveTheirHandles() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      let item = try #require(try await device.services().first { $0.uuid == "ff00" }?.characteristics.first)
      #expect(item.place == "ff00/ff01")
      #expect(try await item.read().bytes == [])
    }
  }

  // MARK: Pairing

  private struct Answers: PairingDelegate {
    let abilities: PairingAbilities

    init(_ abilities: PairingAbilities) { self.abilities = abilities }

    func passkey(for device: Peripheral) async -> String? { "246810" }
  }

  /// A pairing of the program leaves the link's own wish to pair, which the device then demands.
  @Test func aPairingLeavesThatOfTheOptions() async throws {
    let (adapter, device) = try await opened(made(Self.pairing))
    var options = ConnectionOptions()
    options.pairing = Answers(.keyboard)
    try await adapter.withConnection(to: device, options) { device in
      let level = try await device.pair(Answers(.none))
      #expect(level == .encrypted)
      #expect(try await device.characteristic("ff03").read().bytes == [0])
      #expect(try await device.parameters().security == .secureConnections)
    }
  }

  /// The restored link must be as secure as the lost one, for which there is no key any more.
  @Test func aPairedLinkIsNotRestoredWithoutItsBond() async throws {
    let (adapter, device) = try await opened(made(Self.pairing))
    var options = ConnectionOptions()
    options.reconnect = .forever
    try await adapter.withConnection(to: device, options) { device in
      try await device.pair(Answers(.none))
      #expect(adapter.keys.remove(device.peripheral))
      try await lose(device)
      let end = try await end(of: device)
      #expect("\(end)".contains("no bond"))
    }
  }

  /// Both sides cannot show and type, so the bond is Just Works, and suffices for the same demand. It has the name that the scan heard.
  @Test func aBondSufficesAndHasAName() async throws {
    let texts = Guarded<[String]>([])
    let keys = try KeyRing { text in texts.withLock { $0.append(text) } }
    let (adapter, device) = try await opened(made(Self.pairing), keys: keys)
    try await adapter.withConnection(to: device) { device in
      for _ in 0..<3 {
        let level = try await device.pair(Answers(.displayAndYesNo))
        #expect(level == .encrypted)
      }
    }
    #expect(texts.withLock { $0.count } == 1 && keys.text.contains("\"name\":\"Made\""))
  }
}
