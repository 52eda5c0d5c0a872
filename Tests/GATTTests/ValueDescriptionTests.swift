import TestSupport

@testable import BluetoothLE

/// Descriptors of values are read once per link and kept until the services change.
@Suite(.timeLimit(.minutes(15))) struct ValueDescriptionTests {
  @LoopActor
  private static func client(_ refused: Set<UInt32> = []) -> (Client, ScriptedPeer) {
    var server = DiscoveryCostTests.server([
      .init(
        uuid: UUID(0xFFE0),
        characteristics: [
          (UUID(0xFFE1), 0x1A, [0x2902, 0x2901, 0x2904]), (UUID(0xFFE2), 0x02, [0x2905, 0x2904]), (UUID(0xFFE3), 0x02, [0x2902]),
        ])
    ])
    for index in server.items.indices {
      switch server.items[index].type {
      case UUID(0x2901): server.items[index].value = Array("Door\0".utf8)
      case UUID(0x2904): server.items[index].value = [0x0E, 0xFE, 0x2F, 0x27, 1, 0, 0]
      // A format, a characteristic's value, and a missing attribute.
      case UUID(0x2905): server.items[index].value = [6, 0, 3, 0, 0xFF, 0xFF]
      default: break
      }
      if refused.contains(where: { UUID($0) == server.items[index].type }) { server.items[index].isReadable = false }
    }
    let (near, far) = MemoryChannel.pair()
    var answering = server
    return (Client(near), ScriptedPeer(far, rules: []) { answering.answer($0) })
  }

  @LoopActor private static func reads(_ peer: ScriptedPeer) -> [String] { peer.received.map { hex($0) }.filter { $0.hasPrefix("0a") } }

  @Test(.onLoop) @LoopActor func eachIsReadOnce() async throws {
    let (client, peer) = Self.client()
    let items = try await client.discover().characteristics
    #expect(client.description(of: items[0]) == nil)
    for _ in 1...2 { for item in items { try await client.readDescription(of: item) } }
    #expect(Self.reads(peer) == ["0a0500", "0a0600", "0a0900", "0a0a00"])
    let format = try #require(PresentationFormat([0x0E, 0xFE, 0x2F, 0x27, 1, 0, 0]))
    #expect(client.description(of: items[0]) == ValueDescription(userDescription: "Door", formats: [format]))
    // One part is unknown, so the description is empty.
    #expect(client.description(of: items[1]) == ValueDescription() && client.description(of: items[2]) == nil)
    #expect(PresentationFormat(format.value) == format)
    #expect(PresentationFormat.handles(inAggregate: [0x10, 0x00, 0x12, 0x01, 0x07]) == [0x0010, 0x0112])
    client.close()
  }

  /// Any read of a descriptor is kept, and a write to it requires another read.
  @Test(.onLoop) @LoopActor func anyReadIsKept() async throws {
    let (client, peer) = Self.client()
    let items = try await client.discover().characteristics
    _ = try await client.read(5)
    #expect(client.description(of: items[0]) == ValueDescription(userDescription: "Door"))
    try await client.write([0x41], to: 5, plan: try WriteProcedure(value: 1, properties: nil, mtu: client.mtu, mode: .request))
    #expect(client.description(of: items[0]) == nil)
    try await client.readDescription(of: items[0])
    #expect(client.description(of: items[0])?.userDescription == "A" && Self.reads(peer) == ["0a0500", "0a0500", "0a0600"])
    client.forget(HandleRange(1, 0xFFFF))
    #expect(client.descriptorValues.isEmpty)
    client.close()
  }

  @Test(.onLoop) @LoopActor func aRefusalIsAnAnswer() async throws {
    let (client, peer) = Self.client([0x2901, 0x2905])
    let items = try await client.discover().characteristics
    for _ in 1...2 { for item in items { try await client.readDescription(of: item) } }
    #expect(Self.reads(peer).count == 4)
    #expect(client.description(of: items[0])?.userDescription == nil && client.description(of: items[0])?.formats.count == 1)
    client.close()
  }
}
