import Foundation
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLEDeviceFiles

/// Tests commands of device files on a link over the simulated air.
@Suite(.timeLimit(.minutes(15))) struct DeviceCallTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("man/examples")

  private static func text(_ file: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
  }

  @LoopActor
  private func withDevice(
    _ text: String, _ name: String, _ body: @LoopActor (Connection, DeviceDescription) async throws -> Void
  ) async throws {
    let air = try await TestAir(text)
    let session = Session { air.central }
    let match = try await air.central.find(PeerSearch(.name(name), takesFirst: true))
    let connection = try await session.connect(match.peer, name: match.name)
    connection.payloads = match.payloads
    try await body(connection, try DeviceFile.parse(Array(text.utf8), name: "test"))
    await session.close()
  }

  @LoopActor
  private func start(
    _ name: String, _ values: [NamedValue] = [], _ connection: Connection, _ device: DeviceDescription
  ) throws -> Task<Result<[NamedValue], any Error>, Never> {
    let command = try #require(device.command(name))
    return EventLoop.shared.spawn {
      do { return .success(try await connection.call(command, values, of: device).values) } catch { return .failure(error) }
    }
  }

  /// Simultaneous calls on one link run in sequence, and each gets its own answer.
  @Test(.onLoop) @LoopActor func whoeverAsks() async throws {
    try await self.withDevice(try Self.text("tracker.json"), "Tracker") { connection, device in
      var calls: [Task<Result<[NamedValue], any Error>, Never>] = []
      for number in 0..<12 {
        let span = DeviceValue.object([NamedValue("hour", .integer(Int128(number))), NamedValue("minutes", .integer(7))])
        let values = number % 2 == 0 ? [NamedValue("spans", .list([span]))] : []
        calls.append(try self.start(number % 2 == 0 ? "contacts" : "battery", values, connection, device))
      }
      for (number, call) in calls.enumerated() {
        let values = try await call.value.get()
        if number % 2 == 1 {
          #expect(values["level"] == .integer(80))
        } else {
          #expect(values["spans"]?.plainText == "hour \(number), minutes 7")
        }
      }
    }
  }

  /// A cancelled call leaves the queue to the next one.
  @Test(.onLoop) @LoopActor func aCancelledCall() async throws {
    try await self.withDevice(try Self.text("tracker.json"), "Tracker") { connection, device in
      let long = try self.start("position", [], connection, device)
      try await EventLoop.shared.sleep(for: .milliseconds(500))
      let waiting = try self.start("battery", [], connection, device)
      let next = try self.start("battery", [], connection, device)
      try await EventLoop.shared.sleep(for: .milliseconds(10))
      waiting.cancel()
      long.cancel()
      #expect(try await next.value.get()["level"] == .integer(80))
      for cancelled in [long, waiting] {
        let result = await cancelled.value
        #expect(throws: CancellationError.self) { try result.get() }
      }
    }
  }

  private static let slow = #"""
    {"device": "Slow", "match": {"name": "Slow", "manufacturer_data": {"0305": "07"}}, "to": "ff02", "from": "ff01",
     "commands": {"go": {"request": {"header": "01"}, "answer": {"frame": {"header": "02", "fields": [{"name": "n", "type": "u8"}]}, "within_ms": 300}},
       "quiet": {"request": {"header": "03"}, "answer": {"frame": {"fields": [{"name": "data", "type": "bytes"}]}, "silence_ms": 100, "within_ms": 300}}},
     "simulate": {"name": "Slow", "address": "D1:00:00:00:00:09/random", "advertisement": {"name": "Slow", "manufacturer_data": {"0305": "0708"}},
       "variables": {"n": 0},
       "services": [{"uuid": "fff0", "characteristics": [{"uuid": "ff01", "properties": ["indicate"]}, {"uuid": "ff02", "properties": ["write"]}]}],
       "answers": {"go": [{"count": "n"}, {"send": "answer", "values": {"n": {"variable": "n"}}, "after_ms": 400}],
         "quiet": [{"indicate": "ff01", "value": "0a", "after_ms": 250}, {"indicate": "ff01", "value": "0b", "after_ms": 90}, {"indicate": "ff01", "value": "0c", "after_ms": 150}]}}}
    """#

  /// If answers do not show which command they belong to, their order decides.
  @Test(.onLoop) @LoopActor func answersThatAreAllAlike() async throws {
    try await self.withDevice(Self.slow, "Slow") { connection, device in
      let go = try #require(device.command("go"))
      let calls = (0..<4).map { _ in
        EventLoop.shared.spawn { () -> Result<DeviceAnswer, any Error> in
          do { return .success(try await connection.call(go, [], of: device, within: .seconds(1))) } catch { return .failure(error) }
        }
      }
      for (number, call) in calls.enumerated() {
        let answer = try await call.value.get()
        #expect(answer.values == [NamedValue("n", .integer(Int128(number + 1)))] && answer.refused == RefusedPackets())
      }
    }
  }

  /// The answer to an abandoned command is not taken for the next one's, although they look alike.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func tooEarly(_ isCancelled: Bool) async throws {
    try await self.withDevice(Self.slow, "Slow") { connection, device in
      let go = try #require(device.command("go"))
      // Discover first, so that the calls need no requests for that.
      _ = try await connection.client.discover()
      let first = EventLoop.shared.spawn {
        _ = try? await connection.call(go, [], of: device, within: isCancelled ? .milliseconds(500) : .milliseconds(200))
      }
      if isCancelled {
        try await EventLoop.shared.sleep(for: .milliseconds(250))
        first.cancel()
      }
      await first.value
      let answer = try await connection.call(go, [], of: device, within: .seconds(1))
      #expect(answer.values == [NamedValue("n", .integer(2))])
      #expect(answer.refused.first == [RefusedPacket([0x02, 0x01], .early)])
      // A missing answer is waited for only up to a limit.
      _ = try? await connection.call(try #require(device.command("quiet")), [], of: device, within: .milliseconds(10))
      try await EventLoop.shared.sleep(for: .seconds(1))
      let begin = EventLoop.shared.now
      #expect(try await connection.call(go, [], of: device, within: .seconds(1)).values == [NamedValue("n", .integer(3))])
      #expect(begin.duration(to: EventLoop.shared.now) < .milliseconds(600))
    }
  }

  /// A device that answers after 400 ms: `go` and `other` from two characteristics, `count` with its own number.
  private static let several = #"""
    {"device": "Several", "match": {"name": "Slow"}, "to": "ff02", "from": "ff01",
     "commands": {"go": {"request": {"header": "01", "fields": [{"name": "n", "type": "u8"}]}, "answer": {"frame": {"header": "02", "fields": [{"name": "v", "type": "u8"}]}, "within_ms": 900}},
       "other": {"request": {"header": "03"}, "answer": {"from": "ff03", "frame": {"header": "02", "fields": [{"name": "v", "type": "u8"}]}, "within_ms": 900}},
       "count": {"request": {"header": "05", "fields": [{"name": "id", "type": "u8"}]}, "counter": "id", "answer": {"frame": {"header": "02", "fields": [{"name": "id", "type": "u8"}]}, "echo": ["id"], "within_ms": 900}},
       "lost": {"to": "aaaa", "request": {"header": "01"}, "answer": {"frame": {"header": "02", "fields": [{"name": "v", "type": "u8"}]}, "within_ms": 9000}}},
     "simulate": {"name": "Slow", "address": "D1:00:00:00:00:09/random", "advertisement": {"name": "Slow"},
       "services": [{"uuid": "fff0", "characteristics": [{"uuid": "ff01", "properties": ["notify"]}, {"uuid": "ff02", "properties": ["write"]}, {"uuid": "ff03", "properties": ["notify"]}]}],
       "answers": {"go": {"values": {"v": {"parameter": "n"}}, "after_ms": 800}, "other": {"values": {"v": 9}}, "count": {"values": {}, "after_ms": 10}}}}
    """#

  /// Another command does not erase an abandoned one, which delays only commands with a similar answer.
  @Test(.onLoop) @LoopActor func whatIsWaitedFor() async throws {
    try await self.withDevice(Self.several, "Slow") { connection, device in
      let (go, other) = (try #require(device.command("go")), try #require(device.command("other")))
      let (count, lost) = (try #require(device.command("count")), try #require(device.command("lost")))
      _ = try await connection.client.discover()
      func giveUp() async { _ = try? await connection.call(go, [NamedValue("n", .integer(1))], of: device, within: .milliseconds(500)) }
      func time(_ command: DeviceCommand, _ values: [NamedValue] = []) async throws -> (DeviceAnswer, Duration) {
        let begin = EventLoop.shared.now
        let answer = try await connection.call(command, values, of: device)
        return (answer, begin.duration(to: EventLoop.shared.now))
      }
      await giveUp()
      let first = try await time(other)
      #expect(first.0.values == [NamedValue("v", .integer(9))] && first.1 < .milliseconds(300))
      let second = try await time(go, [NamedValue("n", .integer(2))])
      #expect(second.0.values == [NamedValue("v", .integer(2))])
      await giveUp()
      let third = try await time(count)
      #expect(third.1 < .milliseconds(300), "\(third.1)")
      try await EventLoop.shared.sleep(for: .seconds(2))
      // A command that was never written has no answer to wait for.
      await #expect(throws: (any Error).self) { try await connection.call(lost, [], of: device) }
      let fourth = try await time(go, [NamedValue("n", .integer(3))])
      #expect(fourth.0.values == [NamedValue("v", .integer(3))] && fourth.1 < .milliseconds(1100), "\(fourth.1)")
    }
  }

  @Test(.onLoop) @LoopActor func silenceEndsAnAnswer() async throws {
    try await self.withDevice(Self.slow, "Slow") { connection, device in
      let answer = try await connection.call(try #require(device.command("quiet")), [], of: device)
      #expect(answer.packets == [[0x0A], [0x0B]])
    }
  }

  @Test(.onLoop) @LoopActor func whatFits() async throws {
    try await self.withDevice(Self.slow, "Slow") { connection, device in
      func check(_ match: DeviceMatch, _ wanted: Bool) async throws {
        var other = device
        other.match = match
        let fitting = try await connection.fitting([other])
        #expect(fitting.isEmpty != wanted, "\(match)")
      }
      try await check(device.match, true)
      var match = DeviceMatch()
      try await check(match, false)
      match.services = [UUID(0xFFF0)]
      try await check(match, true)
      match.services = [UUID(0xFFF0), UUID(0xFFF1)]
      try await check(match, false)
      match.services = []
      match.manufacturerData = [.init(company: 0x305, prefix: [7, nil])]
      try await check(match, true)
      match.manufacturerData = [.init(company: 0x305, prefix: [8])]
      try await check(match, false)
      match.names = ["slow"]
      connection.payloads = []
      try await check(match, true)
    }
  }

  /// A device without a known name, connected by its address, is matched by its other properties.
  @Test func aNameThatIsNotKnown() async throws {
    let text = #"""
      {"device": "X", "match": {"name": "X*", "services": ["fff0"]},
       "simulate": {"name": "X", "address": "D1:00:00:00:0D:09/random", "advertisement": {"name": "X"}, "services": [
         {"uuid": "1800", "characteristics": [{"uuid": "2a01", "properties": ["read"], "value": "0000"}]},
         {"uuid": "fff0", "characteristics": [{"uuid": "ff02", "properties": ["write"]}]}]}}
      """#
    try await onLoop(with: try await TestAir(text)) { air in
      let session = Session { air.central }
      let match = try await air.central.find(PeerSearch(.name("X"), takesFirst: true))
      let connection = try await session.connect(match.peer, name: nil)
      var device = try DeviceFile.parse(Array(text.utf8), name: "test")
      #expect(try await connection.fitting([device]).count == 1)
      device.match.services = [UUID(0xFFF1)]
      #expect(try await connection.fitting([device]).isEmpty)
      device.match.services = []
      #expect(try await connection.fitting([device]).isEmpty)
      await session.close()
    }
  }

  /// Client and device agree on random commands over the simulated air.
  @Test(.onLoop) @LoopActor func manyOverTheAir() async throws {
    try await self.withDevice(try Self.text("tracker.json"), "Tracker") { connection, device in
      var random = SplitMix64(seed: 11)
      let history = try #require(device.command("history"))
      for _ in 0..<60 {
        let days = Int128(random.next() % 30 + 1)
        let answer = try await connection.call(history, [NamedValue("days", .integer(days))], of: device)
        guard case .list(let items)? = answer.values["history"] else {
          Issue.record("no history")
          return
        }
        #expect(items.count == Int(days) && answer.packets.count == Int(days) + 1 && answer.refused == RefusedPackets())
      }
    }
  }
}
