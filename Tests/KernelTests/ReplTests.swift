import TestSupport

extension KernelTests {
  /// An interactive session on a terminal, over the kernel's sockets.
  @Suite struct ReplTests {
    private func start(_ air: BumbleAir, columns: Int = 80) throws -> ReplTerminal {
      try ReplTerminal(columns: columns, environment: ["BLECTL_CLOCK": "real"], adapter: air.adapter)
    }

    @Test(arguments: [80, 40]) func aWalk(_ columns: Int) throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on", "--second")
      let repl = try start(air, columns: columns)
      try repl.enter("scan -q -n 2 --name lock-01")
      // The name of a device that was just heard.
      repl.type("conn\tlock-01\t")
      try repl.shows("blectl> connect name:Lock-01")
      try repl.enter("")
      try repl.shows("Lock-01>", column: 9)
      repl.type("subscribe ffe5\u{1B}[D\u{1B}[D0\u{7F}\u{5}\r")
      // A value from the device leaves the line unchanged.
      repl.type("read ffe2\u{1B}[D")
      try repl.says { $0.contains("  ffe5  ") }
      try repl.shows("Lock-01> read ffe2", column: 17)
      try repl.enter("")
      try repl.says { $0.contains("hello lock") }
      repl.type("write ffe\t\t")
      try repl.says { $0.hasPrefix("ffe1") }
      repl.type("\u{15}")
      // A search in the history.
      repl.type("\u{12}ad ff\r")
      try repl.enter("connect name:Lock-02")
      try repl.shows("Lock-02>", column: 9)
      try repl.says { $0.contains("Lock-01  ffe5") }
      try repl.enter("use name:Lock-01")
      repl.type("notify ffe6\r")
      #expect(repl.terminal.wait(columns: columns) { !$0.isAtPrompt && $0.cursor.line.isEmpty })
      repl.type("\u{3}")
      try repl.shows("Lock-01>", column: 9)
      // The terminal changes its size in the middle of a line.
      repl.terminal.resize(columns: 100, rows: 24)
      repl.type(String(repeating: "x", count: 85))
      #expect(repl.terminal.wait(columns: 100) { $0.cursor.line == "Lock-01> " + String(repeating: "x", count: 85) })
      repl.type("\u{3}")
      #expect(repl.terminal.wait(columns: 100) { $0.isAtPrompt })
      _ = repl.leave()
      #expect(repl.terminal.echoes)
      try Guest.expectQuiet(air.adapter)
    }

    @Test func aLostLinkComesBack() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on", "--second")
      let file = try TemporaryFolder.file("set reconnect on\nconnect name:Lock-01\nsubscribe ffe5\nread ffe2\n")
      let repl = try start(air)
      try repl.enter("source \(file)")
      try repl.says("hello lock")
      air.say("away")
      try repl.shows("Lock-01 (lost)>", column: 16)
      air.say("back")
      try repl.says { $0.contains("1 subscription restored") }
      try repl.shows("Lock-01>", column: 9)
      try repl.enter("wait ffe5 -t 10", "params")
      try repl.says { $0.contains("ms") && $0.contains("bytes") }
      _ = repl.leave()
      try Guest.expectQuiet(air.adapter)
    }
  }
}
