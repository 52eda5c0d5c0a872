import Foundation
import Glibc
import TestSupport
import Traces

/// `sim --listen` shares one air among many clients, in real time.
@Suite(.timeLimit(.minutes(15))) struct SimListenTests {
  static let resetCommand: [UInt8] = [1, 3, 0x0C, 0]
  static let resetComplete: [UInt8] = [4, 0x0E, 4, 1, 3, 0x0C, 0]

  /// Creates devices with a value to read and write, and one that is notified.
  static func notes(_ count: Int) throws -> String {
    let devices = (1...count).map { number in
      let byte = String(number, radix: 16)
      return """
        {"name": "Note-\(number)", "address": "D1:00:00:00:01:\(byte.count == 1 ? "0" + byte : byte)/random",
         "advertisement": {"flags": 6, "name": "Note-\(number)"}, "interval_ms": 40,
         "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff1", "properties": ["read", "write"], "value": "00"}]}]}
        """
    }
    return try TemporaryFolder.file("[\(devices.joined(separator: ","))]")
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  // MARK: Its life

  /// Every command works in the air, in sequence, and a value written by one can be read by another.
  @Test(arguments: [false, true]) func everyCommandWorks(tcp: Bool) throws {
    let air = try ListeningAir([try Self.notes(2)], tcp: tcp)
    let scan = try air.blectl("scan", "--count", "4", "--json")
    #expect(scan.status == 0, "\(scan.errors)")
    #expect(try Set(scan.records.compactMap { $0.string("name") }) == ["Note-1", "Note-2"])
    #expect(try air.blectl("connect", "name:Note-1", "--json").records.first?.string("event") == "connected")
    #expect(try air.blectl("services", "name:Note-1", "--json").records.contains { $0.string("uuid") == "fff0" })
    #expect(try air.blectl("write", "name:Note-1", "fff1", "c0ffee").status == 0)
    #expect(try air.blectl("read", "name:Note-1", "fff1", "--json").records.first?.string("value") == "c0ffee")
    #expect(try air.blectl("read", "name:Note-2", "fff1", "--json").records.first?.string("value") == "00")
    let adapter = try #require(try air.blectl("adapters", "--json").records.first)
    #expect(adapter.string("address") == "00:00:5E:00:53:01" && adapter.string("bus") == (tcp ? "tcp" : "unix"))
    #expect(air.end().status == 130)
  }

  @Test func thePresetsAreInItAndFilesArrive() throws {
    let air = try ListeningAir()
    #expect(try air.blectl("mac-from-adv", "D1:00:00:00:00:01", "--json").records.first?.string("mac") == "A4:C1:38:00:11:22")
    #expect(try air.blectl("notify", "name:Band-7", "2a37", "--count", "2", "--json").records.count == 2)
    let sent = try air.blectl("send-file", "name:Panel", "fff6", "-", "--verify", "notify:fff7", "--json", input: Bytes.picture(10_000))
    #expect(try sent.records.last?.bool("verified") == true, "\(sent.errors)")
  }

  @Test func itEndsWithItsClients() throws {
    let air = try ListeningAir(["--once"])
    // A program that only checks for a listener is no client.
    do { _ = try RawClient(air.path) }
    let first = try air.start("notify", "name:Band-7", "2a37", "--json")
    #expect(first.waitForOutput(containing: "notification"))
    #expect(try air.blectl("read", "D1:00:00:00:00:01", "2a00").status == 0)
    #expect(air.process.isRunning && Self.exists(air.path))
    #expect(first.end(by: SIGINT).status == 130)
    let result = air.process.wait()
    #expect(result.status == 0 && !Self.exists(air.path), "\(result.errors)")
    let clients = try result.records.filter { $0.string("event") == "client" }
    #expect(clients.map { $0.string("state") } == ["connected", "connected", "disconnected", "disconnected"])
    #expect(clients.map { $0.int("clients") } == [1, 2, 1, 0])
    #expect(Set(clients.compactMap { $0.string("address") }).count == 2)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalRemovesTheSocket(_ signal: Int32) throws {
    let air = try ListeningAir()
    let client = try air.start("notify", "name:Band-7", "2a37", "--json")
    #expect(client.waitForOutput(containing: "notification"))
    #expect(air.end(signal).status == 128 + signal)
    #expect(!Self.exists(air.path))
    let lost = client.wait()
    #expect(lost.status == 3 && lost.errors.contains("the controller closed the connection"), "\(lost.errors)")
  }

  @Test func aStaleSocketIsReplacedAndALivingOneIsNot() throws {
    let file = TemporaryPath()
    let arguments = ["sim", "--listen", "unix:\(file.path)"]
    let killed = try Blectl.start(arguments, hasInput: false)
    #expect(
      killed.waitForOutput(
        containing: "Listening on unix:\(file.path). Press Ctrl-C to stop. Try: BLECTL_ADAPTER="
          + "unix:\(file.path) blectl scan"))
    killed.end(by: SIGKILL)
    #expect(Self.exists(file.path))
    let next = try Blectl.start(arguments + ["--once"], hasInput: false)
    #expect(next.waitForOutput(containing: "Listening on"))
    let third = try Blectl.run(arguments + ["--json"])
    #expect(third.status == 3 && third.error?.string("name") == "eaddrinuse", "\(third.errors)")
    #expect(third.error?.string("message")?.contains("another program already listens there") == true)
    #expect(try Blectl.run(["scan", "--count", "1"], adapter: "unix:\(file.path)", virtual: false).status == 0)
    #expect(next.wait().status == 0 && !Self.exists(file.path))
  }

  @Test func wrongUse() throws {
    let file = try TemporaryFolder.file([1])
    for (arguments, status, mention) in [
      (["sim"], 64, "--listen"), (["sim", "--listen", "serial:/dev/x"], 64, "tcp:HOST:PORT or unix:PATH"),
      (["sim", "-i", "sim", "--listen", "unix:/tmp/x"], 64, "takes no --adapter"), (["sim", "--listen", "/tmp/x"], 64, "/tmp/x"),
      (["sim", "--listen", "unix:\(file)"], 3, "this file is not a socket"),
      (["sim", "--listen", "tcp:127.0.0.1:0", "/nonexistent"], 66, "/nonexistent"),
      (["sim", "--listen", "tcp:192.0.2.1:0"], 3, "this computer does not have this address"),
      (["sim", "--listen", "tcp:127.0.0.1:0", file], 66, file),
      (["sim", "--listen", "unix:/nowhere/at/all"], 3, "no such folder"),
    ] {
      let result = try Blectl.run(arguments, adapter: nil)
      #expect(result.status == Int32(status) && result.errors.contains(mention), "\(arguments): \(result.status) \(result.errors)")
    }
  }

  /// One air serves all addresses or none: if one fails, the sockets made before it are removed.
  @Test func severalAddresses() throws {
    let (file, second) = (TemporaryPath(), TemporaryPath())
    let air = try ListeningAir(["--listen", "tcp:localhost:0", "--listen", "unix:\(file.path)", try Self.notes(1)])
    let tcp = try #require(try air.process.nextLine { $0.contains("tcp:localhost:") }.map { try Record($0) }?.string("address"))
    #expect(try air.blectl("write", "name:Note-1", "fff1", "aa").status == 0)
    for adapter in [tcp, "unix:\(file.path)"] {
      let read = try Blectl.run(["read", "name:Note-1", "fff1", "--json"], adapter: adapter, virtual: false)
      #expect(try read.records.first?.string("value") == "aa", "\(read.errors)")
    }
    let failed = try Blectl.run(["sim", "--listen", "unix:\(second.path)", "--listen", tcp])
    #expect(failed.status == 3 && failed.errors.contains("EADDRINUSE") && !Self.exists(second.path), "\(failed.errors)")
    _ = air.end()
    #expect(!Self.exists(file.path) && !Self.exists(air.path))
  }

  /// The trace has the traffic of all its controllers in real time, with a different handle for each link.
  @Test func theTraceHoldsEveryClient() throws {
    let trace = TemporaryPath()
    let air = try ListeningAir(["--trace", trace.path])
    let client = try air.start("notify", "name:Band-7", "2a37", "--json")
    #expect(client.waitForOutput(containing: "notification"))
    #expect(try air.blectl("read", "D1:00:00:00:00:01", "2a00").status == 0)
    #expect(air.end().status == 130)
    let records = try Snoop.parse(Array(Data(contentsOf: URL(fileURLWithPath: trace.path))))
    #expect(records.count { $0.packet == Self.resetCommand && $0.direction == .hostToController } == 2)
    let handles = Set(records.filter { $0.packet.first == 2 }.map { UInt16($0.packet[1]) | UInt16($0.packet[2] & 0x0F) << 8 })
    #expect(handles == [0x40, 0x48])
    // Virtual time would be at the start of 2026, as BLECTL_CLOCK=virtual requests here.
    #expect(records.allSatisfy { abs($0.wallClock / 1_000_000_000 - Int64(Date().timeIntervalSince1970)) < 3600 })
  }

  // MARK: Many

  /// Each client has its own link, all at the same time, and they see each other's devices.
  @Test func twentyClientsAtOnce() throws {
    let air = try ListeningAir([try Self.notes(20)])
    let scans = try (1...20).map { _ in try air.start("scan", "--count", "40", "--duration", "60", "--json") }
    for scan in scans {
      let result = scan.wait()
      #expect(result.status == 0, "\(result.errors)")
      #expect(try Set(result.records.compactMap { $0.string("name") }).count == 20)
    }
    let links = try (1...20).map { try air.start("connect", "name:Note-\($0)", "-", "--json", "-t", "60") }
    for link in links { #expect(link.waitForOutput(containing: #""event":"connected""#)) }
    // All are connected, so none advertises.
    #expect(try air.blectl("scan", "--duration", "0.5", "--json").records.isEmpty)
    for link in links { link.endInput() }
    #expect(links.allSatisfy { $0.wait().status == 0 })
    let writes = try (1...20).map { try air.start("write", "name:Note-\($0)", "fff1", "0\(100 + $0)", "--read-back", "-t", "60") }
    #expect(writes.map { $0.wait() }.allSatisfy { $0.status == 0 })
    for number in [1, 20] {
      #expect(try air.blectl("read", "name:Note-\(number)", "fff1", "--json").records.first?.string("value") == "0\(100 + number)")
    }
    _ = air.end()
  }

  /// Two programs keep their links. A value written by one is read by the other, once it has the device.
  @Test func twoSessions() throws {
    let air = try ListeningAir(["--once", try Self.notes(2)])
    let sessions = try (1...2).map { _ in try air.start("repl", "--json") }
    func status(_ session: RunningProcess, _ line: String) throws -> Int? {
      session.send(line: line)
      return try session.nextLine { $0.contains(#""event":"done""#) }.flatMap { try Record($0).int("status") }
    }
    for (number, session) in zip(1..., sessions) {
      #expect(try status(session, "connect name:Note-\(number)") == 0)
      #expect(try status(session, "write fff1 0\(number)") == 0)
    }
    #expect(try status(sessions[1], "connect name:Note-1 -t 1") == 2)
    #expect(try status(sessions[0], "disconnect") == 0)
    #expect(try status(sessions[1], "connect name:Note-1 -t 60") == 0)
    sessions[1].send(line: "read fff1")
    #expect(try sessions[1].nextLine { $0.contains(#""event":"value""#) }.flatMap { try Record($0).string("value") } == "01")
    for session in sessions { session.endInput() }
    #expect(sessions.map { $0.wait().status } == [0, 2])
    #expect(air.process.wait().status == 0)
  }

  /// A device accepts one link. The second client does not see it until it is free.
  @Test func twoContend() throws {
    let air = try ListeningAir([try Self.notes(1)])
    let first = try air.start("connect", "name:Note-1", "-", "--json")
    #expect(first.waitForOutput(containing: #""event":"connected""#))
    let hidden = try air.blectl("read", "name:Note-1", "fff1", "-t", "1")
    #expect(hidden.status == 2, "\(hidden.errors)")
    let second = try air.start("read", "name:Note-1", "fff1", "--wait", "-t", "60", "-v")
    #expect(second.waitForOutput(containing: "Looking for"))
    #expect(first.finish().status == 0)
    #expect(second.wait().status == 0)
    _ = air.end()
  }
}
