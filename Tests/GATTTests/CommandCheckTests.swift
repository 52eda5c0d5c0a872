import TestSupport

@testable import BluetoothLE

/// An empty Prepare Write reveals the refusal of commands that the peer would drop silently.
@Suite(.timeLimit(.minutes(15))) struct CommandCheckTests {
  @LoopActor private func check(_ answer: [UInt8], _ properties: Properties?, times: Int = 1) async throws -> (
    thrown: ErrorCode?, sent: [[UInt8]]
  ) {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { $0.first == 0x16 ? answer : $0.first == 0x18 ? [0x19] : nil }
    let client = Client(near)
    let attribute: Attribute
    if let properties {
      let characteristic = Characteristic(uuid: UUID(0xFFE1), handle: 0x0F, valueHandle: 0x10, endHandle: 0x10, properties: properties)
      attribute = .characteristic(characteristic, Service(uuid: UUID(0xFFE0), handle: 0x0E, endHandle: 0x10, isPrimary: true))
    } else {
      attribute = .handle(0x10)
    }
    var thrown: ErrorCode?
    for _ in 0..<times {
      do { try await client.checkCommands(to: attribute) } catch GATTError.errorResponse(let code, _, _) { thrown = code }
    }
    return (thrown, peer.received)
  }

  private static func refusal(_ code: UInt8) -> [UInt8] { [0x01, 0x16, 0x10, 0x00, code] }
  private static let prepare: [UInt8] = [0x16, 0x10, 0x00, 0x00, 0x00]

  /// Errors 05, 08, 0C and 0F also apply to commands.
  @Test(.onLoop, arguments: [0x05, 0x08, 0x0C, 0x0F] as [UInt8]) @LoopActor func security(_ code: UInt8) async throws {
    for properties in [Properties.writeWithoutResponse, nil] {
      let result = try await self.check(Self.refusal(code), properties)
      #expect(result.thrown?.rawValue == code && result.sent == [Self.prepare])
    }
  }

  /// A server that refuses a Prepare Write for another reason may still accept a command.
  @Test(.onLoop, arguments: [0x01, 0x06, 0x07, 0x09, 0x0B, 0x0D, 0x0E, 0x80] as [UInt8]) @LoopActor func others(_ code: UInt8) async throws
  {
    let result = try await self.check(Self.refusal(code), .writeWithoutResponse)
    #expect(result.thrown == nil && result.sent == [Self.prepare])
  }

  @Test(.onLoop, arguments: [(.writeWithoutResponse, nil), (.write, nil), (nil, nil), ([.read, .notify], 3)] as [(Properties?, UInt8?)])
  @LoopActor func notPermitted(_ properties: Properties?, _ code: UInt8?) async throws {
    let result = try await self.check(Self.refusal(3), properties)
    #expect(result.thrown?.rawValue == code)
  }

  /// An accepted Prepare Write is cancelled immediately and is not repeated.
  @Test(.onLoop) @LoopActor func prepared() async throws {
    let result = try await self.check([0x17, 0x10, 0x00, 0x00, 0x00], .writeWithoutResponse, times: 2)
    #expect(result.thrown == nil && result.sent == [Self.prepare, [0x18, 0x00]])
  }
}
