import Foundation
import TestSupport

/// Behavior of a session after a failed command about a device.
@Suite(.timeLimit(.minutes(15))) struct SessionFailureTests {
  static let band = "sim:\(ExampleTests.folder)/wristband.json"
  /// A write that is never answered.
  private let silent = "write ff02 1b99f2 --mode request"

  private func json(_ lines: [String], adapter: String = band) throws -> ProcessResult {
    try Blectl.run(["repl", "--json"], input: Array(lines.joined(separator: "\n").utf8), adapter: adapter)
  }

  /// Runs a session for people with these lines.
  private func text(_ lines: [String], adapter: String = "sim", state: String = TemporaryFolder.path()) throws -> ProcessResult {
    try Blectl.run(
      ["repl"], input: Array(lines.joined(separator: "\n").utf8), environment: ["XDG_STATE_HOME": state], adapter: adapter)
  }

  // MARK: Cancelled

  /// Cancels the second line after five seconds. Without a scan, virtual time would skip hours.
  private func cancelTheWrite(_ running: RunningProcess) {
    for line in [#"{"id":"pause","command":"scan -d 5"}"#, "scan -d 0 --duplicates"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""done","id":"pause""#) } != nil)
    running.send(line: "cancel 2")
    #expect(running.nextLine { $0.contains(#""done","id":2"#) } != nil)
  }

  @Test func aWriteThatIsCancelledIsNoDefect() throws {
    let running = try Blectl.start(["repl", "--json"], adapter: Self.band)
    for line in ["connect name:Band-C", "\(silent) -t 80000"] { running.send(line: line) }
    cancelTheWrite(running)
    let result = running.finish()
    let done = try result.records.first { $0.int("id") == 2 }
    #expect(done?.int("status") == 130, "\(result.text)")
    #expect(done?["error"]?.string("kind") == "interrupted" && done?["error"]?.string("message") == "Canceled.", "\(result.text)")
  }

  /// A cancelled write reports its progress, and still counts as interrupted.
  @Test func segmentsThatAreCancelledToo() throws {
    let running = try Blectl.start(["repl", "--json"])
    running.send(line: "connect name:Panel")
    running.send(line: "write fff6 \(String(repeating: "00", count: 400)) --mode command --chunk 1 --gap 60000")
    cancelTheWrite(running)
    let done = try running.finish().records.first { $0.int("id") == 2 && $0.string("event") == "done" }
    #expect(done?.int("status") == 130 && done?["error"]?.string("message")?.contains("of 400 bytes") == true, "\(done as Any)")
  }

  /// Runs in real time, because virtual time would end before a key press.
  @Test func controlCEndsAWriteSilently() throws {
    let repl = try ReplTerminal(["repl", "-vv"], environment: ["BLECTL_CLOCK": "real"], adapter: Self.band)
    try repl.enter("connect name:Band-C")
    repl.type(silent + "\r")
    // The request itself, among the sent PDUs.
    #expect(repl.terminal.wait(columns: 80) { $0.lines.contains { $0.contains("1b99f2") && !$0.contains("write") } })
    repl.type("\u{3}")
    try repl.shows("Band-C>", column: 8)
    #expect(!repl.leave().lines.joined().contains("blectl:"))
  }

  // MARK: Connecting

  @Test func aConnectThatFailsLeavesTheCurrentDevice() throws {
    let result = try text(["connect name:Band-7", "connect name:Nobody -t 1", "read 2a19", "use name:Panel"])
    #expect(result.lines.last == "3c  60 %", "\(result.text)\(result.errors)")
    #expect(result.errors.contains("line 4: Panel is not connected. Connected: Band-7. To connect: connect"), "\(result.errors)")
  }

  @Test func alsoOneThatIsInterrupted() throws {
    let repl = try ReplTerminal(environment: ["BLECTL_CLOCK": "real"])
    try repl.enter("connect name:Band-7")
    repl.type("connect name:Nobody -t 100\r")
    #expect(repl.terminal.wait(columns: 80) { $0.lines.contains { $0.contains("name:Nobody -t 100") } && !$0.isAtPrompt })
    repl.type("\u{3}")
    try repl.shows("Band-7>", column: 8)
    try repl.enter("read 2a19 --as u8")
    try repl.says("60")
    _ = repl.leave()
  }

  /// Lines after a `connect` apply to its device, which has none of the other's values.
  @Test func whatWasSaidBehindItIsAboutThatDevice() throws {
    let running = try Blectl.start(["repl", "--json"])
    for line in ["connect name:Band-7", "connect name:Nobody -t 1", "read 2a19"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""done","id":3"#) } != nil)
    running.send(line: "read 2a19")
    let result = running.finish()
    #expect(try result.statuses == ["1": 0, "2": 2, "3": 2, "4": 0], "\(result.text)")
    let message = try result.records.first { $0.int("id") == 3 }?["error"]?.string("message")
    #expect(message?.hasPrefix("Not connected: ") == true && message?.contains("To try again: connect name:Nobody") == true)
  }

  @Test func severalThatFailLeaveTheOneBefore() throws {
    let running = try Blectl.start(["repl", "--json"])
    for line in ["connect name:Band-7", "connect name:One -t 2", "connect name:Two -t 1"] { running.send(line: line) }
    for id in [3, 2] { #expect(running.nextLine { $0.contains(#""done","id":\#(id)"#) } != nil) }
    running.send(line: "read 2a19")
    #expect(try running.finish().statuses == ["1": 0, "2": 2, "3": 2, "4": 0])
  }

  @Test func withoutADeviceThereIsNoneAfterwards() throws {
    let repl = try ReplTerminal(["repl", "name:Nobody", "-t", "1"])
    try repl.says { $0.contains("Cannot find name:Nobody") }
    try repl.shows("blectl>", column: 8)
    try repl.enter("connect")
    try repl.says { $0.contains("There is no current device") }
    _ = repl.leave()
  }

  @Test func aLinkThatWasLostIsNotDisconnected() throws {
    let result = try text(
      ["connect \(Fleeting.peer)", "write fff2 00", "sleep 5", "disconnect"], adapter: try Fleeting.adapter())
    #expect(result.lines.last == "The connection to \(Fleeting.peer) was already lost. blectl does not restore it.", "\(result.text)")
  }

  // MARK: Limits

  @Test func theLimitOfACommandIsForItsTransactions() throws {
    let result = try Blectl.run("-e", "\(silent) -t 3", "name:Band-C", adapter: Self.band)
    #expect(result.status == 4 && result.errors.contains(" in 3 s. Disconnected, as the Attribute Protocol requires."), "\(result.errors)")
    let later = try json(["connect name:Band-C", "set timeout 4", silent, "read 2a19"])
    let done = try later.records.filter { $0.string("event") == "done" }
    #expect(done.map { $0.int("status") } == [0, 0, 4, 4], "\(later.text)")
    #expect(done[2]["error"]?.string("message")?.contains(" in 4 s.") == true, "\(later.text)")
    #expect(try later.records.contains { $0.string("event") == "disconnected" })
  }

  /// The limit applies to that command only.
  @Test func otherCommandsHaveTheUsualLimit() throws {
    let result = try json(["connect name:Band-C -t 2", "read 2a19 -t 2", "write ff02 1b99f3 --mode request", "read 2a19"])
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0, "4": 0], "\(result.text)")
  }

  /// A cancelled request is still open. Nothing may be sent until its answer, and that wait has the limit of an answer.
  @Test func theLimitHoldsBehindARequestThatWasGivenUp() throws {
    let running = try Blectl.start(["repl", "--json"], adapter: Self.band)
    for line in ["connect name:Band-C", "\(silent) -t 80000"] { running.send(line: line) }
    cancelTheWrite(running)
    running.send(line: #"{"id":"next","command":"read 2a19 -t 3"}"#)
    let result = running.finish()
    let done = try result.records.first { $0.string("id") == "next" && $0.string("event") == "done" }
    #expect(done?.int("status") == 4, "\(result.text)")
    let limit = done?["error"]?.string("message")?.firstMatch(of: #/in ([0-9.]+) s/#).flatMap { Double(String($0.1)) }
    #expect(limit.map { $0 >= 3 && $0 < 70_000 } == true, "\(result.text)")
  }

  // MARK: Values

  @Test func waitThatSubscribesTooLateSaysSo() throws {
    let result = try text(["connect name:Band-C", "write ff02 1b9901", "sleep 1", "wait ff01=567b -t 3"], adapter: Self.band)
    #expect(
      result.errors.contains("blectl was not subscribed to ff01 before. Run `subscribe ff01` first, or use `write … --expect ff01`"),
      "\(result.errors)")
    let early = try text(["connect name:Band-C", "subscribe ff01", "wait ff01=ff -t 3"], adapter: Self.band)
    #expect(early.status == 4 && !early.errors.contains("was not subscribed to ff01 before"), "\(early.errors)")
  }

  @Test func waitSaysWhatItCannotSee() throws {
    let late = try json(["connect name:Band-C", "write ff02 1b9901", "sleep 1", "wait ff01 -t 3"])
    let note = "wait cannot see earlier values of ff01: blectl was not subscribed to it. Run `subscribe ff01` first."
    #expect(late.errors.contains(#"{"note":"\#(note)","id":4"#), "\(late.errors)")
    #expect(late.status == 4)
    let wait = "wait ff01 -t 3"
    let passed = try json(["connect name:Band-C", "subscribe ff01", "write ff02 1b9901", "sleep 1", "sleep 1", wait, wait])
    #expect(
      passed.errors.components(separatedBy: "wait ignores 1 value that ff01 sent before `sleep`").count == 2,
      "\(passed.errors)")
    #expect(passed.status == 4)
    let seen = try json(["connect name:Band-C", "wait ff01 -t 1", "subscribe ff01", "write ff02 1b9901", "wait ff01"])
    #expect(try seen.statuses["5"] == 0 && seen.errors.isEmpty, "\(seen.errors)")
  }

  /// On one line, `wait` subscribes early as with -e, also for people on a pipe.
  @Test func waitOnTheSameLineLosesNothing() throws {
    let adapter = try TemporaryFolder.file(
      #"""
      [ { "name": "Prompt", "address": "D1:00:00:00:00:56/random", "advertisement": { "name": "Prompt" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["notify"] },
          { "uuid": "fff2", "properties": ["write"], "reactions": [ { "then": [ { "notify": "fff1", "value": "567b" } ] } ] } ] } ] } ]
      """#)
    let line = "write fff2 01; wait fff1 -t 3"
    let piped = try text(["connect name:Prompt", line, "read fff1@2902 --as hex"], adapter: "sim:\(adapter)")
    #expect(piped.status == 0 && piped.text.contains("fff1 567b") && piped.errors.isEmpty, "\(piped.text)\(piped.errors)")
    #expect(piped.lines.last == "0000")
    let repl = try ReplTerminal(adapter: "sim:\(adapter)")
    try repl.enter("connect name:Prompt")
    try repl.enter(line)
    try repl.says { $0.contains("567b") }
    #expect(!repl.leave().lines.joined().contains("blectl:"))
  }

  /// An answer to a subscribed characteristic is shown once. A program also gets it in the record with the id.
  @Test func anAnswerThatIsSubscribedToIsShownOnce() throws {
    let steps = "subscribe ff01; write ff02 1b9901 --expect ff01=567b; write ff02 1b9901; wait ff01=567b"
    let plain = try Blectl.run("-e", steps, "name:Band-C", adapter: Self.band)
    #expect(plain.status == 0 && plain.lines.filter { $0.contains("ff01 567b") }.count == 2, "\(plain.text)")
    let records = try Blectl.run("--json", "-e", steps, "name:Band-C", adapter: Self.band).records
    #expect(records.filter { $0.string("value")?.hasPrefix("567b") == true }.count == 2)
    let session = try json(["connect name:Band-C"] + steps.split(separator: ";").map { String($0) })
    let answers = try session.records.filter { $0.string("value")?.hasPrefix("567b") == true }
    #expect(answers.filter { $0.int("id") == nil }.count == 2 && answers.compactMap { $0.int("id") } == [3, 5], "\(session.text)")
  }

  // MARK: Names

  /// A device that is not heard keeps its earlier name.
  @Test func aDeviceThatIsNotHeardKeepsItsName() throws {
    let state = TemporaryFolder.path()
    _ = try text(["connect name:Band-7", "alias mine"], state: state)
    for line in ["connect @last", "connect @mine", "connect C0:FF:EE:00:00:07/public"] {
      let result = try text([line], state: state)
      #expect(result.lines.first?.hasPrefix("Connected to Band-7 (C0:FF:EE:00:00:07)") == true, "\(result.text)\(result.errors)")
    }
    let read = try Blectl.run(["read", "@mine", "2a19", "--json"], environment: ["XDG_STATE_HOME": state])
    #expect(try read.records.first?.string("name") == "Band-7")
  }

  /// A command about no device has no device in its records.
  @Test func whatIsAboutNoDeviceIsNotTagged() throws {
    let home = TemporaryFolder.path()
    let lines = ["connect name:Band-7", "connect name:Panel", "alias mine", "alias", "sleep 0", "read 2a00"]
    let result = try Blectl.run(
      ["repl", "--json"], input: Array(lines.joined(separator: "\n").utf8), environment: ["XDG_STATE_HOME": home])
    let alias = result.lines.first { $0.contains(#""event":"alias""#) } ?? ""
    #expect(alias.components(separatedBy: #""peer""#).count == 2 && alias.contains(#""peer":"D1:00:00:00:00:10/random""#), "\(alias)")
    for id in [4, 5] { #expect(result.lines.contains { $0.contains(#""done","id":\#(id)"#) && $0.contains(#""peer":null"#) }) }
    #expect(result.lines.contains { $0.contains(#""id":6"#) && $0.contains(#""value""#) && $0.contains(#""peer""#) })
  }
}
