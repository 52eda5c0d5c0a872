import BluetoothLELinux
import TestSupport

extension KernelTests {
  /// Two concurrent links on one adapter of the kernel. Its controller initiates one connection at a time.
  @Suite struct TwoLinksTests {
    @Test(arguments: ["legacy", "extended"]) func bothAreUsedAtOnce(_ controller: String) async throws {
      let air = try Guest.air("--controller", controller, "--tuning", "on", "--second")
      let number = try #require(Int(air.adapter.dropFirst(3)))
      let outcome = try await onLoop { try await TwoBumbleLinks.use(try await KernelCentral.open(adapter: number)) }
      #expect(outcome.counted == outcome.expected)
      #expect(outcome.afterwards == Array("hello lock".utf8))
      try Guest.expectQuiet(air.adapter)
    }
  }
}
