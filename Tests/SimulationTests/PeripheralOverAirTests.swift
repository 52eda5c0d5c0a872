import BluetoothLESimulator
import TestSupport

/// Tests the built-in peripherals through all layers: client, host, HCI, link layer, server.
@Suite(.timeLimit(.minutes(15))) struct PeripheralOverAirTests {
  @LoopActor
  private func connected<T: Sendable>(
    _ text: String, among devices: [PeripheralDescription]? = nil,
    _ body: @escaping @LoopActor (any Link, Client, AttributeTable) async throws -> T
  ) async throws -> T {
    let air = Air(seed: 7)
    for description in try devices ?? BuiltInDevices.peripherals() { air.add(VirtualPeripheral(description)) }
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    let address = try #require(Address(text))
    let link = try await central.connect(PeerAddress(address, text.hasPrefix("D1") ? .random : .public), timeout: .seconds(20))
    let client = Client(link.channel)
    _ = try await client.exchangeMTU()
    let result = try await body(link, client, try await client.discover())
    await central.close()
    return result
  }

  @Test(.onLoop) @LoopActor func theLockOpensWith104Bytes() async throws {
    try await connected("D1:00:00:00:00:01") { _, client, table in
      #expect(client.mtu == 23)
      let code = (0..<103).map { UInt8($0) }
      let value = code + [0 &- code.reduce(0, &+)]
      let write = try table.resolve(Selector("ffe1"))
      let answer = try #require(try table.resolve(Selector("ffe2")).characteristic)
      let subscription = try await client.subscribe(answer)
      let plan = try WriteProcedure(value: value.count, properties: write.properties, mtu: client.mtu, mode: .auto)
      #expect(plan.mode == .command && plan.segments.count == 6)
      try await client.write(value, to: write.handle, plan: plan, pacing: WritePacing(gap: .milliseconds(10)))
      #expect(try await subscription.next().value == Array("OPEN".utf8))
      do {
        try await client.writeRequest([1], to: write.handle)
        Issue.record("a write request was accepted")
      } catch GATTError.errorResponse(let code, _, _) { #expect(code.rawValue == 3) }
    }
  }

  @Test(.onLoop) @LoopActor func theBandsServicesBatteryAndHeart() async throws {
    try await connected("C0:FF:EE:00:00:07") { _, client, table in
      #expect(table.services.map(\.uuid.description) == ["1800", "1801", "180a", "180f", "180d", "fee0"])
      #expect(try await client.read(try table.resolve(Selector("battery_level")).handle) == [60])
      let answers = try await client.subscribe(try #require(try table.resolve(Selector("ff01")).characteristic))
      try await client.writeCommand([0x1B, 0x99, 0x01], to: try table.resolve(Selector("ff02")).handle)
      #expect(try await answers.next().value == [0x56, 0x7B, 60, 0x0D])
      let heart = try await client.subscribe(try #require(try table.resolve(Selector("180d/2a37")).characteristic))
      var beats: [UInt8] = []
      for _ in 0..<3 { beats.append(try await heart.next().value.last ?? 0) }
      #expect(beats == [72, 74, 73])
    }
  }

  @Test(.onLoop) @LoopActor func thePanelGetsAPictureOf77831Bytes() async throws {
    try await connected("D1:00:00:00:00:10") { _, client, table in
      #expect(client.mtu == 247)
      var random = SplitMix64(seed: 3)
      let picture = (0..<77_831).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let target = try table.resolve(Selector("fff6")).handle
      let report = try #require(try table.resolve(Selector("fff7")).characteristic)
      let subscription = try await client.subscribe(report)
      for start in stride(from: 0, to: picture.count, by: 244) {
        try await client.writeCommand(picture[start..<min(start + 244, picture.count)], to: target)
      }
      var counter = ReactionCounter()
      counter.add(picture)
      #expect(try await subscription.next().value == counter.report)
      #expect(try await client.read(report.valueHandle) == counter.report)
    }
  }

  /// A device that disconnects after a write still delivers its answer and notifications first.
  @Test func aDeviceThatHangsUpIsHeardOutFirst() async throws {
    let text = #"""
      {"name": "T", "address": "D1:00:00:00:00:09/random", "services": [{"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["write"], "reactions": [{"when": "", "then": [{"notify": "ff02", "value": "aa"}, {"disconnect": true}]}]},
        {"uuid": "ff02", "properties": ["notify"]}
      ]}]}
      """#
    let devices = try PeripheralFile.parse(Array(text.utf8), name: "test")
    try await onLoop {
      try await connected("D1:00:00:00:00:09", among: devices) { link, client, table in
        let said = try await client.subscribe(try #require(try table.resolve(Selector("ff02")).characteristic))
        try await client.writeRequest([], to: try table.resolve(Selector("ff01")).handle)
        #expect(try await said.next().value == [0xAA])
        await #expect(throws: (any Error).self) { try await said.next() }
      }
    }
  }
}
