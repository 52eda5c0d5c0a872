import Foundation
import Glibc
import TestSupport

/// `sim --listen` with clients that are killed, send invalid data, or flood. Others do not notice, and nothing remains.
@Suite(.timeLimit(.minutes(15))) struct SimListenHostileTests {
  private static func isWhole(_ air: ListeningAir) throws {
    let scan = try air.blectl("scan", "--count", "8", "--duration", "60", "--json")
    #expect(scan.status == 0, "\(scan.errors)")
    #expect(try Set(scan.records.compactMap { $0.string("address") }).count == 4)
    #expect(try air.blectl("read", "name:Band-7", "2a19", "-t", "60").text.hasPrefix("3c"))
  }

  /// Clients and the output after which they are killed with SIGKILL.
  @Test(arguments: [
    (["scan", "--duration", "0", "--duplicates", "--json"], "advertisement"),
    (["connect", "AA:AA:AA:AA:AA:AA/public", "-v"], "Connecting to"), (["connect", "name:Band-7", "-v"], "Connecting to"),
    (["notify", "name:Band-7", "2a37", "--json"], "notification"), (["connect", "name:Band-7", "-", "--json"], "connected"),
    (["services", "name:Band-7", "-v"], "Connecting to"),
    (["send-file", "name:Panel", "fff6", "FILE", "--gap", "5", "--json"], "progress"),
  ])
  func aClientIsKilled(_ arguments: [String], _ when: String) throws {
    let file = try TemporaryFolder.file(Bytes.picture(500_000))
    let air = try ListeningAir()
    let client = try Blectl.start(arguments.map { $0 == "FILE" ? file : $0 }, adapter: air.adapter, virtual: false)
    #expect(client.waitForOutput(containing: when))
    client.end(by: SIGKILL)
    #expect(try air.client("disconnected")?.int("clients") == 0)
    // Its links end like those of an unplugged adapter: after the supervision timeout the device is free again.
    try Self.isWhole(air)
    #expect(air.end().status == 130)
  }

  @Test func nonsenseEndsThatClientOnly() throws {
    let air = try ListeningAir()
    let other = try air.start("notify", "name:Band-7", "2a37", "--json")
    #expect(other.waitForOutput(containing: "notification"))
    for (bytes, isNoted) in [
      (Array("GET / HTTP/1.0\r\n\r\n".utf8), true), (SimListenTests.resetCommand + [0x77], true), ([4, 0x0E, 4, 1, 3, 0x0C, 0], true),
      // Half a command; half of the longest data packet; invalid commands, too short or too long; and data for no link.
      ([1, 3], false), ([2, 0x40, 0, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 60_000), false), ([1, 0xFF, 0xFF, 0], false),
      ([1, 0x0C, 0x20, 1, 1], false), ([1, 3, 0x0C, 3, 1, 2, 3], false), ([2, 0x40, 0, 2, 0, 1, 2], false), ([2, 0, 0, 0, 0], false),
    ] as [([UInt8], Bool)] {
      let client = try RawClient(air.path)
      try client.send(bytes)
      // The air closes the connection after invalid H4.
      if isNoted { _ = client.readToEnd() }
    }
    #expect(air.process.waitForOutput(containing: "does not send H4 packets", times: 3))
    let seen = other.outputCount
    #expect(other.waitForOutput(after: seen) { $0.contains("notification") })
    other.end(by: SIGKILL)
    try Self.isWhole(air)
    _ = air.end()
  }

  /// A client that sends endless commands and reads no answers is no longer read. It costs no memory, and delays no other client.
  @Test func aFloodIsHeldBack() throws {
    let air = try ListeningAir()
    let flooder = try RawClient(air.path)
    try flooder.send(SimListenTests.resetCommand)
    _ = try flooder.read(7)
    // LE Meta events enabled; active scanning for everything; Read Local Supported Commands, whose answer is longest.
    try flooder.send([1, 1, 0x0C, 8] + [UInt8](repeating: 0xFF, count: 8) + [1, 0x0B, 0x20, 7, 1, 0x10, 0, 0x10, 0, 0, 0])
    try flooder.send([1, 0x0C, 0x20, 2, 1, 0])
    let start = try #require(air.process.peakMemory)
    var total = 0
    let commands = [[UInt8]](repeating: [1, 2, 0x10, 0], count: 1000).flatMap { $0 }
    for _ in 0..<5 {
      total += flooder.fill(with: commands)
      // The others are still served.
      #expect(try air.blectl("read", "name:Band-7", "2a19").status == 0)
    }
    // The size of the sockets' buffers, and no more.
    #expect(total < 4 << 20, "\(total)")
    let end = try #require(air.process.peakMemory)
    #expect(end < start + 8192, "\(start) kB, then \(end) kB")
    #expect(air.process.isRunning)
    try Self.isWhole(air)
    _ = air.end()
  }

  /// When descriptors run out, connected clients continue. Others wait until some are free again.
  @Test func descriptorsRunOut() throws {
    let file = TemporaryPath()
    let air = try RunningProcess(
      ["/bin/bash", "-c", "ulimit -n 16; exec \(Blectl.path) sim --stay --json --listen unix:\(file.path)"],
      environment: ["PATH": "/usr/bin:/bin", "HOME": "/dev/null"], hasInput: false)
    #expect(air.waitForOutput(containing: "listening"))
    var clients = try (0..<20).map { _ in try RawClient(file.path) }
    #expect(air.waitForOutput(containing: " for now: Too many open files (EMFILE)"))
    try clients[0].send(SimListenTests.resetCommand)
    #expect(try clients[0].read(7) == SimListenTests.resetComplete)
    let last = clients.removeLast()
    clients = []
    try last.send(SimListenTests.resetCommand)
    #expect(try last.read(7) == SimListenTests.resetComplete)
    let result = air.end(by: SIGTERM)
    #expect(result.status == 143 && result.errors.components(separatedBy: "EMFILE").count == 2, "\(result.errors)")
  }
}
