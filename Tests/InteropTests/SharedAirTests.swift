import Foundation
import Glibc
import TestSupport

/// `sim --listen` with Bumble's host and blectl's as clients: two independent stacks in one air.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SharedAirTests {
  /// The devices of the tests, with values that are stored and a value that is notified.
  static let devices = """
    [{"name": "Board", "address": "D1:00:00:00:02:01/random", "advertisement": {"flags": 6, "name": "Board"}, "interval_ms": 40,
      "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "fff1", "properties": ["read", "write", "write_without_response"], "value": "00"},
        {"uuid": "fff2", "properties": ["notify"], "periodic": {"every_ms": 50, "values": ["01", "02", "03"]}}]}]},
     {"name": "Other", "address": "D1:00:00:00:02:02/random", "advertisement": {"flags": 6, "name": "Other"}, "interval_ms": 40,
      "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "fff1", "properties": ["read", "write", "write_without_response"], "value": "00"},
        {"uuid": "fff2", "properties": ["notify"], "periodic": {"every_ms": 50, "values": ["01", "02", "03"]}}]}]}]
    """
  static let (board, other) = ("D1:00:00:00:02:01", "D1:00:00:00:02:02")

  /// The shared air, with the names that blectl and Bumble use for it.
  private final class Air {
    let process: RunningProcess
    let adapter: String
    let transport: String
    private let path = TemporaryPath()

    init(tcp: Bool) throws {
      let file = try TemporaryFolder.file(SharedAirTests.devices)
      process = try Blectl.start(
        ["sim", "--stay", "--json", "--listen", tcp ? "tcp:127.0.0.1:0" : "unix:\(path.path)", file], hasInput: false)
      guard let line = process.nextLine(where: { $0.contains("listening") }), let address = try Record(line).string("address") else {
        throw BumbleClient.Failed(text: process.wait().errors)
      }
      adapter = address
      transport = tcp ? "tcp-client:" + address.dropFirst(4) : address
    }

    func blectl(_ arguments: String...) throws -> Blectl.Result { try Blectl.run(arguments, adapter: adapter, virtual: false) }

    func end() -> Int32 {
      return process.end(by: SIGTERM).status
    }
  }

  @Test(arguments: [true, false]) func bothUseTheSameDevices(tcp: Bool) throws {
    let air = try Air(tcp: tcp)
    let bumble = try BumbleClient(air.transport)
    #expect(bumble.address == "00:00:5E:00:53:01")
    #expect(try bumble.ask("scan").strings("addresses") == [Self.board, Self.other])
    let link = try bumble.ask("connect \(Self.board)")
    #expect(link.int("mtu") == 517 && (link.int("characteristics") ?? 0) >= 2)
    // Bumble has one device and blectl the other, both with notifications at the same time.
    let listening = try Blectl.start(["notify", Self.other, "fff2", "--json"], adapter: air.adapter, virtual: false)
    #expect(listening.waitForOutput(containing: "notification"))
    try bumble.ask("subscribe fff2")
    #expect(try (0..<6).compactMap { _ in try bumble.next("value")?.string("value") }.map { Int($0) ?? 0 }.reduce(0, +) == 12)
    #expect(try bumble.ask("read fff1").string("value") == "00")
    try bumble.ask("write fff1 c0ffee")
    #expect(try bumble.ask("read fff1").string("value") == "c0ffee")
    #expect(try bumble.ask("link").int("rssi") ?? 0 < 0)
    // No other client sees the device while it is connected.
    #expect(try air.blectl("scan", "--duration", "0.5", "--json").records.isEmpty)
    try bumble.ask("disconnect")
    #expect(try air.blectl("read", Self.board, "fff1", "--json").records.first?.string("value") == "c0ffee")
    #expect(try air.blectl("write", Self.board, "fff1", "0123456789").status == 0)
    let seen = listening.outputCount
    #expect(listening.waitForOutput(after: seen) { $0.contains("notification") })
    #expect(listening.end(by: SIGINT).status == 130)
    // The same with the devices exchanged.
    try bumble.ask("connect \(Self.other)")
    try bumble.ask("command fff1 ffff")
    #expect(try bumble.ask("read fff1").string("value") == "ffff")
    try bumble.ask("disconnect")
    try bumble.ask("connect \(Self.board)")
    #expect(try bumble.ask("read fff1").string("value") == "0123456789")
    bumble.end()
    #expect(air.end() == 143)
  }

  /// The link of a killed host ends like that of an unplugged adapter, and the device is available again.
  @Test func aKilledHostFreesItsDevice() throws {
    let air = try Air(tcp: true)
    let bumble = try BumbleClient(air.transport)
    try bumble.ask("connect \(Self.board)")
    try bumble.ask("subscribe fff2")
    #expect(try bumble.next("value") != nil)
    bumble.process.end(by: SIGKILL)
    let read = try air.blectl("read", Self.board, "fff1", "-t", "60")
    #expect(read.status == 0, "\(read.errors)")
    #expect(air.end() == 143)
  }
}
