import BluetoothLESimulator
import TestSupport

/// Arguments that cannot mean anything.
@Suite(.timeLimit(.minutes(15))) struct ArgumentTests {
  @Test(arguments: ["", "mac:12", "service:", "name:"]) func aNameThatMatchesNothing(_ text: String) async throws {
    let (adapter, _) = try await opened()
    #expect(await reason { _ = try await adapter.find(text, within: .milliseconds(1)) } == .invalidArgument)
  }

  @Test func parametersOutOfRange() async throws {
    let (adapter, device) = try await opened()
    var (slow, short) = (ConnectionOptions(), ConnectionOptions())
    (slow.interval, short.dataLength) = (.seconds(5), 26)
    for options in [slow, short] {
      #expect(await reason { try await adapter.withConnection(to: device, options) { _ in } } == .invalidArgument)
    }
  }

  /// The device agrees to an MTU of 64 and to 251 bytes.
  @Test func optionsAskForTheirParameters() async throws {
    let (adapter, device) = try await opened(made("\"phys\": [\"1m\", \"2m\"],"))
    var options = ConnectionOptions()
    (options.mtu, options.interval, options.phy, options.dataLength) = (40, .milliseconds(30), .le2M, 100)
    try await adapter.withConnection(to: device, options) { device in
      let link = try await device.parameters()
      #expect(device.mtu == 40 && link.interval == .milliseconds(30) && link.phy == .le2M && link.dataLength == 100)
    }
  }

  @Test func theLimitsOfTheCallerCount() async throws {
    let silent = #"{"uuid": "ff07", "properties": ["read"], "read_reactions": [{"answer": false}]}"#
    let (adapter, device) = try await opened(made(with: silent))
    let absent = try #require(Peripheral(address: "D1:00:00:00:00:77", isRandom: true))
    var options = ConnectionOptions()
    (options.timeout, options.transactionTimeout, options.retries) = (.seconds(3), .seconds(5), 0)
    try await adapter.withConnection(to: device, options) { device in
      let search = await elapsed { #expect(await reason { _ = try await adapter.find("Nobody", within: .seconds(2)) } == .notFound) }
      let attempt = await elapsed { #expect(await reason { try await adapter.withConnection(to: absent, options) { _ in } } == .timeout) }
      let item = try await device.characteristic("ff07")
      let transaction = await elapsed { #expect(await reason { _ = try await item.read() } == .timeout) }
      #expect([search, attempt, transaction].map { ($0.inSeconds * 2).rounded() / 2 } == [2, 3, 5])
    }
  }

  @Test(arguments: [(1, .disconnected), (2, nil)] as [(Int, BluetoothError.Reason?)])
  func aFailedConnectionIsTriedAgain(_ retries: Int, _ error: BluetoothError.Reason?) async throws {
    let (adapter, device) = try await opened(made("\"failing_connections\": 2,"))
    var options = ConnectionOptions()
    options.retries = retries
    #expect(await reason { try await adapter.withConnection(to: device, options) { _ in } } == error)
  }

  @Test func indicationsOfACharacteristicWithBoth() async throws {
    let both = #"{"uuid": "ff07", "properties": ["notify", "indicate"], "periodic": {"every_ms": 1000, "values": ["01"]}}"#
    let (adapter, device) = try await opened(made(with: both))
    try await adapter.withConnection(to: device) { device in
      for isWanted in [false, true] {
        let value = try await device.characteristic("ff07").notifications(indications: isWanted).first { _ in true }
        #expect(value?.isIndication == isWanted)
      }
    }
  }

  /// Indications are a wish, and this characteristic has only notifications.
  @Test func indicationsOfACharacteristicWithoutThem() async throws {
    let (adapter, device) = try await opened()
    let value = try await adapter.withConnection(to: device) { device in
      try await device.characteristic("ff02").notifications(indications: true).first { _ in true }
    }
    #expect(value?.isIndication == false && value?.bytes == [1])
  }

  @Test func theErrorOfMixedClocksTellsTheWayOut() async throws {
    _ = try await opened()
    await #expect { try await Adapter.open(.h4("tcp:127.0.0.1:1")) } throws: { "\($0)".contains("isVirtual: false") }
  }
}
