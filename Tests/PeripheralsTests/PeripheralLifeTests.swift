import TestSupport

@testable import BluetoothLESimulator

/// Tests a virtual peripheral's reactions to connections, subscriptions and reads, and its own actions.
@Suite(.timeLimit(.minutes(15))) struct PeripheralLifeTests {
  private static let text = #"""
    {"name": "T", "address": "D1:00:00:00:00:09/random",
     "variables": {"links": 0, "subscribed": 0, "left": 0, "reads": 0, "writes": 0},
     "advertisement": {"manufacturer_data": {"ffff": [{"u8": {"variable": "links"}}, {"u8": {"variable": "left"}}]}},
     "on_connect": [{"count": "links"}],
     "on_disconnect": [{"count": "left"}, {"let": "writes", "value": 0}],
     "timers": {"beat": {"every_ms": 1000, "then": [{"notify": "ff02", "value": {"u8": {"subscribers": "ff02"}}}]}},
     "services": [{"uuid": "ff00", "characteristics": [
      {"uuid": "ff01", "properties": ["write", "write_without_response", "read"], "value": "aa", "reactions": [
        {"when": "80", "error": 0x80, "then": [{"count": "writes"}]}, {"when": "81", "answer": false}, {"when": "82", "answer_after_ms": 5000},
        {"when": "83", "then": [{"advertise": false}]}, {"when": "84", "then": [{"disconnect": 0x15}]},
        {"when": "85", "then": [{"disconnect": "out_of_range"}]}, {"when": "86", "then": [{"disconnect": true, "after_ms": 1500}]},
        {"when": "??", "if": {"value_of": "ff01", "is": {"written": true}}, "error": 0x13}
      ]},
      {"uuid": "ff02", "properties": ["notify"], "on_subscribe": [{"count": "subscribed"}, {"notify": "ff02", "value": "ee"}],
       "on_unsubscribe": [{"count": "subscribed", "by": -1}]},
      {"uuid": "ff03", "properties": ["read"], "read_reactions": [
        {"if": {"variable": "reads", "at_least": 3}, "error": 0x90},
        {"then": [{"count": "reads"}, {"set": "ff03", "value": {"u8": [{"variable": "reads"}, {"variable": "subscribed"}, {"variable": "writes"}]}}]}
      ]}
    ]}]}
    """#

  private static func description() throws -> PeripheralDescription { try PeripheralFile.parse(Array(text.utf8), name: "test")[0] }

  @Test(.onLoop) @LoopActor func readingSubscribingConnectingLeaving() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    @LoopActor func shown() -> String { Hex.encode(peripheral.advertising.data.suffix(2)) }
    #expect(shown() == "0000")
    let client = PeripheralTestClient(peripheral)
    #expect(shown() == "0100")
    #expect(client.ask("0a" + description.hex("ff03")) == "0b010000")
    client.write("12" + description.configuration("ff02") + "0100")
    #expect(client.take().suffix(2) == ["13", "1b" + description.hex("ff02") + "ee"], "the answer comes first")
    #expect(client.ask("12" + description.hex("ff01") + "80") == "0112" + description.hex("ff01") + "80")
    #expect(client.ask("0a" + description.hex("ff01")) == "0baa", "nothing was written")
    #expect(client.ask("0a" + description.hex("ff03")) == "0b020101")
    #expect(client.ask("12" + description.hex("ff01") + "aa") == "0112" + description.hex("ff01") + "13", "the old value is compared")
    #expect(client.ask("12" + description.configuration("ff02") + "0000") == "13")
    client.drop()
    #expect(shown() == "0101")
    let second = PeripheralTestClient(peripheral)
    // A long read continues the previous value and does not count.
    #expect(
      second.ask("0c" + description.hex("ff03") + "0000") == "0d030000" && second.ask("0c" + description.hex("ff03") + "0100") == "0d0000"
    )
    #expect(second.ask("0a" + description.hex("ff03")) == "010a" + description.hex("ff03") + "90")
    #expect(second.ask("080100ffff03ff") == "0108" + description.hex("ff03") + "90")
  }

  @Test(.onLoop) @LoopActor func lateAnswers() async throws {
    let description = try Self.description()
    let client = PeripheralTestClient(VirtualPeripheral(description))
    client.write("12" + description.hex("ff01") + "82")
    client.write("12" + description.hex("ff01") + "81")
    try await EventLoop.shared.sleep(for: .seconds(30))
    #expect(client.log.map { "\($0.milliseconds) \($0.pdu)" } == ["5000 13"])
    #expect(client.ask("0a" + description.hex("ff01")) == "0b81")
  }

  /// Timers run only while a client is connected. Otherwise the loop is idle and its time stands still.
  @Test(.onLoop) @LoopActor func timersRunForThoseWhoAreThere() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    let client = PeripheralTestClient(peripheral)
    _ = client.ask("12" + description.configuration("ff02") + "0100")
    _ = client.take()
    try await EventLoop.shared.sleep(for: .milliseconds(2500))
    #expect(client.take() == [String](repeating: "1b" + description.hex("ff02") + "01", count: 2))
    client.drop()
    try await EventLoop.shared.sleep(for: .milliseconds(2500))
    let second = PeripheralTestClient(peripheral)
    _ = second.ask("12" + description.configuration("ff02") + "0100")
    _ = second.take()
    try await EventLoop.shared.sleep(for: .milliseconds(1001))
    #expect(second.take().count == 1, "what was missed is not told afterwards")
  }

  @Test(.onLoop, arguments: [("84", 0x15), ("85", 0x08), ("86", 0x13)] as [(String, UInt8)])
  @LoopActor func endsOfLinks(_ command: String, _ reason: UInt8) async throws {
    let description = try Self.description()
    let air = Air(seed: 3)
    air.add([description])
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    let link = try await central.connect(description.address, timeout: .seconds(20))
    let client = Client(link.channel)
    try await client.writeCommand((Hex.decode(command) ?? [])[...], to: description.handle("ff01"))
    do {
      try await EventLoop.shared.sleep(for: .seconds(30))
      _ = try await client.read(description.handle("ff01"))
      Issue.record("the link is still there")
    } catch { #expect("\(error)".contains(Hex.encode([reason])), "\(error)") }
    await central.close()
  }

  @Test(.onLoop) @LoopActor func aSilentDeviceIsNotHeard() async throws {
    let description = try Self.description()
    let peripheral = VirtualPeripheral(description)
    let client = PeripheralTestClient(peripheral)
    #expect(peripheral.advertising.isOn)
    _ = client.ask("12" + description.hex("ff01") + "83")
    client.drop()
    #expect(!peripheral.advertising.isOn)
    let (air, ears) = (Air(), Ears())
    air.add(peripheral)
    air.listen(ears)
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(ears.heard == 0)
    air.stopListening(ears)
  }

  @LoopActor private final class Ears: AirListener {
    var heard = 0
    nonisolated init() {}
    func hear(_ advertisement: Air.Advertisement) { heard += 1 }
  }

  /// Hostile clients and damaged files of man/examples cause no trap and no endless growth.
  @Test(.onLoop, arguments: ExampleFiles.all) @LoopActor func hostility(_ name: String) async throws {
    let description = try ExampleFiles.read(name)
    let peripheral = VirtualPeripheral(description)
    var client = PeripheralTestClient(peripheral)
    let handles = description.behaviours.keys.sorted().map { Hex.encode(little($0)) }
    let seeds = handles.flatMap { handle in
      ["01", "02" + String(repeating: "00", count: 16), "1b990205", "1b99030000ff7f", "5d08013b", ""].map { "12\(handle)\($0)" }
        + ["0a\(handle)", "52\(handle)1b9905", "16\(handle)000001", "1801", "02f700"]
    }
    var count = 0
    hostile(seeds.compactMap(Hex.decode), mutations: 5000) { pdu in
      client.write(pdu)
      count += 1
      if count % 50 == 0 {
        client.drop()
        client = PeripheralTestClient(peripheral)
      }
    }
    client.drop()
    try await EventLoop.shared.sleep(for: .seconds(60))
    #expect(peripheral.connectionCount == 0 && peripheral.advertising.data.count <= 31)
  }

  @Test(arguments: ExampleFiles.all) func hostileFiles(_ name: String) throws {
    let text = try ExampleFiles.bytes(name)
    var accepted = 0
    var random = SplitMix64(seed: 5)
    for _ in 0..<400 {
      // One byte changes, mostly to a digit.
      var file = text
      file[Int(random.next() % UInt64(file.count))] =
        random.next() % 4 == 0 ? UInt8(truncatingIfNeeded: random.next()) : 0x30 + UInt8(random.next() % 10)
      guard let description = (try? PeripheralFile.parse(file, name: "x"))?.first else { continue }
      accepted += 1
      var machine = PeripheralMachine(
        state: PeripheralState(variables: description.variables, now: 0, wallClock: 0, seed: 1, stream: 1), timers: description.timers,
        description.database)
      var database = description.database
      for behaviour in description.behaviours.values {
        for reaction in behaviour.reactions + behaviour.readReactions {
          _ = machine.choose([reaction], written: [1, 2, 3, 4], at: 0, database)
          _ = machine.begin(reaction.actions, written: [0x1B, 0x99, 2, 30], at: 0, &database)
        }
      }
      _ = machine.advance(to: 120_000_000_000, &database)
    }
    #expect(accepted > 0)
  }
}
