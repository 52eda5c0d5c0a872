import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PeripheralBehaviourTests {
  private static let text = #"""
    {"name": "T", "address": "D1:00:00:00:00:09/random", "services": [{"uuid": "ff00", "characteristics": [
      {"uuid": "ff01", "properties": ["write", "write_without_response"], "reactions": [
        {"when": "01", "then": [
          {"notify": "ff02", "value": "aa", "after_ms": 100}, {"notify": "ff02", "value": "bb"}, {"set": "ff03", "value": "cc", "after_ms": 50},
          {"notify": "ff02", "value": [{"value_of": "ff03"}, {"written": true}, {"checksum": "sum8"}], "after_ms": 50}
        ]},
        {"when": "02*", "length": 3, "then": [{"indicate": "ff02", "value": "01"}, {"indicate": "ff02", "value": "02"}]},
        {"when": "03", "then": [{"disconnect": true, "after_ms": 10}]},
        {"when": "04", "then": [{"notify": "ff02", "after_ms": 1000}]}
      ]},
      {"uuid": "ff02", "properties": ["read", "notify", "indicate"]},
      {"uuid": "ff03", "properties": ["read", "write"]},
      {"uuid": "ff04", "properties": ["indicate"], "periodic": {"every_ms": 1000, "values": ["01", "02"]}}
    ]}]}
    """#

  private static func description() throws -> PeripheralDescription {
    try PeripheralFile.parse(Array(text.utf8), name: "test")[0]
  }

  @Test(.onLoop) @LoopActor func actionsComeOneAfterTheOther() async throws {
    let description = try Self.description()
    let client = PeripheralTestClient(VirtualPeripheral(description))
    let answer = "1b" + description.hex("ff02")
    #expect(client.ask("12" + description.configuration("ff02") + "0100") == "13")
    #expect(client.ask("12" + description.hex("ff01") + "01") == "13")
    try await EventLoop.shared.sleep(for: .seconds(1))
    let log = client.log.dropFirst(2).map { "\($0.milliseconds) \($0.pdu)" }
    #expect(log == ["100 \(answer)aa", "100 \(answer)bb", "200 \(answer)cc01cd"])
    #expect(client.ask("0a" + description.hex("ff02")) == "0bcc01cd")
    #expect(client.ask("0a" + description.hex("ff03")) == "0bcc")
  }

  @Test(.onLoop) @LoopActor func indicationsQueue() async throws {
    let description = try Self.description()
    let client = PeripheralTestClient(VirtualPeripheral(description))
    #expect(client.ask("12" + description.configuration("ff02") + "0200") == "13")
    _ = client.take()
    client.write("52" + description.hex("ff01") + "0200")
    client.write("52" + description.hex("ff01") + "020000")
    #expect(client.take() == ["1d" + description.hex("ff02") + "01"])
    client.write("1e")
    #expect(client.take() == ["1d" + description.hex("ff02") + "02"])
  }

  /// A client that stops confirming gets no backlog, and no service after 30 seconds.
  @Test(.onLoop) @LoopActor func periodicIndicationsDoNotPileUp() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    let client = PeripheralTestClient(peripheral)
    #expect(client.ask("12" + description.configuration("ff04") + "0200") == "13")
    try await EventLoop.shared.sleep(for: .milliseconds(10_500))
    client.write("1e")
    try await EventLoop.shared.sleep(for: .seconds(1))
    let prefix = "1d" + description.hex("ff04")
    #expect(client.take() == ["13", prefix + "01", prefix + "01"])
    try await EventLoop.shared.sleep(for: .seconds(40))
    #expect(client.isClosed && peripheral.connectionCount == 0 && client.take().isEmpty)
  }

  @Test(.onLoop) @LoopActor func theOtherClientHearsItToo() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    let clients = [PeripheralTestClient(peripheral), PeripheralTestClient(peripheral), PeripheralTestClient(peripheral)]
    for client in clients.prefix(2) { #expect(client.ask("12" + description.configuration("ff02") + "0100") == "13") }
    clients[2].write("52" + description.hex("ff01") + "01")
    clients[0].drop()
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(clients.map { $0.take().count } == [1, 4, 0])
  }

  @Test(.onLoop) @LoopActor func hangingUp() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    let client = PeripheralTestClient(peripheral)
    client.write("52" + description.hex("ff01") + "03")
    #expect(!client.isClosed)
    try await EventLoop.shared.sleep(for: .milliseconds(20))
    #expect(client.isClosed && peripheral.connectionCount == 0)
  }

  @Test(.onLoop) @LoopActor func theLastClientTakesWhatWaitsWithIt() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    let first = PeripheralTestClient(peripheral)
    #expect(first.ask("12" + description.hex("ff03") + "77") == "13")
    first.write("16" + description.hex("ff03") + "000078")
    first.write("52" + description.hex("ff01") + "04")
    first.drop()
    let second = PeripheralTestClient(peripheral)
    #expect(second.ask("12" + description.configuration("ff02") + "0100") == "13")
    #expect(second.ask("1801") == "19")
    #expect(second.ask("0a" + description.hex("ff03")) == "0b77")
    try await EventLoop.shared.sleep(for: .seconds(3))
    #expect(second.take().count == 3)
  }

  @Test(.onLoop) @LoopActor func hostileClients() async throws {
    let description = try Self.description()
    let seeds = [
      "12" + description.hex("ff01") + "01", "52" + description.hex("ff01") + "020000", "12" + description.configuration("ff04") + "0200",
      "12" + description.configuration("ff02") + "0100", "1e", "020502", "0a" + description.hex("ff03"),
    ].compactMap(Hex.decode)
    let peripheral = VirtualPeripheral(description)
    var client = PeripheralTestClient(peripheral)
    var count = 0
    hostile(seeds, mutations: 20_000) { pdu in
      client.write(pdu)
      count += 1
      if count % 100 == 0 {
        client.drop()
        client = PeripheralTestClient(peripheral)
      }
    }
    client.drop()
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(peripheral.connectionCount == 0)
  }
}
