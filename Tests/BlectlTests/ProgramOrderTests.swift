import TestSupport

/// `repl --json` runs commands in parallel, except those that depend on each other.
@Suite(.timeLimit(.minutes(15))) struct ProgramOrderTests {
  private func run(_ lines: [String], adapter: String = "sim") throws -> ProcessResult {
    try Blectl.run(["repl", "--json"], input: Array((lines.joined(separator: "\n") + "\n").utf8), adapter: adapter)
  }

  // MARK: source

  /// Lines after `source` apply to the device that the file selects.
  @Test func linesBehindAFileComeAfterIt() throws {
    let file = try TemporaryFolder.file("connect name:Panel\nsleep 100\nread 2a00\n")
    let result = try run(["connect name:Band-7", "source '\(file)'", "read 2a00", "read name:Band-7 2a00"])
    let values = try result.records.filter { $0.string("event") == "value" }
    #expect(values.first?.int("id") == 2 && result.status == 0, "\(result.text)")
    #expect(values.map { "\($0.int("id") ?? 0) \($0.string("text") ?? "")" }.sorted() == ["2 Panel", "3 Panel", "4 Band-7"])
  }

  @Test func aFileIsCancelled() throws {
    let file = try TemporaryFolder.file("notify 2a37\nread 2a19\n")
    let running = try Blectl.start(["repl", "--json"])
    for line in ["connect name:Band-7", #"{"id":"file","command":"source '\#(file)'"}"#, #"{"id":"behind","command":"read 2a00"}"#] {
      running.send(line: line)
    }
    #expect(running.waitForOutput(containing: #""uuid":"2a37""#))
    for line in [#"{"id":"never","command":"read 2a19"}"#, "cancel never", "cancel file"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""id":"behind""#) && $0.contains("done") } != nil)
    let result = running.finish()
    #expect(
      try result.statuses == ["1": 0, "file": 130, "behind": 0, "never": 130, "5": 0, "6": 0], "\(result.text.suffix(2000))")
    #expect(!result.text.contains("2a19"))
  }

  /// The end of the input also stops the endless commands of a file. The rest of the file is run.
  @Test func theEndOfTheInputEndsWhatAFileRuns() throws {
    let file = try TemporaryFolder.file("notify 2a37\nscan --duration 0\nread 2a19\n")
    let result = try run(["connect name:Band-7", "source '\(file)'", "read 2a00"])
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0] && result.status == 0, "\(result.text.suffix(2000))")
    #expect(try result.records.contains { $0.string("uuid") == "2a19" && $0.int("id") == 2 })
  }

  // MARK: Many

  @Test func whatIsFarBehindIsReachedByCancel() throws {
    let running = try Blectl.start(["repl", "--json"])
    running.send(line: "connect name:Band-7")
    running.send(line: #"{"id":"beats","command":"notify 2a37"}"#)
    let count = 6000
    running.send(Array((1...count).map { #"{"id":"\#($0)!","command":"read 2a19"}"# + "\n" }.joined().utf8))
    running.send(line: #"{"id":"c","command":"cancel \#(count)!"}"#)
    #expect(running.nextLine { $0.contains(#""id":"\#(count)!""#) } != nil)
    running.send(line: "cancel beats")
    #expect(running.nextLine { $0.contains(#""id":"\#(count - 1)!""#) && $0.contains("done") } != nil)
    let statuses = try running.finish().statuses
    #expect(statuses["beats"] == 130 && statuses["\(count)!"] == 130 && statuses["c"] == 0)
    #expect((1..<count).allSatisfy { statuses["\($0)!"] == 0 })
  }

  /// Lines beyond the limit are refused, and later ones are read.
  @Test func linesThatAreTooManyAreRefused() throws {
    let running = try Blectl.start(["repl", "--json"])
    running.send(line: "connect name:Band-7")
    running.send(line: #"{"id":"beats","command":"notify 2a37"}"#)
    let long = "read 2a19 # " + String(repeating: "0", count: 4_000_000)
    for number in 1...20 { running.send(line: #"{"id":"\#(number)!","command":"\#(long)"}"#) }
    running.send(line: "cancel beats")
    #expect(running.nextLine { $0.contains(#""id":"beats""#) && $0.contains("done") } != nil)
    let result = running.finish()
    let refused = try result.records.filter { $0["error"]?.string("message")?.contains("Too many commands are waiting") ?? false }
    #expect(refused.allSatisfy { $0.int("status") == 64 })
    #expect(refused.map { $0.string("id") } == ["17!", "18!", "19!", "20!"])
  }

  /// Lines of a file wait in the file, without a limit.
  @Test func linesOfAFileMayBeAsManyAsTheyAre() throws {
    let long = "read 2a19 # " + String(repeating: "0", count: 4_000_000) + "\n"
    let file = try TemporaryFolder.file("connect name:Band-7\n" + String(repeating: long, count: 20))
    let result = try RunningProcess.run(
      ["/bin/sh", "-c", "exec '\(Blectl.path)' repl --json -i sim <'\(file)'"],
      environment: ["PATH": "/usr/bin:/bin", "BLECTL_CLOCK": "virtual"])
    #expect(try result.status == 0 && result.statuses.count == 21, "\(result.text.suffix(2000))\(result.errors)")
  }

  // MARK: Without a device

  @Test func aScanKeepsNobodyWaiting() throws {
    let running = try Blectl.start(["repl", "--json"])
    for line in ["sleep 1", "scan --duration 0", "mac-from-adv --duration 0", "adapters", "peers", "alias"] { running.send(line: line) }
    for id in 4...6 { #expect(running.nextLine { $0.contains(#""event":"done","id":\#(id),"#) } != nil) }
    for line in ["cancel 2", "cancel 3"] { running.send(line: line) }
    let result = running.finish()
    #expect(try result.statuses == ["1": 0, "2": 130, "3": 130, "4": 0, "5": 0, "6": 0, "7": 0, "8": 0], "\(result.text.suffix(2000))")
    // The others finish in the order of the lines.
    let done = try result.records.filter { $0.string("event") == "done" }.compactMap { $0.int("id") }
    #expect(done.filter { [1, 4, 5, 6].contains($0) } == [1, 4, 5, 6])
  }
}

extension ProcessResult {
  /// The exit codes of commands in a session for programs, by identifier.
  var statuses: [String: Int] {
    get throws {
      Dictionary(
        try records.filter { $0.string("event") == "done" }.map {
          ($0.string("id") ?? $0.int("id").map { "\($0)" } ?? $0.int("line").map { "line \($0)" } ?? "?", $0.int("status") ?? -1)
        },
        uniquingKeysWith: { _, _ in -2 })
    }
  }
}
