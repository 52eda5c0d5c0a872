import Foundation
import TestSupport

/// `gatttool -I` on a terminal, byte for byte. The steps are from a log of gatttool 5.66 with readline 8.2.
@Suite(.timeLimit(.minutes(15))) struct GatttoolDialogueTests {
  private static let lock = "D1:00:00:00:00:01"
  private static let base = "-0000-1000-8000-00805f9b34fb"
  private static let (marksOn, marksOff) = ("\u{1B}[?2004h", "\u{1B}[?2004l\r")
  private static let error = "\u{1B}[0;91mError: \u{1B}[0m"
  private static let failed = "\u{1B}[0;91mCommand Failed: \u{1B}[0m"

  /// A line, its immediate output, and its later output.
  private struct Step {
    let line: String
    var now: [String] = []
    var later: [String] = []
    /// The line of `later` from which there is a link. Nil leaves the state unchanged.
    var connects: Bool?
  }

  private static let steps = [
    Step(line: "primary", now: ["\(failed)Disconnected"]), Step(line: "foo", now: ["\(error)foo: command not found"]),
    Step(line: "sec-level", now: ["sec-level: low"]), Step(line: "'x"),
    Step(line: "connect", now: ["Attempting to connect to \(lock)"], later: ["Connection successful"], connects: true),
    Step(
      line: "Primary",
      later: [
        "attr handle: 0x0001, end grp handle: 0x0005 uuid: 00001800\(base)",
        "attr handle: 0x0006, end grp handle: 0x0009 uuid: 00001801\(base)",
        "attr handle: 0x000a, end grp handle: 0x000f uuid: 0000ffe0\(base)",
      ]),
    Step(line: "primary ffe0", later: ["Starting handle: 0x000a Ending handle: 0x000f"]),
    Step(line: "primary abcd", later: ["\(error)No service UUID found"]), Step(line: "primary zz", now: ["\(error)Invalid UUID"]),
    Step(line: "included", later: ["No included services found for this range"]),
    Step(line: "included 1 zz", now: ["\(error)Invalid end handle: zz"]),
    Step(
      line: "characteristics d",
      later: ["handle: 0x000d, char properties: 0x12, char value handle: 0x000e, uuid: 0000ffe2\(base)"]),
    Step(line: "char-desc 0x000a a", later: ["handle: 0x000a, uuid: 00002800\(base)"]),
    Step(line: "char-desc f000", later: ["\(error)Discover descriptors failed: No attribute found within the given range"]),
    Step(line: "char-read-hnd 3", later: ["Characteristic value/descriptor: 47 61 74 65 4c 6f 63 6b "]),
    Step(line: "char-read-hnd", now: ["\(error)Missing argument: handle"]),
    Step(line: "char-read-uuid 2a00", later: ["handle: 0x0003 \t value: 47 61 74 65 4c 6f 63 6b "]),
    Step(line: "char-read-uuid 2a00 1 zz", now: ["\(error)Invalid end handle: 1"]),
    Step(line: "char-write-req 15", now: ["Usage: char-write-req <handle> <new value>"]),
    Step(line: "char-write-cmd 0 00", now: ["\(error)A valid handle is required"]),
    Step(line: "char-write-req f 0100", later: ["Characteristic value was written successfully"]),
    Step(line: "mtu 5", now: ["\(error)Invalid value. Minimum MTU size is 23"]),
    Step(line: "mtu 50", now: ["\(failed)MTU exchange can only occur once per connection."]),
    Step(line: "connect"), Step(line: "disconnect", connects: false),
    Step(line: "char-read-hnd 3", now: ["\(failed)Disconnected"]),
  ]

  /// With a bond, the link reaches the level. Without one, blectl starts no pairing.
  @Test func securityLevels() throws {
    let state = ["XDG_STATE_HOME": TemporaryFolder.path()]
    func read(_ level: String) throws -> Blectl.Result {
      let handle = try #require(
        try Blectl.run(["services", "SafeLock", "--json"]).records.flatMap { $0.records("characteristics") }.first {
          $0.string("uuid") == "ff51"
        })
      return try Blectl.run(
        ["gatttool", "-b", "D1:00:00:00:00:50", "-t", "random", "-l", level, "--char-read", "-a", "\(handle.int("value_handle") ?? 0)"],
        environment: state)
    }
    for (level, number) in [("medium", 2), ("high", 3)] {
      let refused = try read(level)
      #expect(
        refused.status == 1
          && refused.errors
            == "connect to D1:00:00:00:00:50: Permission denied (13). No bond reaches the security level \(level). Pair first: "
            + "blectl pair D1:00:00:00:00:50 --level \(number)\n",
        "\(refused.errors)")
    }
    #expect(try read("low").errors.contains("Attribute requires authentication before read/write"))
    #expect(try Blectl.run(["bonds", "--json"], environment: state).text.isEmpty)
    #expect(try Blectl.run(["pair", "SafeLock", "--passkey", "246810"], environment: state).status == 0)
    for level in ["low", "medium", "HIGH"] {
      let read = try read(level)
      #expect(
        read.status == 0 && read.text == "Characteristic value/descriptor: 6c 6f 63 6b 65 64 \n", "\(level): \(read.text)\(read.errors)")
    }
  }

  @Test func protocolOnATerminal() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "gatttool", "-I", "-b", Self.lock, "-t", "random"], columns: 80, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual", "INPUTRC": "/dev/null"], hasKeys: true)
    var isConnected = false
    var expected = Self.marksOn + prompt(false)
    try expect(terminal, expected)
    for step in Self.steps {
      terminal.type(step.line + "\r")
      expected += "\(step.line)\r\n\(Self.marksOff)" + step.now.map { $0 + "\r\n" }.joined()
      if step.connects == false { isConnected = false }
      expected += Self.marksOn + prompt(isConnected)
      if step.connects == true { isConnected = true }
      for line in step.later { expected += "\r\u{1B}[K\(line)\r\n" + prompt(isConnected) }
      try expect(terminal, expected)
    }
    terminal.type("exit\r")
    let (status, text) = terminal.finish()
    #expect(status == 0 && text == expected + "exit\r\n\(Self.marksOff)", "\(status) \(text.dropFirst(expected.count))")
  }

  private func prompt(_ isConnected: Bool) -> String { isConnected ? "\u{1B}[0;94m[\(Self.lock)]\u{1B}[0m[LE]> " : "[\(Self.lock)][LE]> " }

  private func expect(_ terminal: PseudoTerminal, _ expected: String) throws {
    let count = expected.utf8.count
    _ = terminal.wait { $0.count >= count }
    let text = String(decoding: terminal.bytes, as: UTF8.self)
    try #require(text == expected, "\(text.debugDescription)")
  }

  /// A notification appears above the typed line, an empty line is hidden, Ctrl-C clears, Ctrl-D exits.
  @Test func keys() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "gatttool", "-I"], columns: 80, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual", "INPUTRC": "/dev/null"],
      hasKeys: true)
    let prompt = "[                 ][LE]> "
    var expected = Self.marksOn + prompt
    for (keys, shown) in [
      ("\r", "\r\u{1B}[K\r\(Self.marksOff)\(Self.marksOn)\(prompt)"), ("pri\t", "primary "), ("\u{3}", "\r\n\(prompt)"),
      ("char-w\t\t", "char-write-\r\nchar-write-cmd  char-write-req  \r\n\(prompt)char-write-"), ("\u{3}", "\r\n\(prompt)"),
      ("connect C0:FF:EE:00:00:07\r", "connect C0:FF:EE:00:00:07\r\n\(Self.marksOff)Attempting to connect to C0:FF:EE:00:00:07\r\n"),
    ] {
      try expect(terminal, expected)
      terminal.type(keys)
      expected += shown
    }
    #expect(terminal.wait(for: "Connection successful\r\n"))
    terminal.type("char-write-req 0016 0100\r")
    #expect(terminal.wait(for: "written successfully\r\n"))
    // Keys advance the time.
    for _ in 0..<15 { terminal.type("x") }
    #expect(
      terminal.wait {
        String(decoding: $0, as: UTF8.self).contains(/\r\x1B\[KNotification handle = 0x0015 value: ([0-9a-f]{2} )+\r\n\S+\[LE\]> x/)
      })
    terminal.type("\u{15}\u{4}")
    let (status, text) = terminal.finish()
    #expect(status == 0 && text.hasSuffix("\(Self.marksOff)\r\n\r\n"), "\(status) \(text.suffix(100).debugDescription)")
  }

  /// Without a terminal, lines come from a pipe.
  @Test func pipe() throws {
    let input = "help\nfoo\nconnect"
    let result = try Blectl.run(["gatttool", "-I"], input: Array(input.utf8))
    let lines = result.text.components(separatedBy: "\n")
    #expect(result.status == 0 && result.errors.isEmpty && lines.count == 22, "\(result.text)\(result.errors)")
    #expect(lines.first == "[                 ][LE]> help")
    #expect(lines.contains("char-read-uuid  <UUID> [start hnd] [end hnd]   Characteristics Value/Descriptor Read by UUID"))
    #expect(
      lines.suffix(6) == [
        "[                 ][LE]> foo", "\(Self.error)foo: command not found", "[                 ][LE]> connect",
        "\(Self.error)Remote Bluetooth address required", "[                 ][LE]> ", "",
      ])
  }
}
