import Foundation
import TestSupport

/// `read --all`, `read SERVICE/*`, `read --every` and `write --no-probe`.
@Suite(.timeLimit(.minutes(15))) struct ReadEveryTests {
  /// A device whose fff2 reacts to the reads by number: it disconnects, answers late, or refuses.
  private static func meter(_ reactions: String = "") -> String {
    """
    {"name": "Meter", "address": "D1:00:00:00:00:33/random", "advertisement": {"name": "Meter"}, "variables": {"n": 0},
     "services": [
       {"uuid": "fff0", "characteristics": [
         {"uuid": "fff1", "properties": ["read"], "value": "01"},
         {"uuid": "fff2", "properties": ["read"], "value": "02", "read_reactions": [\(reactions)
           {"then": [{"count": "n"}]}]},
         {"uuid": "fff3", "properties": ["read"], "permissions": ["read_encrypted"], "value": "03"},
         {"uuid": "fff4", "properties": ["write_without_response"]}]},
       {"uuid": "fff8", "characteristics": [{"uuid": "fff9", "properties": ["notify"]}]},
       {"uuid": "fffa", "characteristics": [
         {"uuid": "fffb", "properties": ["read"], "permissions": ["read_encrypted"], "value": "03"}]}]}
    """
  }

  private func blectl(_ device: String, _ arguments: String...) throws -> Blectl.Result {
    try Blectl.run(arguments, adapter: "sim:\(try TemporaryFolder.file(device))")
  }

  private static func seconds(_ record: Record) throws -> Double {
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return try format.parse(#require(record.string("time"))).timeIntervalSince1970
  }

  // MARK: --all and SERVICE/*

  @Test func allInTheOrderOfHandles() throws {
    let all = try blectl(Self.meter(), "read", "Meter", "--all")
    #expect(all.status == 0 && all.text == "device_name\tMeter\nappearance\t0000  Unknown\nfff1\t01\nfff2\t02\n", "\(all.text)")
    #expect(all.errors.split(separator: "\n").count == 2 && all.errors.contains("fff3") && all.errors.contains("fffb"), "\(all.errors)")
    let records = try blectl(Self.meter(), "read", "Meter", "--all", "--json").records
    #expect(records.map { $0.string("uuid") } == ["2a00", "2a01", "fff1", "fff2"] && records.allSatisfy { $0.string("event") == "value" })
    #expect(try Self.seconds(records[3]) > Self.seconds(records[0]))
  }

  @Test func allOfAService() throws {
    let service = try blectl(Self.meter(), "read", "Meter", "fff0/*", "2a00")
    #expect(service.status == 0 && service.text == "fff1\t01\nfff2\t02\n2a00\tMeter\n", "\(service.text)")
    let refused = try blectl(Self.meter(), "read", "Meter", "fffa/*", "--json")
    #expect(refused.status == 5 && refused.error?.string("name") == "insufficient_encryption", "\(refused.errors)")
    for (word, part) in [("fff8/*", "fff8/* has no readable"), ("fff7/*", "no service fff7"), ("fff0[2]/*", "no service fff0")] {
      let result = try blectl(Self.meter(), "read", "Meter", word)
      #expect(result.status == 2 && result.errors.contains(part), "\(result.errors)")
    }
    #expect(try Blectl.run("read", "Band-7", "device_inf/*").lines.count == 2)
  }

  @Test func inSessionsAndScripts() throws {
    let session = try blectl(Self.meter(), "-e", "read fff0/*; read --all --json; read fff1 --every 1 -n 2", "Meter")
    #expect(session.status == 0 && session.lines.count == 2 + 4 + 2, "\(session.text)\(session.errors)")
    let lines = ["device Meter", "test \"all\"", "read fff0/*", "read fff1 --every 1s -n 3", "read --all", "expect == 02", "end"]
    let script = try TemporaryFolder.file(lines.joined(separator: "\n"))
    let run = try blectl(Self.meter(), "run", script, "--tap")
    #expect(run.status == 0 && run.text.contains("ok 1 - all"), "\(run.text)")
    let endless = try TemporaryFolder.file("device Meter\ntest \"x\"\nread fff1 --every 1\nend")
    #expect(try blectl(Self.meter(), "run", endless).errors.contains("would never end. Add --count or --duration."))
  }

  // MARK: --every

  /// A reading each minute of a virtual day. The first reading takes two requests, the others one.
  @Test func aDay() throws {
    let day = try Blectl.run("read", "Band-7", "battery_level", "--every", "1m", "-d", "1440m", "--json")
    let times = try day.records.map { try Self.seconds($0) }
    #expect(day.status == 0 && day.errors.isEmpty && times.count == 1440, "\(day.errors)")
    let steps = zip(times.dropFirst(), times).map { $0 - $1 }
    // An answer waits for a connection event, each 15 ms.
    #expect(steps.allSatisfy { abs($0 - 60) < 0.05 } && abs(times[1439] - times[1] - 1438 * 60) < 0.05, "\(steps.prefix(3))")
  }

  @Test func theTextHasTheTime() throws {
    let text = try Blectl.run("read", "Band-7", "battery_level", "--every", "500ms", "-n", "2").lines
    #expect(text.count == 2 && text.allSatisfy { $0.hasPrefix("2026-01-01T00:00:0") && $0.hasSuffix("Z 2a19 3c  60 %") }, "\(text)")
  }

  private static func at(_ number: Int, _ reaction: String) -> String {
    #"{"if": {"variable": "n", "is": \#(number)}, "then": [{"count": "n"}\#(reaction)},"#
  }

  @Test func aLostLinkIsRestored() throws {
    let lossy = Self.meter(Self.at(3, #", {"disconnect": true}], "answer": false"#))
    let result = try blectl(lossy, "read", "Meter", "0x000e", "--every", "10", "-n", "5", "--json")
    let times = try result.records.map { try Self.seconds($0) - Self.seconds(result.records[0]) }
    let notes = result.errors.split(separator: "\n")
    #expect(result.status == 0 && notes.count == 1 && notes[0].contains("Reconnecting in 0.5 s"), "\(result.errors)")
    // The interrupted reading follows after the reconnection, the next ones at their times.
    #expect(times.count == 5 && times[3] > 30.5 && times[3] < 35 && abs(times[4] - 40) < 0.2, "\(times)")
    let fast = try blectl(lossy, "read", "Meter", "0x000e", "--every", "0.5", "-n", "5")
    #expect(fast.status == 0 && fast.errors.contains("readings while the connection was lost."), "\(fast.errors)")
  }

  /// A device that closes an idle link is connected again for each reading.
  @Test func anIdleLinkEnds() throws {
    let idle = Self.meter(Self.at(0, #", {"disconnect": true, "after_ms": 5000}]"#))
    let result = try blectl(idle, "read", "Meter", "0x000e", "--every", "60", "-d", "3m", "--json")
    #expect(try result.status == 0 && result.records.count == 3 && result.errors.contains("Reconnecting"), "\(result.errors)")
  }

  @Test func aSlowReadingSkips() throws {
    let slow = Self.meter(Self.at(1, #"], "answer_after_ms": 2500"#) + Self.at(4, #"], "answer_after_ms": 2500"#))
    let result = try blectl(slow, "read", "Meter", "0x000e", "--every", "1", "-d", "10", "--json")
    let times = try result.records.map { try Self.seconds($0) - Self.seconds(result.records[0]) }
    #expect(zip(times, [0, 3.5, 4, 5, 8.5, 9]).allSatisfy { abs($0 - $1) < 0.1 } && times.count == 6, "\(times)")
    #expect(result.errors.ranges(of: "longer than --every").count == 1, "\(result.errors)")
  }

  @Test func laterRefusalsAreTold() throws {
    let refusing = Self.meter(Self.at(1, #"], "error": 128"#))
    let result = try blectl(refusing, "read", "Meter", "0x000e", "--every", "1", "-n", "3", "--json")
    #expect(try result.status == 5 && result.records.count == 2 && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    let first = try blectl(Self.meter(), "read", "Meter", "fff3", "--every", "1")
    #expect(first.status == 5 && first.output.isEmpty, "\(first.errors)")
    let short = try blectl(Self.meter(), "read", "Meter", "0x000e", "--every", "1", "-n", "9", "-d", "3")
    #expect(short.status == 4 && short.lines.count == 3 && short.errors.contains("Read 3 of 9 times in 3 s."), "\(short.errors)")
  }

  @Test(arguments: [
    (["2a19", "-n", "3"], "need --every"), (["2a19", "--every", "0"], "from 0.01 to 86400"),
    (["2a19", "--all"], "Leave out the attributes"),
    ([], "or use --all"), (["*"], "--all"), (["2a19", "--every", "1", "-n", "0"], "1 or more"), (["/*"], "a part is empty"),
  ])
  func wrongUse(_ words: [String], _ part: String) throws {
    let result = try Blectl.run(["read", "Band-7"] + words)
    #expect(result.status == 64 && result.errors.contains(part), "\(result.errors)")
  }

  // MARK: write --no-probe

  /// The ATT PDUs that `-vv` shows.
  private static func pdus(_ result: Blectl.Result) -> [String] {
    result.errors.split(separator: "\n").map(String.init).filter { $0.hasPrefix("< ") || $0.hasPrefix("> ") }
  }

  @Test func onlyTheCommandIsSent() throws {
    let bare = try blectl(Self.meter(), "write", "Meter", "0x0012", "0102", "--no-probe", "-vv")
    #expect(bare.status == 0 && Self.pdus(bare) == ["< Write Command 5212000102"], "\(bare.errors)")
    #expect(bare.errors.contains("Wrote 2 bytes to 0x0012 (command, 1 segment, not confirmed)"), "\(bare.errors)")
    let probed = try blectl(Self.meter(), "write", "Meter", "0x0012", "0102", "--mode", "command", "-vv")
    #expect(Self.pdus(probed).count > 3, "\(probed.errors)")
    let record = try blectl(Self.meter(), "write", "Meter", "0x0012", "0102", "--no-probe", "--json").records
    #expect(record.count == 1 && record[0].int("acknowledged") == 0 && record[0].int("bytes") == 2 && record[0].isNull("verified"))
    // 45 bytes need three segments at the default MTU.
    let long = try blectl(Self.meter(), "write", "Meter", "0x0012", String(repeating: "aa", count: 45), "--no-probe", "-vv")
    #expect(Self.pdus(long).count == 3 && Self.pdus(long).allSatisfy { $0.hasPrefix("< Write Command") }, "\(long.errors)")
  }

  @Test func aNameNeedsAnEarlierDiscovery() throws {
    let name = try blectl(Self.meter(), "write", "Meter", "fff4", "01", "--no-probe")
    #expect(
      name.status == 64 && name.errors.contains("needs a handle") && name.errors.contains("blectl services name:Meter"), "\(name.errors)")
    let session = try blectl(Self.meter(), "-e", "services; write fff4 01 --no-probe -vv", "Meter")
    #expect(session.status == 0, "\(session.errors)")
    #expect(try blectl(Self.meter(), "-e", "write fff4 01 --no-probe", "Meter").status == 64)
    for other in [["--read-back"], ["--mode", "request"], ["--expect", "fff9"], ["--collect", "1"]] {
      #expect(try Blectl.run(["write", "Band-7", "0x0012", "01", "--no-probe"] + other).status == 64)
    }
  }
}
