import Foundation
import TestSupport
import Traces

/// Keys in the file of `--trace`.
@Suite(.timeLimit(.minutes(15))) struct SecretTraceTests {
  /// The trace of a host that encrypts with a key and pairs has zeros for secrets, unless the user asks for them.
  @Test(arguments: [false, true]) func keysAreZeroUnlessAskedFor(_ keepsSecrets: Bool) throws {
    let key = (1...16).map { UInt8(0xA0 + $0) }
    let encrypt = [1, 0x17, 0x20, 32] + key + key
    let random: [[UInt8]] = [[2, 0x40, 0x20, 11, 0, 17, 0, 6, 0, 4] + key.prefix(6), [2, 0x40, 0x10, 10, 0] + key.suffix(10)]
    let trace = TemporaryPath()
    let air = try ListeningAir(["--trace", trace.path] + (keepsSecrets ? ["--trace-secrets"] : []))
    let client = try RawClient(air.path)
    try client.send(SimListenTests.resetCommand + encrypt + random.joined())
    // Reset's Command Complete, and a Command Status.
    let answers = try client.read(14)
    #expect(answers.prefix(7) == SimListenTests.resetComplete[...] && answers[8] == 0x0F)
    #expect(air.end().status == 130)
    let packets = try Snoop.parse(Array(try Data(contentsOf: URL(fileURLWithPath: trace.path)))).map(\.packet)
    #expect(packets.contains(SimListenTests.resetCommand))
    for (packet, kept) in [(encrypt, 4), (random[0], 10), (random[1], 5)] {
      #expect(packets.contains(keepsSecrets ? packet : packet.prefix(kept) + [UInt8](repeating: 0, count: packet.count - kept)))
    }
  }

  @Test func theOptionNeedsATrace() throws {
    for words in [["scan", "--trace-secrets"], ["--trace-secrets", "read", "name:Band-7", "2a19"]] {
      let result = try Blectl.run(words)
      #expect(result.status == 64 && result.errors.contains("--trace-secrets needs --trace FILE."), "\(result.errors)")
    }
    let trace = TemporaryPath()
    let result = try Blectl.run("--trace-secrets", "--trace", trace.path, "read", "name:Band-7", "2a19", "--json")
    #expect(result.status == 0 && !result.lines.isEmpty, "\(result.errors)")
  }
}
