import BluetoothLESimulator
import Testing

/// Tests of a lock without a radio. They run side by side, each with its own simulator, and take no real time.
struct LockTests {
  let code = Array(UInt8(1)...103) + [0x14]

  func answer(to bytes: [UInt8]) async throws -> String? {
    let adapter = try await Adapter.open(Simulator.preset.adapter)
    return try await adapter.withConnection(to: try await adapter.find("mac:A4:C1:38:00:11:22")) { lock in
      let answers = try await lock.characteristic("ffe2").notifications()
      try await lock.characteristic("ffe1").write(bytes)
      return try await answers.first { _ in true }?.text
    }
  }

  @Test func theCodeOpens() async throws { #expect(try await answer(to: code) == "OPEN") }

  @Test(arguments: 1...3) func aShortCodeDoesNot(_ count: Int) async throws {
    #expect(try await answer(to: Array(code.prefix(count))) == "FAIL")
  }

  @Test func aRequestIsRefused() async throws {
    let adapter = try await Adapter.open(Simulator.preset.adapter)
    try await adapter.withConnection(to: try await adapter.find("mac:A4:C1:38:00:11:22")) { lock in
      let commands = try await lock.characteristic("ffe1")
      await #expect { try await commands.write([1], by: .request) } throws: { ($0 as? BluetoothError)?.reason == .refused(0x03) }
    }
  }
}
