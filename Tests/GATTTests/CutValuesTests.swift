import TestSupport

/// Some servers agree to a larger ATT_MTU but still cut values to the minimum one.
@Suite(.timeLimit(.minutes(15))) struct CutValuesTests {
  enum Kind: Sendable {
    /// Cuts each part to 22 bytes.
    case cuts
    /// Sends all that fits, and answers a read at the end with an empty part.
    case whole
    /// Sends all that fits, and answers a read at the end with this error.
    case refuses(UInt8)
  }

  /// - Returns: The value, and the number of Read Blob Requests.
  @LoopActor
  private static func read(_ count: Int, _ kind: Kind, mtu: UInt8 = 100) async throws -> (value: [UInt8], blobs: Int) {
    let (near, far) = MemoryChannel.pair()
    let value = (0..<count).map { UInt8($0 & 0xFF) }
    let peer = ScriptedPeer(far) { pdu in
      let limit = if case .cuts = kind { 22 } else { Int(mtu) - 1 }
      switch pdu[0] {
      case 0x02: return [0x03, mtu, 0]
      case 0x0A: return [0x0B] + value.prefix(limit)
      default:
        let offset = Int(pdu[3]) | Int(pdu[4]) << 8
        if case .refuses(let code) = kind, offset >= count { return [0x01, 0x0C, pdu[1], pdu[2], code] }
        return [0x0D] + value.dropFirst(offset).prefix(limit)
      }
    }
    let client = Client(near)
    try await client.exchangeMTU()
    let read = try await client.read(5)
    client.close()
    return (read == value ? value : [], peer.received.count { $0[0] == 0x0C })
  }

  /// The number of Read Blob Requests depends on the length of the value.
  @Test(arguments: [(21, 0), (22, 1), (23, 1), (43, 1), (44, 2), (66, 3), (512, 23)]) func parts(_ count: Int, _ blobs: Int) async throws {
    let result = try await onLoop { try await Self.read(count, .cuts) }
    #expect(result.value.count == count && result.blobs == blobs, "\(result)")
  }

  /// Only a value of this length causes one extra request. Any refusal leaves the value valid.
  @Test(arguments: [Kind.whole] + [0x07, 0x0B, 0x06, 0x0E, 0x02, 0x80].map { Kind.refuses($0) }) func asksOnce(_ kind: Kind) async throws {
    for (count, blobs) in [(21, 0), (22, 1), (23, 0), (44, 0), (98, 0)] {
      let result = try await onLoop { try await Self.read(count, kind) }
      #expect(result.value.count == count && result.blobs == blobs, "\(count): \(result)")
    }
  }

  /// At the minimum ATT_MTU, 22 bytes fit.
  @Test func theLeastMTU() async throws {
    let result = try await onLoop { try await Self.read(22, .refuses(0x07), mtu: 23) }
    #expect(result.value.count == 22 && result.blobs == 1)
  }

  /// A read by handle after an MTU exchange returns as much as after discovery.
  @Test(.onLoop) @LoopActor func byHandle() async throws {
    let (near, far) = MemoryChannel.pair()
    let value = [UInt8](repeating: 7, count: 40)
    let peer = ScriptedPeer(far) { pdu in
      switch pdu[0] {
      case 0x02: [0x03, 100, 0]
      case 0x0A: [0x0B] + value.prefix(22)
      default: [0x0D] + value.dropFirst(Int(pdu[3])).prefix(22)
      }
    }
    let client = Client(near)
    try await client.exchangeMTU()
    try await client.read([Selector("0x0005")]) { #expect($1.value == value) }
    #expect(peer.received.count == 3)
    client.close()
  }
}
