import ArgumentParser
import Glibc
import Terminal
import TestSupport

import class Program.Shell

@testable import CommandLine
@testable import Presentation
@testable import Program
@testable import blectl

/// `rssi`, `params` and `mtu` on a link that stays open.
@Suite(.timeLimit(.minutes(15))) struct LinkCommandTests {
  /// A session in the simulator, with the output of its commands.
  @LoopActor private final class Terminal {
    let process: ProcessContext
    private let shell: Shell
    private var devices: [String: SessionDevice] = [:]
    private let ends: [Int32]

    init(json: Bool = true) throws {
      var ends: [Int32] = [-1, -1]
      _ = unsafe pipe(&ends)
      for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
      self.ends = ends
      let configuration = Configuration(environment: ["BLECTL_ADAPTER": "sim"])
      let command = try MTU.parse(["name:panel", "-v"] + (json ? ["--json"] : []))
      process = ProcessContext(
        command.process, Output(command.outputStyle, out: ends[1], err: ends[1], environment: { _ in nil }), configuration,
        Blectl.commands)
      shell = Shell(process)
    }

    isolated deinit { for end in ends { close(end) } }

    func connect(_ name: String) async throws -> Connection {
      let match = try await process.session.central().find(PeerSearch(.name(name), takesFirst: true))
      let connection = try await process.session.connect(match.peer, name: match.name, foundBy: .name(name)) { _ in }
      devices["name:\(name)"] = shell.adopt(connection, as: .name(name))
      return connection
    }

    /// - Returns: The output of both streams together.
    func run(_ type: any LoopCommand.Type, _ words: String...) async throws -> [String] {
      let command = try #require(try type.parseAsRoot(words) as? any LoopCommand)
      let links = SessionLinks(shell, devices[words.first ?? ""], .none, LinkText(process, process.output), nil)
      let context = Context(process, command.step, process.output, .person, links, nil)
      do { try await command.run(in: context) } catch {
        _ = try await printed()
        throw error
      }
      return try await printed()
    }

    private func printed() async throws -> [String] {
      try await process.output.flush(until: nil)
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe read(ends[0], &buffer, buffer.count)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  @Test(.onLoop) @LoopActor func mtu() async throws {
    let shell = try Terminal()
    let panel = try await shell.connect("panel")
    let before = try Record(try #require(try await shell.run(MTU.self, "name:panel").last))
    #expect(before.int("mtu") == 23 && before.bool("exchanged") == false && before.string("name") == "Panel")
    let agreed = try await shell.run(MTU.self, "name:panel", "300")
    #expect(agreed.first?.contains("The device agreed to an MTU of 247, not 300.") == true)
    #expect(try Record(agreed.last ?? "").int("mtu") == 247 && panel.client.mtu == 247)
    // The MTU can be exchanged once. A request for the current MTU changes nothing.
    #expect(try await shell.run(MTU.self, "name:panel", "247").count == 1)
    let error = try #require(await #expect(throws: Failure.self) { try await shell.run(MTU.self, "name:panel", "100") })
    #expect(error.kind == .usage && error.message.contains("The MTU is 247 already") && error.message.contains("--mtu 100"))
    #expect(panel.client.mtu == 247 && shell.process.session.connections.count == 1)
    #expect(throws: (any Error).self) { try MTU.parse(["name:panel", "22"]) }
    await shell.process.session.close()
  }

  @Test(.onLoop) @LoopActor func params() async throws {
    let shell = try Terminal()
    _ = try await shell.connect("panel")
    let before = try Record(try #require(try await shell.run(Params.self, "name:panel").last))
    #expect(before.string("event") == "link" && before.string("phy") == "1m" && before.int("rssi") != nil)
    let after = try await shell.run(Params.self, "name:panel", "--interval", "50", "--phy", "2m", "--data-length", "100")
    let record = try Record(try #require(after.last))
    #expect(record.double("interval_ms") == 50 && record.string("phy") == "2m" && record.int("data_length") == 100, "\(after)")
    #expect(record.double("supervision_timeout_ms") == 4000 && record.int("latency") == 0)
    #expect(after.dropLast().count == 3 && after.allSatisfy { !$0.contains("not ") }, "\(after)")
    // A second look shows the same values: they stay.
    #expect(try Record(try await shell.run(Params.self, "name:panel").last ?? "").double("interval_ms") == 50)
    // The lock has one PHY. The refusal ends the command before its other changes.
    _ = try await shell.connect("gatelock")
    await #expect(throws: (any Error).self) { try await shell.run(Params.self, "name:gatelock", "--phy", "coded", "--interval", "50") }
    let lock = try Record(try await shell.run(Params.self, "name:gatelock").last ?? "")
    #expect(lock.string("phy") == "1m" && lock.double("interval_ms") != 50)
    await shell.process.session.close()
  }

  @Test(.onLoop) @LoopActor func paramsForTheEye() async throws {
    let shell = try Terminal(json: false)
    _ = try await shell.connect("panel")
    let lines = try await shell.run(Params.self, "name:panel")
    #expect(
      lines.first == "Connection to D1:00:00:00:00:10/random (Panel)" && lines.contains("  PHY: 1m") && lines.contains("  MTU: 23 bytes"),
      "\(lines)")
    #expect(try await shell.run(Rssi.self, "name:panel").first?.hasSuffix(" dBm") == true)
    #expect(try await shell.run(MTU.self, "name:panel") == ["23 bytes, not exchanged on this connection"])
    await shell.process.session.close()
  }

  @Test(.onLoop) @LoopActor func rssi() async throws {
    let shell = try Terminal()
    let panel = try await shell.connect("panel")
    let once = try await shell.run(Rssi.self, "name:panel")
    #expect(once.count == 1)
    #expect((-60 ... -40).contains(try Record(once[0]).int("rssi") ?? 0))
    let begin = EventLoop.shared.now
    let readings = try await shell.run(Rssi.self, "name:panel", "-n", "5", "--every", "2")
    #expect(readings.count == 5 && (8..<9).contains(begin.duration(to: EventLoop.shared.now).components.seconds))
    // Unlimited until the link is lost.
    EventLoop.shared.schedule(after: .seconds(10)) { EventLoop.shared.spawn { await panel.link.disconnect() } }
    await #expect(throws: (any Error).self) { try await shell.run(Rssi.self, "name:panel", "--every", "3600") }
    #expect(begin.duration(to: EventLoop.shared.now) < .seconds(25))
    #expect(throws: (any Error).self) { try Rssi.parse(["name:panel", "--every", "0"]) }
    await shell.process.session.close()
  }
}
