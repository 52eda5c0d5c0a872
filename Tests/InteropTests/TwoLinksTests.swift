import Foundation
import TestSupport

/// Our own host with two concurrent links to Bumble's peripherals. A controller, including Bumble's, initiates one connection at a time.
@Suite(.serialized, .timeLimit(.minutes(15))) struct TwoLinksTests {
  @Test(
    .enabled(if: ProcessInfo.processInfo.environment["BLECTL_CLOCK"] == "real", "in this process time must be real: BLECTL_CLOCK=real"),
    arguments: [["--controller", "legacy"], ["--controller", "extended"], ["--controller", "legacy", "--acl", "27x2"]])
  func bothAreUsedAtOnce(_ options: [String]) async throws {
    let air = try BumbleAir(options + ["--second"])
    let outcome = try await onLoop {
      let transport = try await StreamTransport.connect(to: try TransportAddress(air.adapter), timeout: .seconds(HangGuard.seconds))
      let central = HostCentral(transport, name: air.adapter)
      try await central.start()
      return try await TwoBumbleLinks.use(central)
    }
    #expect(outcome.counted == outcome.expected)
    #expect(outcome.afterwards == Array("hello lock".utf8))
    let ends = [air.event("disconnected"), air.event("disconnected")]
    #expect(ends.map { $0?.string("device") } == ["Lock-01", "Lock-02"])
    #expect(ends.allSatisfy { $0?.int("reason") == 0x13 })
  }
}
