import Foundation
import Glibc
import TestSupport

/// `repl --json`, a session for programs.
@Suite(.timeLimit(.minutes(15))) struct ProgramSessionTests {
  private func run(_ lines: [String], _ arguments: [String] = ["repl", "--json"], adapter: String = "sim") throws -> ProcessResult {
    try Blectl.run(arguments, input: Array((lines.joined(separator: "\n") + "\n").utf8), adapter: adapter)
  }

  @Test func recordsThenOneThatSaysDone() throws {
    let result = try run(["connect name:Band-7", "read 2a19", #"{"id":"x","command":"read 2a00"}"#, #"{"id":7,"command":"read ffff"}"#])
    let records = try result.records
    #expect(records.map { $0.string("event") } == ["connected", "done", "value", "done", "value", "done", "done"])
    #expect(records.prefix(4).map { $0.int("id") } == [1, 1, 2, 2])
    #expect(records[4].string("id") == "x" && records[5].string("id") == "x" && records[5].int("status") == 0)
    #expect(records[6].int("id") == 7 && records[6].int("status") == 2 && records[6]["error"]?.string("kind") == "not_found")
    #expect(records[2].string("value") == "3c" && records.allSatisfy { $0.string("peer") == "C0:FF:EE:00:00:07/public" })
    #expect(result.status == 2 && result.errors.isEmpty)
  }

  @Test func linesThatAreNoneAreAnsweredAndTheSessionGoesOn() throws {
    let lines = [
      "rubbish", "read 'x", "{", "{}", #"{"id":[],"command":"help"}"#, #"{"id":"a","command":7}"#, #"{"id":"b","command":"sleep 0","x":1}"#,
      #"[1]"#, "sleep", "sleep x", "read --nonsense 2a19", "sleep 0; sleep 0", "connect mac:nowhere", "help rubbish", "repl",
      "sim --listen unix:/x",
    ]
    let result = try run(lines + ["sleep 0"])
    let all = try result.statuses
    #expect(all["17"] == 0 && all.count == 17, "\(all)")
    #expect(all.filter { $0.key != "17" }.allSatisfy { $0.value == 64 }, "\(all)")
    #expect(all.keys.filter { $0.hasPrefix("line") }.sorted() == ["line 12", "line 15", "line 16", "line 3", "line 4", "line 5", "line 8"])
    #expect(result.status == 64)
    let hostile = try Blectl.run(["repl", "--json"], input: [0xFF, 0x00, 0x0A] + Array("# nothing\n\n\u{1B}[2J\nsleep 0".utf8))
    #expect(try hostile.statuses == ["line 1": 64, "4": 64, "5": 0], "\(hostile.text)")
    #expect(!hostile.text.contains("\u{1B}"))
  }

  /// Standard input has the commands, so no command can read its data from it.
  @Test func standardInputHasTheCommands() throws {
    let result = try run([
      "write name:Band-7 ff02 -", "send-file name:Panel fff6 -", "mac-from-adv -d 3 --first", "mac-from-adv D1:00:00:00:00:01", "sleep 0",
    ])
    #expect(try result.statuses == ["1": 64, "2": 64, "3": 0, "4": 0, "5": 0], "\(result.text)")
    #expect(result.errors.isEmpty, "\(result.errors)")
  }

  @Test func aCommandWithoutADeviceSaysSo() throws {
    let result = try run(["read 2a19", "disconnect", "use name:Band-7", "connect AA:BB:CC:DD:EE:FF", "read 2a19"])
    #expect(try result.statuses == ["1": 2, "2": 2, "3": 2, "4": 2, "5": 2])
    #expect(try result.records.last { $0.int("id") == 5 }?["error"]?.string("message")?.hasPrefix("Not connected: ") == true)
  }

  @Test func withSeveralDevicesEveryRecordSaysWhichItIsAbout() throws {
    let result = try run([
      "connect name:Band-7", "connect name:Panel", "read 2a00", "use name:Band-7", "read 2a00", "read name:Panel 2a00",
      "disconnect name:Panel", "sleep 1",
      "read 2a00",
    ])
    #expect(result.status == 0, "\(result.text)")
    func value(_ id: Int) throws -> Record? { try result.records.first { $0.int("id") == id && $0.string("event") == "value" } }
    #expect(try value(3)?.string("text") == "Panel" && value(3)?.string("peer") == "D1:00:00:00:00:10/random")
    #expect(try value(5)?.string("text") == "Band-7" && value(6)?.string("text") == "Panel")
    #expect(try value(9)?.string("text") == "Band-7" && value(9)?.string("peer") == "C0:FF:EE:00:00:07/public")
  }

  /// A slow command delays only its own device, whose commands keep their order.
  @Test func devicesSideBySideTheirCommandsOneAfterTheOther() throws {
    let result = try run([
      "connect name:Band-7", "connect name:Panel", "use name:Band-7", "sleep 100", "read 2a00", "read name:Panel 2a00",
    ])
    let done = try result.records.filter { $0.string("event") == "done" }.map { $0.int("id") }
    #expect(done.suffix(3) == [6, 4, 5], "\(done)")
  }

  @Test func whatIsSubscribedToComesByItself() throws {
    let result = try run(["connect name:Band-7", "subscribe 2a37", "sleep 3.5", "unsubscribe 2a37", "sleep 10", "unsubscribe 2a37"])
    let records = try result.records
    let values = records.filter { $0.string("event") == "notification" }
    #expect(values.count == 3 && values.allSatisfy { !$0.keys.contains("id") && $0.string("uuid") == "2a37" }, "\(result.text)")
    #expect(try result.statuses["6"] == 2)
  }

  /// Line numbers would collide with the ids of other commands.
  @Test func aLineThatCannotBeReadHasNoID() throws {
    let lines = [
      #"{"id":1,"command":"sleep 0"}"#, #"{"id":3,"comm"#, #"{"id":2,"command":"sleep 0"}"#, #"and":"sleep 0"}"#, "read 'x",
      #"{"id":5,"command":"sleep 0"}"#, "sleep 0", #"{"command":"sleep"}"#,
    ]
    let done = try run(lines).records.filter { $0.string("event") == "done" }
    #expect(done.compactMap { $0.int("id") }.sorted() == [1, 2, 5, 7, 8])
    let unread = done.filter { $0.isNull("id") }
    #expect(unread.compactMap { $0.int("line") }.sorted() == [2, 4, 5] && unread.allSatisfy { $0.int("status") == 64 })
    // If no line has an id, the number identifies the line.
    #expect(try run(["raed", "read 'x", "sleep 0"]).statuses == ["1": 64, "2": 64, "3": 0])
  }

  /// Every record names its device, if any, including unsolicited values and errors.
  @Test func everyRecordSaysWhichDeviceItIsAbout() throws {
    let lines = [
      "alias lock C0:FF:EE:00:00:07", "connect name:Band-7", "subscribe 2a37", "notify 2a37 -n 2", "read name:Panel 2a00", "scan -d 1",
      "mac-from-adv -d 3 --first", "adapters", "peers", "alias", "help", "set", "sleep 2", "connect name:Nobody -t 1", "read 2a19",
      "rubbish", "{", "use name:Band-7", "write ff02 1b9901", "wait ff01=00 -t 1", "disconnect", "read C0:FF:EE:00:00:07/public zzzz",
    ]
    let result = try Blectl.run(
      ["repl", "--json"], input: Array(lines.joined(separator: "\n").utf8), environment: ["XDG_STATE_HOME": TemporaryFolder.path()])
    let messages = try result.errors.split(separator: "\n").map { try Record(String($0)) }
    #expect(messages.contains { $0.int("id") == 20 && $0.string("note") != nil && $0.string("peer") == "C0:FF:EE:00:00:07/public" })
    for line in (result.text + result.errors).split(separator: "\n") {
      #expect(line.components(separatedBy: #","peer":"#).count == 2, "\(line)")
    }
    let records = try result.records
    func peers(_ fits: (Record) -> Bool) -> Set<String> { Set(records.filter(fits).map { $0.string("peer") ?? "null" }) }
    #expect(peers { $0.string("event") == "notification" } == ["C0:FF:EE:00:00:07/public"])
    #expect(peers { $0.int("id") == 5 } == ["D1:00:00:00:00:10/random"] && peers { $0.int("id") == 22 } == ["C0:FF:EE:00:00:07/public"])
    #expect(peers { [8, 11, 12, 13, 14, 15, 16].contains($0.int("id")) } == ["null"], "\(result.text)")
    let heard = records.filter { $0.string("event") == "advertisement" }
    #expect(heard.allSatisfy { $0.string("peer") == "\($0.string("address") ?? "")/\($0.string("address_type") ?? "")" } && heard.count > 3)
    #expect(peers { $0.string("event") == "alias" } == ["C0:FF:EE:00:00:07"])
  }

  @Test func aCommandThatGoesOnIsCancelled() throws {
    let running = try Blectl.start(["repl", "--json"])
    for line in ["connect name:Band-7", #"{"id":"beats","command":"notify 2a37"}"#, #"{"id":"next","command":"read 2a19"}"#] {
      running.send(line: line)
    }
    #expect(running.waitForOutput(containing: #""uuid":"2a37""#))
    for line in ["cancel nobody", "cancel beats"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""id":"next""#) && $0.contains("done") } != nil)
    let result = running.finish()
    #expect(try result.statuses == ["1": 0, "beats": 130, "next": 0, "4": 2, "5": 0], "\(result.text.suffix(2000))")
    #expect(result.status == 130)
  }

  /// The end of the input stops endless commands, with success.
  @Test func theEndOfTheInputEndsIt() throws {
    let result = try run(["connect name:Band-7", "scan --duration 0", "notify 2a37"])
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0] && result.status == 0)
  }

  /// A limit on the number of records is not a time limit: they may never arrive. Commands with a time limit finish.
  @Test func soItEndsWhateverHasNoTimeLimit() throws {
    let result = try run([
      "connect name:Band-7", "notify ff01 -n 5 --duration 0", "notify 2a37 --duration 0 -t 5", "notify 2a37 -t 5",
      "scan -n 100000 --duration 0", "mac-from-adv --duration 0", "mac-from-adv name:Nobody --duration 0", "notify 2a37 -n 2",
      "notify 2a37 -d 3", "scan -n 3 -d 5",
    ])
    #expect(
      try result.status == 4 && result.statuses.count == 10 && result.statuses.filter { $0.value != 0 } == ["2": 4, "5": 2, "7": 2],
      "\(result.text.suffix(2000))")
    #expect(try result.records.count { $0.int("id") == 8 && $0.string("event") == "notification" } == 2)
    let second = try result.records.first { $0.string("event") == "done" && $0.int("id") == 2 }
    #expect(second?["error"]?.string("message") == "The input ended before 5 values arrived.", "\(result.text)")
  }

  @Test func controlCEndsIt() throws {
    let running = try Blectl.start(["repl", "--json"])
    running.send(line: "connect name:Band-7")
    #expect(running.waitForOutput(containing: "done"))
    #expect(running.end(by: SIGINT).status == 130)
  }

  @Test func aDeviceThatGoesIsTold() throws {
    let result = try run(
      ["connect \(Fleeting.peer)", "write fff2 00", "sleep 5", "read fff1", "connect", "read 2a00"], adapter: try Fleeting.adapter())
    let lost = try result.records.first { $0.string("event") == "disconnected" }
    #expect(lost?["error"]?.string("kind") == "link_lost" && lost?.string("address") == "D1:00:00:00:00:42", "\(result.text)")
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0, "4": 6, "5": 0, "6": 0])
  }

  /// All commands wait for the device, including subscribe and wait.
  @Test func commandsWaitUntilItIsBack() throws {
    let result = try run(
      [
        "set reconnect on", "connect \(Fleeting.peer)", "subscribe fff1", "write fff2 00", "sleep 0.3", "read 2a00", "subscribe fff3",
        "wait fff3 -t 30", "connect", "wait fff1 -t 30",
      ], adapter: try Fleeting.adapter())
    #expect(try result.statuses.values.allSatisfy { $0 == 0 }, "\(result.text.suffix(2000))")
  }

  @Test func whichDeviceIsGoneIsSaid() throws {
    let result = try run(
      [
        "connect \(Fleeting.peer)", "connect \(Fleeting.other)", "write \(Fleeting.peer) fff2 00", "sleep 5",
        "disconnect \(Fleeting.other)",
      ],
      adapter: try Fleeting.adapter())
    let lost = try result.records.first { $0.string("event") == "disconnected" && !$0.keys.contains("id") }
    #expect(lost?.string("peer") == Fleeting.peer, "\(result.text)")
  }

  /// Links that are lost and restored by hand leave nothing behind.
  @Test func reconnectingByHandTakesNoMemory() throws {
    let running = try Blectl.start(["repl", "--json"], adapter: try Fleeting.adapter())
    var early = 0
    for number in 1...600 {
      for line in ["connect \(Fleeting.peer)", "subscribe fff1", "write fff2 00"] { running.send(line: line) }
      running.send(line: #"{"id":"\#(number)!","command":"sleep 10"}"#)
      #expect(running.nextLine { $0.contains(#""id":"\#(number)!""#) } != nil)
      if number == 100 { early = try #require(running.peakMemory) }
    }
    let late = try #require(running.peakMemory)
    #expect(running.finish().status == 0)
    #expect(late - early < 1500, "\(early) kB after 100 links, \(late) kB after 600")
  }

  @Test func helpIsARecord() throws {
    let result = try run(["help", "help read", "read --help"])
    #expect(try result.records.filter { $0.string("event") == "help" }.count == 3 && result.status == 0)
  }

  /// One of the lines before or after the loss restores the link. A failed attempt keeps the subscriptions for the next one.
  @Test(arguments: [
    ("set reconnect on", ["sleep 5"]), ("", ["set reconnect on"]), ("", ["connect"]), ("", ["connect name:fleeting --mtu 50"]),
    ("set reconnect on", ["connect"]), ("", ["subscribe \(Fleeting.peer) fff1"]), ("", ["wait \(Fleeting.peer) fff1 -t 30"]),
    ("", ["connect -t 0.001", "connect"]),
  ])
  func itComesBackWithWhatWasSubscribedTo(_ before: String, _ after: [String]) throws {
    let result = try run(
      [before, "connect \(Fleeting.peer)", "subscribe fff1", "write fff2 00", "sleep 5"] + after + ["read 2a00", "sleep 30"],
      adapter: try Fleeting.adapter())
    #expect(try result.statuses.values.count { $0 != 0 } == after.count - 1, "\(result.text)")
    let records = try result.records
    let back = try #require(records.firstIndex { $0.string("event") == "reconnected" })
    #expect(records[back].int("subscriptions") == 1 && records[back].string("address") == "D1:00:00:00:00:42")
    #expect(records[back...].count { $0.string("event") == "notification" && !$0.keys.contains("id") } >= 2, "\(result.text)")
  }

  /// 24 hours of time, 144 losses, a value every ten seconds.
  @Test func aDayOfLossesTakesNoMemory() throws {
    let running = try Blectl.start(["repl", "--json"], adapter: try Fleeting.adapter())
    for line in ["set reconnect on", "connect \(Fleeting.peer)", "subscribe fff1"] { running.send(line: line) }
    var early = 0
    for hour in 1...24 {
      for part in 1...6 {
        running.send(line: "sleep 595")
        running.send(line: #"{"id":"\#(hour).\#(part)","command":"write fff2 00"}"#)
        running.send(line: "sleep 5")
      }
      #expect(running.nextLine { $0.contains(#""id":"\#(hour).6""#) && $0.contains(#""status":0"#) } != nil)
      if hour == 3 { early = try #require(running.peakMemory) }
    }
    let late = try #require(running.peakMemory)
    let result = running.finish()
    let records = try result.records
    #expect(records.count { $0.string("event") == "reconnected" } == 144)
    #expect(records.count { $0.string("event") == "notification" } > 8000)
    #expect(late - early < 1024, "\(early) kB after three hours, \(late) kB after 24")
  }

  @Test func tenThousandCommandsOfFourDevices() throws {
    let peers = ["C0:FF:EE:00:00:07", "D1:00:00:00:00:10", "D1:00:00:00:00:01", "D1:00:00:00:00:02"]
    let running = try Blectl.start(["repl", "--json"])
    for peer in peers { running.send(line: "connect \(peer)") }
    for _ in peers { #expect(running.nextLine { $0.contains("done") && $0.contains(#""status":0"#) } != nil) }
    var (asked, answered) = (0, 0)
    var values: [Int: String] = [:]
    let handles = ["0x0003", "2a00", "generic_access/device_name", "2a01"]
    func ask() {
      running.send(line: #"{"id":\#(asked),"command":"read \#(peers[asked % 4]) \#(handles[asked / 4 % 4])"}"#)
      asked += 1
    }
    for _ in 0..<16 { ask() }
    while answered < 10_000, let line = running.nextLine(where: { _ in true }) {
      let record = try Record(line)
      let id = try #require(record.int("id"))
      guard record.string("event") == "done" else {
        #expect(record.string("event") == "value" && record.string("address") == peers[id % 4])
        values[id] = record.string("value")
        continue
      }
      guard record.int("status") == 0, values.removeValue(forKey: id) != nil else {
        Issue.record("\(line)")
        break
      }
      answered += 1
      if asked < 10_000 { ask() }
    }
    #expect(answered == 10_000 && values.isEmpty)
    #expect(running.finish().status == 0)
  }

  /// Without a reader the link stays, excess values are dropped and counted, and answers arrive when reading resumes.
  @Test func aReaderThatStopsDoesNotStopTheLinks() throws {
    let running = try Blectl.start(["repl", "--json"], adapter: try Fleeting.adapter(), reading: .errorsOnly)
    for line in ["connect \(Fleeting.peer)", "subscribe fff3", "sleep 600", "notify fff1 -n 1 -v", "read 2a00"] {
      running.send(line: line)
    }
    #expect(running.waitForOutput(containing: "Subscribed"))
    running.startReading()
    let result = running.finish()
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0, "4": 0, "5": 0], "\(result.errors)")
    #expect(result.errors.contains("Dropped "), "\(result.errors)")
    #expect(try !result.records.contains { $0.string("event") == "disconnected" })
  }
}

/// A device that disconnects on request.
enum Fleeting {
  static let peer = "D1:00:00:00:00:42/random"
  /// Another device that stays connected.
  static let other = "D1:00:00:00:00:43/random"

  static func adapter() throws -> String {
    try Blectl.simulator(
      """
      [ { "name": "Staying", "address": "\(other)", "advertisement": { "name": "Staying" } },
      { "name": "Fleeting", "address": "\(peer)", "advertisement": { "name": "Fleeting" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["notify"], "periodic": { "every_ms": 10000, "values": ["cafe"] } },
          { "uuid": "fff2", "properties": ["write"], "reactions": [ { "then": [ { "disconnect": true, "after_ms": 200 } ] } ] },
          { "uuid": "fff3", "properties": ["notify"], "periodic": { "every_ms": 20, "values": ["00112233445566778899aabbccddeeff"] } } ] } ] } ]
      """)
  }
}
