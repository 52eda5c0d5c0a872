import Foundation
import TestSupport

/// Line editing in `blectl repl`.
@Suite(.timeLimit(.minutes(15))) struct LineEditorTests {
  @Test func keysEditTheLine() throws {
    let repl = try ReplTerminal()
    try repl.shows("blectl>", column: 8)
    repl.type("read ffe2")
    try repl.shows("blectl> read ffe2", column: 17)
    // Left twice, delete one before the cursor, insert one.
    repl.type("\u{1B}[D\u{1B}[D\u{7F}0")
    try repl.shows("blectl> read f0e2", column: 15)
    // Start of line, a word forward, kill the rest, and yank twice.
    repl.type("\u{1}\u{1B}f\u{B}\u{19}\u{19}")
    try repl.shows("blectl> read f0e2 f0e2")
    repl.type("\u{15}")
    try repl.shows("blectl>", column: 8)
    repl.type("größe 温度\u{1B}[D\u{1B}[D\u{1B}[D")
    try repl.shows("blectl> größe 温度", column: 13)
    repl.type("\u{3}")
    try repl.shows("blectl>", column: 8)
    try repl.says("blectl> größe 温度^C")
    _ = repl.leave()
  }

  @Test func linesAreKeptForTheNextRun() throws {
    let first = try ReplTerminal()
    // Lines that start with a blank are left out, and so are repetitions.
    for line in ["adapters", "adapters", " adapters -q", "adapters --json", ""] {
      first.type(line + "\r")
    }
    _ = first.leave()
    #expect(first.history == "adapters\nadapters --json\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: first.state + "/blectl/history")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let second = try ReplTerminal(state: first.state)
    second.type("\u{1B}[A\u{1B}[A")
    try second.shows("blectl> adapters")
    second.type("\u{1B}[B")
    try second.shows("blectl> adapters --json")
    second.type("\u{3}")
    try second.shows("blectl>", column: 8)
    second.type("\u{12}ters")
    try second.shows("(reverse-i-search)`ters': adapters --json")
    second.type("\u{12}")
    try second.shows("(reverse-i-search)`ters': adapters")
    second.type(" \u{7}")
    try second.shows("blectl>", column: 8)
    // A parallel session: each appends to the other's history.
    let third = try ReplTerminal(state: first.state)
    for (number, repl) in [second, third, second, third].enumerated() {
      repl.type("adapters -\(String(repeating: "v", count: number + 1))\r")
      try repl.says { $0.hasSuffix("-\(String(repeating: "v", count: number + 1))") }
      try repl.shows("blectl>", column: 8)
    }
    _ = second.leave()
    _ = third.leave()
    #expect(first.history == "adapters\nadapters --json\nadapters -v\nadapters -vv\nadapters -vvv\nadapters -vvvv\n")
  }

  @Test func whatIsPastedIsOneLineUntilItIsAccepted() throws {
    let repl = try ReplTerminal()
    try repl.shows("blectl>")
    #expect(repl.screen.modes == ["?2004"])
    repl.type("\u{1B}[200~adapters -q\nadapters --quiet\n\u{1B}[201~")
    try repl.says("blectl> adapters -q")
    try repl.says("adapters --quiet")
    repl.type("\r")
    try repl.shows("blectl>", column: 8)
    #expect(repl.screen.lines.count { $0.hasPrefix("NAME  ADDRESS") } == 2)
    _ = repl.leave()
    #expect(repl.history == "adapters -q\nadapters --quiet\n")
  }

  /// Long lines wrap at the terminal's width, and are redrawn when it changes.
  @Test func fortyColumnsAndResizing() throws {
    let repl = try ReplTerminal(columns: 40)
    let line = "write name:Panel fff6 " + String(repeating: "0123456789", count: 6)
    repl.type(line)
    try repl.shows(String(line.suffix(line.count - 72)), column: 10)
    repl.type("\u{1}")
    try repl.shows("blectl> " + line.prefix(32), column: 8)
    let rows = ["blectl> " + line.prefix(32), String(line.dropFirst(32).prefix(40)), String(line.dropFirst(72))]
    #expect(Array(repl.screen.lines.suffix(3)) == rows)
    repl.type("\u{5}\u{15}")
    try repl.shows("blectl>", column: 8)
    _ = repl.leave()
    let wide = try ReplTerminal(columns: 40)
    try wide.shows("blectl>")
    wide.terminal.resize(columns: 100, rows: 24)
    wide.type(String(repeating: "x", count: 80))
    #expect(wide.terminal.wait(columns: 100) { $0.cursor.line == "blectl> " + String(repeating: "x", count: 80) })
    wide.type("\u{15}")
    _ = wide.leave()
  }

  /// A dumb terminal gets no escape sequences.
  @Test func dumbTerminal() throws {
    let repl = try ReplTerminal(environment: ["TERM": "dumb"])
    repl.type("adapters -q\u{2}\u{2}\u{2}\u{2}\r")
    try repl.says { $0.hasPrefix("NAME  ADDRESS") }
    repl.type("xyz")
    try repl.shows("blectl> xyz")
    repl.type("\u{15}")
    let screen = repl.leave()
    #expect(!repl.terminal.bytes.contains(0x1B), "\(screen)")
  }

  @Test func asciiWhereTheLocaleIs() throws {
    let repl = try ReplTerminal(locale: "C")
    repl.type("größe")
    try repl.shows("blectl> gr\\303\\266\\303\\237e")
    repl.type("\u{15}")
    _ = repl.leave()
  }

  /// Ctrl-C ends the command, not the session. At exit the terminal is restored.
  @Test func interruptEndsTheCommandOnly() throws {
    // In real time: virtual time would run as fast as this test can read.
    let repl = try ReplTerminal(environment: ["BLECTL_CLOCK": "real"])
    repl.type("notify name:Band-7 2a37\r")
    try repl.says { $0.contains("heart_rate_measurement") }
    repl.type("\u{3}")
    try repl.shows("blectl>", column: 8)
    repl.type("adapters -q\r")
    try repl.says { $0.hasPrefix("NAME  ADDRESS") }
    _ = repl.leave()
    #expect(repl.terminal.echoes)
  }

  /// Ctrl-\ exits immediately, and leaves a terminal that echoes input and does not bracket pastes.
  @Test(arguments: [["repl"], ["gatttool", "-I"]]) func quitGivesTheTerminalBack(_ arguments: [String]) throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim"] + arguments, columns: 80, rows: 24,
      environment: [
        "BLECTL_CLOCK": "virtual", "INPUTRC": "/dev/null", "SWIFT_BACKTRACE": "enable=no", "XDG_STATE_HOME": TemporaryFolder.path(),
      ], hasKeys: true)
    #expect(terminal.wait(columns: 80) { $0.cursor.line.hasSuffix(">") && $0.modes == ["?2004"] })
    #expect(!terminal.echoes)
    terminal.type("\u{1C}")
    #expect(terminal.finish().status != 0)
    #expect(terminal.echoes && TerminalScreen(terminal.bytes, columns: 80).modes.isEmpty)
  }

  /// A macro of inputrc that calls itself is stopped. The text typed by it stays.
  @Test func aMacroThatCallsItselfIsStopped() throws {
    let macros = #""\C-t": "x\C-h\C-t""# + "\n" + #""\C-g": "abc""# + "\n"
    let repl = try ReplTerminal(environment: ["INPUTRC": try TemporaryFolder.file(macros)])
    repl.type("\u{14}")
    try repl.says { $0.hasPrefix("note: Stopped an inputrc macro after 4096 commands") }
    repl.type("\u{7}")
    try repl.shows("blectl> xabc", column: 12)
    repl.type("\u{15}")
    try repl.shows("blectl>", column: 8)
    _ = repl.leave()
  }
}
