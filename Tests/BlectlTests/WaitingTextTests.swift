import TestSupport

/// What a terminal shows while blectl waits, and where its text breaks.
@Suite(.timeLimit(.minutes(15))) struct WaitingTextTests {
  private static let variables = ["BLECTL_CLOCK": "virtual", "BLECTL_ADAPTER": "sim", "NO_COLOR": "1", "XDG_STATE_HOME": "/dev/null"]

  private func terminal(_ words: [String], columns: Int = 80) throws -> PseudoTerminal {
    try PseudoTerminal(words, columns: columns, rows: 24, environment: Self.variables, hasKeys: true)
  }

  @Test func sleepAndWaitCountDown() throws {
    let sleep = try terminal([Blectl.path, "-e", "sleep 5", "Band-7"]).finish()
    #expect(sleep.status == 0 && sleep.text.contains("Sleeping: 4 s left") && sleep.text.contains("Sleeping: 1 s left"), "\(sleep.text)")
    let wait = try terminal([Blectl.path, "-e", "wait 2a37=ff -t 4", "Band-7"]).finish()
    #expect(wait.status == 4 && wait.text.contains("Waiting for 2a37: 3 s left"), "\(wait.text)")
    // The last line is erased before the error.
    let screen = TerminalScreen(Array(wait.text.utf8), columns: 80)
    #expect(!screen.lines.contains { $0.contains(" s left") }, "\(screen.lines)")
    // Nothing of it is in a pipe.
    let piped = try Blectl.run("-e", "sleep 5", "Band-7")
    #expect(piped.status == 0 && piped.errors.isEmpty, "\(piped.errors)")
  }

  @Test func aValueThatIsTypedHasAPrompt() throws {
    let terminal = try terminal([Blectl.path, "write", "Band-7", "ff02", "-", "--as", "hex"])
    #expect(terminal.wait(for: "Type the data. To end it, press Enter and Ctrl-D."))
    terminal.type("1b9902\r\u{4}")
    #expect(terminal.finish().status == 0)
  }

  @Test func aPipeThatStaysOpenIsShown() throws {
    let terminal = try terminal(["/bin/sh", "-c", "(read line < /dev/tty; echo 1b9902) | \(Blectl.path) write Band-7 ff02 - --as hex"])
    #expect(terminal.wait(for: "Waiting for standard input to end: 1 s"))
    terminal.type("go\r")
    #expect(terminal.finish().status == 0)
  }

  @Test func aPipeWithoutDataIsShown() throws {
    let pipe = TemporaryFolder.path()
    let terminal = try terminal([
      "/bin/sh", "-c", "mkfifo \(pipe); (read line < /dev/tty; echo data) > \(pipe) & \(Blectl.path) send-file Band-7 ff02 \(pipe)",
    ])
    #expect(terminal.wait(for: "Waiting for data from \"\(pipe)\": 1 s"))
    terminal.type("go\r")
    #expect(terminal.finish().status == 0)
  }

  @Test func hexDigitsFromAFileGetANote() throws {
    let note = "note: standard input has only hex digits. blectl writes them as text. To write the bytes that they stand for, add --as hex"
    let text = try Blectl.run("write", "Band-7", "ff02", "-", input: Array("1b9902\n".utf8))
    #expect(text.status == 0 && text.errors.contains(note), "\(text.errors)")
    for (input, options) in [("1b9902\n", ["--as", "hex"]), ("hello\n", []), ("7", [])] {
      let result = try Blectl.run(["write", "Band-7", "ff02", "-"] + options, input: Array(input.utf8))
      #expect(result.status == 0 && !result.errors.contains("hex digits"), "\(input): \(result.errors)")
    }
  }

  // MARK: Breaks

  /// The greeting, `Connected to …` and messages, at several widths.
  @Test(arguments: [80, 60, 40]) func nothingBreaksInsideAWord(_ columns: Int) throws {
    let words = ["To find devices: scan.", "All commands: help.", "Connected to Band-7 (C0:FF:EE:00:00:07),", "dBm"]
    let terminal = try PseudoTerminal(
      [Blectl.path], columns: columns, rows: 24, environment: Self.variables.merging(["INPUTRC": "/dev/null"]) { $1 }, hasKeys: true)
    #expect(terminal.wait(for: "blectl> "))
    terminal.type("connect Band-7\r")
    #expect(terminal.wait(for: "Band-7> "))
    terminal.type("\u{4}")
    let lines = TerminalScreen(Array(terminal.finish().text.utf8), columns: columns).lines
    let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
    for word in words { #expect(text.contains(word), "\(word): \(lines)") }
  }

  @Test func standardErrorFoldsAtItsOwnWidth() throws {
    let terminal = try terminal(["/bin/sh", "-c", "\(Blectl.path) read Nobody-with-a-long-name 2a19 -t 1 | cat"], columns: 46)
    let (_, text) = terminal.finish()
    let lines = text.split(whereSeparator: \.isNewline)
    // A progress line precedes the error on its line.
    let last = try #require(lines.lastIndex { $0.contains("blectl: Cannot find") })
    #expect(lines.count > last + 2 && lines[(last + 1)...].allSatisfy { $0.count <= 46 }, "\(lines)")
  }

  // MARK: Times

  @Test func timesOfASessionHaveTheirZone() throws {
    let repl = try ReplTerminal(environment: ["TZ": "Asia/Tokyo"])
    try repl.enter("connect Band-7", "notify 2a37 -n 1")
    try repl.says { $0.contains(#/^  \d\d:\d\d:\d\d\.\d\d\dZ  heart_rate_measurement/#) }
    try repl.enter("notify 2a37 -n 1 --time local")
    try repl.says { $0.contains(#/^  \d\d:\d\d:\d\d\.\d\d\d\+09:00  heart_rate_measurement/#) }
    try repl.enter("notify 2a37 -n 1 --time none")
    try repl.says { $0.hasPrefix("  heart_rate_measurement") }
    _ = repl.leave()
  }

  @Test func devicesOfAScanHaveTimesIfAskedFor() throws {
    func scan(_ options: String...) throws -> ProcessResult {
      try Blectl.run(["scan", "--devices", "-d", "2"] + options, environment: ["TZ": "Asia/Tokyo"])
    }
    let lines = try scan("--time", "local").lines
    #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(#/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\d\+09:00 [0-9A-F]{2}:/#) }, "\(lines)")
    #expect(try scan().lines.allSatisfy { !$0.contains("T0") })
    let table = try scan("--csv", "--time", "utc").lines
    #expect(table.first?.contains(",packets,first_seen,last_seen,decoded") == true && table.dropFirst().allSatisfy { $0.contains("Z,") })
    #expect(try scan("--csv").lines.first?.contains("first_seen") == false)
    #expect(try scan("--csv", "--time", "none").lines.first?.contains("first_seen") == false)
  }
}
