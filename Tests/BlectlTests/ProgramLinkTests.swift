import Foundation
import Glibc
import TestSupport

/// `repl --json`: links that are shared, lost, cancelled and restored.
@Suite(.timeLimit(.minutes(15))) struct ProgramLinkTests {
  private func run(_ lines: [String], adapter: String = "sim", home: String? = nil) throws -> ProcessResult {
    try Blectl.run(
      ["repl", "--json"], input: Array((lines.joined(separator: "\n") + "\n").utf8),
      environment: home.map { ["XDG_STATE_HOME": $0] } ?? [:], adapter: adapter)
  }

  @Test func aPatternThatMeansSeveralIsTold() throws {
    let lines = [
      "connect mac:A4:C1:38:00:11:22", "connect mac:A4:C1:38:00:11:33", "connect name:Band-7", "read name:GateLock 2a00 -q",
      "use D1:00:00:00:00:01",
      "read name:GateLock 2a00", "read name:GateLock 2a00 --unique", "read name:Band-7 2a19 --as u8",
    ]
    let result = try Blectl.run(["repl"], input: Array((lines.joined(separator: "\n") + "\n").utf8))
    let (first, second) = ("D1:00:00:00:00:01/random", "D1:00:00:00:00:02/random")
    let notes = result.errors.split(separator: "\n").filter { $0.hasPrefix("note: name:GateLock matches 2 connected devices. ") }
    #expect(
      notes.map { $0.split(separator: ". ").last.map(String.init) } == ["Using \(second), not \(first).", "Using \(first), not \(second)."])
    #expect(result.errors.contains("line 7: ") && result.status == 2 && result.lines.last == "60", "\(result.text)\(result.errors)")
  }

  @Test func aFormatThatIsSetIsNotForRawBytes() throws {
    let result = try Blectl.run(
      ["repl"], input: Array("connect name:Band-7\nset format hex\nread --raw 2a19\n".utf8), adapter: "sim")
    #expect(result.status == 0 && result.text.hasSuffix("<"), "\(result.text)\(result.errors)")
  }

  /// Returns an air with characteristics that send values periodically.
  private func adapter(_ characteristics: String, onConnect: String = "[]") throws -> String {
    try Blectl.simulator(
      """
      [ { "name": "Sender", "address": "D1:00:00:00:00:55/random", "advertisement": { "name": "Sender" }, "on_connect": \(onConnect),
          "services": [ { "uuid": "fff0", "characteristics": [ \(characteristics) ] } ] } ]
      """)
  }

  // MARK: One device, several names

  /// Several names turn out to be one device only when it is found.
  @Test func severalNamesOfOneDeviceAreOneLink() throws {
    let home = TemporaryFolder.path()
    _ = try run(["alias band name:Band-7"], home: home)
    let result = try run(
      [
        "connect name:Band-7", "connect C0:FF:EE:00:00:07", "read @band 2a19", "read name:band* 2a00", "read C0:FF:EE:00:00:07/public 2a00",
        #"{"id":"last","command":"sleep 1"}"#, "read 2a19",
      ], home: home)
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0, "4": 0, "5": 0, "last": 0, "7": 0], "\(result.text)\(result.errors)")
    #expect(try result.records.allSatisfy { $0.string("id") == "last" || $0.string("peer") == "C0:FF:EE:00:00:07/public" })
    let done = try result.records.filter { $0.string("event") == "done" }.map { $0.string("id") ?? "\($0.int("id") ?? 0)" }
    #expect(done.filter { ["2", "5", "last", "7"].contains($0) } == ["2", "5", "last", "7"], "\(done)")
  }

  /// Each command makes its own link, one after the other.
  @Test func linksOfOneCommandEach() throws {
    let result = try run([
      "read D1:00:00:00:00:10 2a00", "read name:Panel 2a00", "read D1:00:00:00:00:10/random 2a00", "read name:pan* 2a00",
    ])
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0, "4": 0], "\(result.text)\(result.errors)")
  }

  /// Cancelling one command does not affect others that wait for the same device.
  @Test func aNameThatIsCancelledLeavesTheOthers() throws {
    let running = try Blectl.start(["repl", "--json"])
    for line in [#"{"id":"beats","command":"notify name:Band-7 2a37"}"#, #"{"id":"never","command":"read name:Band-7 2a19"}"#] {
      running.send(line: line)
    }
    #expect(running.waitForOutput(containing: #""uuid":"2a37""#))
    for line in ["cancel never", #"{"id":"behind","command":"read C0:FF:EE:00:00:07 2a00"}"#, "sleep 5"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""done","id":5"#) } != nil)
    for line in ["cancel beats"] { running.send(line: line) }
    let result = running.finish()
    #expect(try result.statuses == ["beats": 130, "never": 130, "3": 0, "behind": 0, "5": 0, "6": 0], "\(result.text.suffix(2000))")
  }

  @Test func aConnectionThatIsCancelledIsNone() throws {
    let result = try run(["connect AA:BB:CC:DD:EE:FF/public", "read 2a00", "cancel 1"])
    #expect(try result.statuses == ["1": 130, "2": 2, "3": 0], "\(result.text)")
  }

  /// A wrong address type can be corrected.
  @Test func theTypeOfAnAddressMayBeCorrected() throws {
    let result = try run(["connect D1:00:00:00:00:10/public -t 3", "connect D1:00:00:00:00:10", "read 2a00"])
    #expect(try result.statuses == ["1": 4, "2": 0, "3": 0], "\(result.text)")
  }

  // MARK: set reconnect

  @Test func reconnectIsForLinksThatAreLostAlready() throws {
    let running = try Blectl.start(["repl", "--json"], adapter: try Fleeting.adapter())
    func ask(_ id: String, _ command: String) {
      running.send(line: #"{"id":"\#(id)","command":"\#(command)"}"#)
      #expect(running.nextLine { $0.contains(#""done","id":"\#(id)""#) } != nil)
    }
    ask("connect", "connect \(Fleeting.peer)")
    ask("write", "write fff2 00")
    ask("lost", "sleep 5")
    ask("on", "set reconnect on")
    ask("back", "read 2a00")
    // Lost again, and cancelled before the first attempt.
    ask("again", "write fff2 00")
    ask("short", "sleep 0.4")
    ask("off", "set reconnect off")
    ask("long", "sleep 60")
    ask("gone", "read 2a00")
    ask("on again", "set reconnect on")
    ask("off again", "set reconnect off")
    ask("and on", "set reconnect on")
    ask("back again", "read 2a00")
    let result = running.finish()
    let statuses = try result.statuses
    #expect(statuses["gone"] == 6 && statuses.values.count { $0 != 0 } == 1, "\(result.text)")
    let events = try result.records.compactMap { $0.string("event") }.filter { $0.hasSuffix("connected") }
    #expect(events == ["connected", "disconnected", "reconnected", "disconnected", "reconnected"])
  }

  @Test func notifyReconnectsInASession() throws {
    let result = try Blectl.run(
      ["repl", "--json"], input: Array("connect \(Fleeting.peer)\nnotify fff1 --write fff2=00 --reconnect -d 5\nread 2a00\n".utf8),
      adapter: try Fleeting.adapter())
    #expect(try result.statuses["1"] == 0 && result.statuses["2"] == 0, "\(result.text)\(result.errors)")
    #expect(try result.records.count { $0.string("event") == "reconnected" } >= 3, "\(result.text)")
    #expect(result.errors.contains("Reconnecting in 0.5 s"), "\(result.errors)")
  }

  /// A command that looks for a lost device makes no second link while the first is being restored.
  @Test func nobodyMakesALinkThatIsMadeAgain() throws {
    let file = try TemporaryFolder.file("sleep 1.6\nset reconnect on\n")
    let running = try Blectl.start(["repl", "--json"], adapter: try Fleeting.adapter())
    for line in ["connect \(Fleeting.peer)", "write fff2 00", "sleep 5"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""done","id":3"#) } != nil)
    running.send(line: "connect \(Fleeting.other)")
    #expect(running.nextLine { $0.contains(#""done","id":4"#) } != nil)
    for line in ["subscribe name:Fleeting fff3", "source '\(file)'", "read name:Fleeting 2a00"] { running.send(line: line) }
    let result = running.finish()
    #expect(result.status == 0, "\(result.text.suffix(3000))")
  }

  /// The session of `connect PEER` ends with its link.
  @Test func givingItUpEndsTheSessionOfOneDevice() throws {
    let running = try Blectl.start(["connect", Fleeting.peer, "--json"], adapter: try Fleeting.adapter())
    for line in ["set reconnect on", "write fff2 00", "sleep 0.4"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""done","id":3"#) } != nil)
    running.send(line: "set reconnect off")
    #expect(running.wait().status == 6)
  }

  // MARK: The adapter

  /// The next command reopens a dead adapter. In real time: there are two programs.
  @Test func anAdapterComesBack() throws {
    let file = TemporaryPath()
    func air() throws -> RunningProcess {
      let air = try Blectl.start(["sim", "--listen", "unix:\(file.path)", "--stay", "--json"], hasInput: false)
      #expect(air.waitForOutput(containing: "listening"))
      return air
    }
    var process = try air()
    let running = try Blectl.start(["repl", "--json"], adapter: "unix:\(file.path)", virtual: false)
    running.send(line: "connect D1:00:00:00:00:10/random")
    #expect(running.nextLine { $0.contains("done") } != nil)
    process.end(by: SIGKILL)
    #expect(running.nextLine { $0.contains(#""event":"disconnected""#) } != nil)
    for line in ["read 2a00", "connect"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""done","id":3"#) } != nil)
    process = try air()
    for line in ["connect", "read 2a00", "scan --duration 20 --count 1"] { running.send(line: line) }
    let result = running.finish()
    #expect(try result.statuses == ["1": 0, "2": 3, "3": 3, "4": 0, "5": 0, "6": 0], "\(result.text)\(result.errors)")
    process.end(by: SIGINT)
  }

  // MARK: Values

  /// Returns 12000 values, more than the output accepts without a reader.
  private func many() throws -> (adapter: String, lines: [String]) {
    let adapter = try adapter(
      """
      { "uuid": "fff1", "properties": ["notify"] },
      { "uuid": "fff2", "properties": ["write"],
        "reactions": [ { "then": [ { "do": [ { "notify": "fff1", "value": "c0ffee", "after_ms": 1 } ], "times": 4000 } ] } ] }
      """)
    let write = ["write fff2 00", "write fff2 00", "write fff2 00"]
    return (adapter, ["connect name:Sender", "subscribe fff1"] + write + ["sleep 60"])
  }

  /// Received values are shown even if the output is read only after the disconnection.
  @Test(arguments: [["disconnect"], []]) func whatCameIsShown(_ last: [String]) throws {
    let (adapter, lines) = try many()
    let running = try Blectl.start(["repl", "--json"], adapter: adapter, reading: .errorsOnly)
    // The scan produces output long after the rest.
    for line in lines + last + ["sleep 100", "scan -d 0.1 -t 1"] { running.send(line: line) }
    running.endInput()
    #expect(running.waitForOutput(containing: "--timeout has no effect on scan"))
    running.startReading()
    let result = running.wait()
    #expect(try result.records.count { $0.string("event") == "notification" } == 12_000, "\(result.errors)")
    #expect(result.status == 0 && !result.errors.contains("were not shown"), "\(result.errors)")
  }

  @Test func whatIsNotShownIsTold() throws {
    let (adapter, lines) = try many()
    let running = try Blectl.start(["repl", "--json"], adapter: adapter, reading: .errorsOnly)
    for line in lines + ["notify fff1 -d 1 -v"] { running.send(line: line) }
    #expect(running.waitForOutput(containing: "Subscribed"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130 && result.errors.contains("values: the output was not read in time"), "\(result.errors)")
  }

  /// Losses are also reported as text on standard error, in case records are not read.
  @Test func lossesAreToldWhateverIsRead() throws {
    let adapter = try adapter(
      #"{ "uuid": "fff1", "properties": ["notify"] }"#, onConnect: #"[ { "disconnect": true, "after_ms": 1000 } ]"#)
    let running = try Blectl.start(["repl", "--json"], adapter: adapter, reading: .errorsOnly)
    for line in ["set reconnect on", "connect name:Sender", "sleep 8000"] { running.send(line: line) }
    #expect(running.waitForOutput(containing: "Sender: Reconnected after"))
    running.startReading()
    let result = running.finish()
    let records = try result.records
    func count(_ event: String, _ words: String) -> Int {
      records.count { $0.string("event") == event } + result.errors.components(separatedBy: "Sender: \(words)").count - 1
    }
    #expect(count("disconnected", "lost") - count("reconnected", "back") <= 1, "\(result.errors.suffix(2000))")
  }

  /// Two characteristics of one type each have a format, also after a reconnection.
  @Test func aFormatIsOfOneCharacteristic() throws {
    let value = #""periodic": { "every_ms": 1000, "values": ["05"] }"#
    let adapter = try adapter(
      """
      { "uuid": "fff1", "properties": ["notify"], \(value) }, { "uuid": "fff1", "properties": ["notify"], \(value) },
      { "uuid": "fff2", "properties": ["write"], "reactions": [ { "then": [ { "disconnect": true, "after_ms": 200 } ] } ] }
      """)
    let result = try run(
      [
        "set reconnect on", "connect name:Sender", "subscribe fff1[1] --as hex", "subscribe fff1[2] --as u8", "sleep 3", "write fff2 00",
        "sleep 10",
      ], adapter: adapter)
    #expect(result.status == 0, "\(result.text)")
    let values = try result.records.filter { $0.string("event") == "notification" }
    let handles = Set(values.compactMap { $0.int("handle") }).sorted()
    #expect(handles.count == 2 && values.count > 10, "\(result.text)")
    #expect(
      values.allSatisfy { $0.int("handle") == handles.first ? $0.string("decoded") == "05" : $0.int("decoded") == 5 }, "\(result.text)")
  }

  @Test func waitSaysHowFarItLooksBack() throws {
    let adapter = try adapter(#"{ "uuid": "fff1", "properties": ["notify"], "periodic": { "every_ms": 10, "values": ["05"] } }"#)
    let result = try run(
      ["connect name:Sender", "subscribe fff1", "sleep 5", "wait fff1", "wait fff1", "sleep 60", "wait fff1", "wait fff1"], adapter: adapter
    )
    #expect(result.status == 0)
    #expect(result.errors.components(separatedBy: "wait only checks the last").count == 2, "\(result.errors)")
  }

  // MARK: Without a link

  @Test func waitConnectsForItself() throws {
    let result = try run(["wait name:Band-7 2a37", "read 2a19", "wait name:Band-7 2a37 -n 2", "unsubscribe name:Band-7 2a37"])
    #expect(try result.statuses == ["1": 0, "2": 2, "3": 0, "4": 2], "\(result.text)")
    #expect(try result.records.count { $0.string("event") == "notification" } == 3)
  }

  /// `subscribe` connects, and its link stays open.
  @Test func subscribeConnectsAndTheLinkStays() throws {
    let result = try run([
      "subscribe name:Band-7 2a37", "wait name:Band-7 2a37", "read 2a19", "unsubscribe name:Band-7 2a37", "disconnect name:Band-7",
      "subscribe name:Band-7 ffff", "disconnect name:Band-7",
    ])
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 2, "4": 0, "5": 0, "6": 2, "7": 2], "\(result.text)")
    let values = try result.records.filter { $0.string("event") == "notification" }
    #expect(values.contains { !$0.keys.contains("id") } && values.contains { $0.int("id") == 2 })
  }

  /// The MTU is exchanged once per link. A later request with another MTU is reported.
  @Test func anMTUThatComesTooLateIsTold() throws {
    let result = try run(["connect name:Band-7 --mtu 100", "read 2a19 --mtu 100", "read 2a19 --mtu 150", "connect --mtu 150"])
    #expect(
      result.status == 0 && result.errors.components(separatedBy: "The MTU of this connection stays 100 bytes").count == 3,
      "\(result.errors)")
  }
}
