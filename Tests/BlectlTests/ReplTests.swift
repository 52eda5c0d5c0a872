import TestSupport

/// `blectl repl` and its commands, in the simulator in virtual time.
@Suite(.timeLimit(.minutes(15))) struct ReplTests {
  /// Returns an air with a device that notifies every second, disconnects when written to, and names that command.
  private static func fleeting() throws -> String {
    try Blectl.simulator(
      """
      [ { "name": "Fleeting", "address": "D1:00:00:00:00:42/random", "advertisement": { "name": "Fleeting" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["notify"], "periodic": { "every_ms": 1000, "values": ["cafe"] } },
          { "uuid": "fff2", "properties": ["write"], "descriptors": [ { "uuid": "2901", "value": { "utf8": "Door" } } ],
            "reactions": [ { "then": [ { "disconnect": true, "after_ms": 200 } ] } ] } ] } ] } ]
      """)
  }

  private func connected(columns: Int = 80, environment: [String: String] = [:]) throws -> ReplTerminal {
    let repl = try ReplTerminal(columns: columns, environment: environment)
    try repl.enter("connect name:Band-7")
    try repl.shows("Band-7>", column: 8)
    return repl
  }

  // MARK: What arrives while somebody types

  @Test(arguments: [80, 40]) func notificationsAppearAboveTheLine(_ columns: Int) throws {
    let repl = try connected(columns: columns)
    try repl.enter("subscribe 2a37")
    // Each key takes 0.1 s, and a value comes every second.
    repl.type("read battery_level --as u8\u{1B}[D\u{1B}[D\u{1B}[D")
    try repl.says { $0.contains("heart_rate_measurement") }
    try repl.shows("Band-7> read battery_level --as u8", column: 31)
    repl.type("\u{5}\u{1B}[D\u{1B}[D\u{1B}[C\u{1B}[C\u{1B}[D\u{1B}[C")
    try repl.shows("Band-7> read battery_level --as u8", column: 34)
    try repl.enter("")
    try repl.says("60")
    let screen = repl.leave()
    // The line appears once, with no remains above.
    #expect(screen.lines.count { $0.hasPrefix("Band-7> read") } == 1, "\(screen.lines)")
  }

  @Test func dumbTerminalsShowNotificationsToo() throws {
    let repl = try connected(environment: ["TERM": "dumb"])
    try repl.enter("subscribe 2a37")
    repl.type("xxxxxxxxxxxxxxxxxxxxxxxxx")
    try repl.says { $0.contains("heart_rate_measurement") }
    try repl.shows("Band-7> xxxxxxxxxxxxxxxxxxxxxxxxx")
    repl.type("\u{15}")
    try repl.shows("Band-7>", column: 8)
    _ = repl.leave()
    #expect(!repl.terminal.bytes.contains(0x1B))
  }

  @Test func aLostLinkIsInThePromptUntilItIsBack() throws {
    let repl = try ReplTerminal(adapter: try Self.fleeting())
    try repl.enter("connect name:Fleeting", "set reconnect on", "subscribe fff1", "write fff2 00")
    repl.type("read ")
    try repl.says { $0.contains(" lost: the device closed it") }
    try repl.shows("Fleeting (lost)> read", column: 22)
    repl.type("\u{15}")
    // Commands for the device wait for it.
    try repl.enter("wait fff1 -t 60")
    try repl.says { $0.contains("Fleeting: Reconnected after") }
    try repl.shows("Fleeting>", column: 10)
    #expect(repl.screen.lines.contains { $0.hasSuffix("fff1  cafe") })
    // Without it the link stays down.
    try repl.enter("set reconnect off", "write fff2 00", "sleep 30")
    try repl.shows("Fleeting (lost)>", column: 17)
    try repl.enter("connect")
    try repl.shows("Fleeting>", column: 10)
    _ = repl.leave()
  }

  @Test func twoDevices() throws {
    let repl = try connected()
    try repl.enter("subscribe 2a37", "connect name:Panel")
    try repl.shows("Panel>", column: 7)
    try repl.enter("read name:Band-7 2a19 --as u8")
    try repl.says("60")
    try repl.enter("use name:Band-7")
    try repl.shows("Band-7>", column: 8)
    try repl.enter("sleep 2")
    // With two devices, values carry the device's name.
    try repl.says { $0.contains("Band-7  heart_rate_measurement") }
    try repl.enter("disconnect name:Panel")
    try repl.shows("Band-7>", column: 8)
    try repl.enter("disconnect")
    try repl.shows("blectl>", column: 8)
    _ = repl.leave()
  }

  @Test func afterTheLossOfTheCurrentDeviceValuesKeepTheirName() throws {
    let one = { (name: String, number: Int) in
      """
      { "name": "\(name)", "address": "D1:00:00:00:00:5\(number)/random", "advertisement": { "name": "\(name)" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["notify"], "periodic": { "every_ms": 1000, "values": ["cafe"] } },
          { "uuid": "fff2", "properties": ["write"], "reactions": [ { "then": [ { "disconnect": true } ] } ] } ] } ] }
      """
    }
    let repl = try ReplTerminal(adapter: try Blectl.simulator("[\(one("Beat", 1)), \(one("Brief", 2))]"))
    try repl.enter("connect Beat", "subscribe fff1", "connect Brief", "write fff2 00", "sleep 3")
    let screen = repl.leave()
    let lost = try #require(screen.lines.firstIndex { $0.contains("Brief:") }, "\(screen.lines)")
    let values = screen.lines[lost...].filter { $0.hasSuffix("fff1  cafe") }
    #expect(!values.isEmpty && values.allSatisfy { $0.contains("  Beat  fff1") }, "\(screen.lines)")
  }

  // MARK: Completion

  @Test func tabCompletes() throws {
    let repl = try ReplTerminal()
    repl.type("sc\t")
    try repl.shows("blectl> scan", column: 13)
    try repl.enter("-q --duration 1")
    // A device that was heard.
    repl.type("conn\tba\t")
    try repl.shows("blectl> connect name:Band-7")
    try repl.enter("")
    // Its services are not discovered yet.
    repl.type("read batt\t")
    try repl.shows("Band-7> read battery_level", column: 27)
    repl.type("\u{17}\t")
    try repl.says { $0.hasPrefix("battery_level (180f/2a19, read") }
    try repl.shows("Band-7> read", column: 13)
    // One of the two can be written to, the other notifies.
    repl.type("\u{15}write ff\t")
    try repl.shows("Band-7> write ff02", column: 19)
    repl.type("\u{15}subscribe ff\t")
    try repl.shows("Band-7> subscribe ff01", column: 23)
    repl.type("\u{15}subscribe --as u16\t")
    try repl.says("u16le  u16be")
    try repl.shows("Band-7> subscribe --as u16", column: 26)
    repl.type("\u{15}")
    try repl.shows("Band-7>", column: 8)
    _ = repl.leave()
  }

  @Test func tabCompletesWhatEarlierSessionsHaveConnected() throws {
    let first = try connected()
    try first.enter("alias mine")
    first.type("use @mi\t")
    try first.shows("Band-7> use @mine", column: 18)
    first.type("\u{15}")
    _ = first.leave()
    let second = try ReplTerminal(state: first.state)
    second.type("connect ba\t")
    try second.shows("blectl> connect name:Band-7", column: 28)
    second.type("\u{15}connect mi\t")
    try second.shows("blectl> connect @mine", column: 22)
    second.type("\u{15}")
    _ = second.leave()
  }

  @Test func tabCompletesForTheDeviceThatIsNamed() throws {
    let repl = try connected()
    try repl.enter("connect name:Panel", "scan -q --duration 1 --name gatelock")
    repl.type("read name:Band-7 batt\t")
    try repl.shows("Panel> read name:Band-7 battery_level", column: 38)
    // Devices that were only heard are not in the session.
    repl.type("\u{15}use \t")
    try repl.says { $0.hasPrefix("name:Band-7") && !$0.contains("GateLock") }
    repl.type("\u{15}disconnect gate\t\u{15}set reconnect of\t")
    try repl.shows("Panel> set reconnect off", column: 25)
    repl.type("\u{15}")
    #expect(!repl.screen.lines.joined().contains("disconnect D1"))
    _ = repl.leave()
  }

  /// Tab asks for the device's own names, even if the services are known.
  @Test func tabCompletesWhatTheDeviceCallsIt() throws {
    let repl = try ReplTerminal(adapter: try Self.fleeting())
    try repl.enter("connect name:Fleeting", "services -q")
    repl.type("write doo\t")
    try repl.shows("Fleeting> write fff2", column: 21)
    repl.type("\u{15}")
    _ = repl.leave()
  }

  @Test func nothingEscapesFromTheAir() throws {
    let repl = try ReplTerminal(
      adapter: try Blectl.simulator(
        #"[ { "name": "Evil", "address": "D1:00:00:00:00:01/random", "advertisement": { "name": "\u001b]0;x\u0007\u202eEvil" } } ]"#))
    try repl.enter("scan -q --duration 1")
    repl.type("connect d1\t")
    try repl.shows("blectl> connect D1:00:00:00:00:01/random")
    try repl.enter("")
    try repl.says { $0.hasPrefix("Connected to D1:00:00:00:00:01") }
    repl.type("use \t")
    try repl.says { $0.contains("\\x1b]0;x\\x07\\u{202e}Evil") }
    repl.type("\u{15}")
    let screen = repl.leave()
    #expect(!String(decoding: repl.terminal.bytes, as: UTF8.self).contains("\u{202E}") && screen.unknown.isEmpty)
  }

  // MARK: The end of a command, and of the session

  /// Runs in real time, because virtual time would end before a key press.
  @Test(arguments: [
    "scan --duration 0 --json", "adapters; sleep 1000", "connect name:Nobody -t 100", "services name:Nobody -t 100",
    "read name:Nobody 2a19 -t 100", "write name:Nobody ff02 00 -t 100", "notify 2a37", "subscribe name:Nobody ff01 -t 100",
    "wait ff01 -t 100", "mac-from-adv name:Nobody -t 100", "send-file name:Nobody fff6 /etc/passwd -t 100", "sleep 1000",
    "params name:Nobody -t 100", "rssi name:Nobody -t 100", "mtu name:Nobody -t 100",
  ])
  func interruptEndsEachCommand(_ command: String) throws {
    let repl = try connected(environment: ["BLECTL_CLOCK": "real"])
    repl.type(command + "\r")
    #expect(repl.terminal.wait(columns: 80) { $0.cursor.line != "Band-7> \(command)" && $0.lines.contains("Band-7> \(command)") })
    repl.type("\u{3}")
    #expect(repl.terminal.wait(columns: 80) { $0.isAtPrompt }, "\(repl.screen.lines)")
    try repl.enter("history")
    _ = repl.leave()
    #expect(repl.screen.lines.contains { $0.hasSuffix("  \(command)") } && repl.terminal.echoes)
  }

  /// Before the shell has started its command, Ctrl-C would take effect only when the command ends, so wait for output.
  @Test func interruptEndsACommandOfTheShell() throws {
    let repl = try connected(environment: ["BLECTL_CLOCK": "real"])
    repl.type(#"!perl -e '$| = 1; print "started\n"; sleep 1000'"# + "\r")
    #expect(repl.terminal.wait(columns: 80) { $0.lines.contains("started") })
    repl.type("\u{3}")
    try repl.shows("Band-7>", column: 8)
    _ = repl.leave()
    #expect(repl.terminal.echoes)
  }

  /// Ctrl-C drops pasted lines, which might open a lock.
  @Test(arguments: [("\u{1B}[200~", "\u{1B}[201~\r"), ("", "\r")]) func interruptDropsWhatWasToFollow(_ begin: String, _ end: String) throws
  {
    let repl = try connected(environment: ["BLECTL_CLOCK": "real"])
    repl.type("\(begin)sleep 1000\radapters\radapters\(end)")
    try repl.says("Band-7> sleep 1000")
    repl.type("read 2a19\r")
    #expect(repl.terminal.wait { !TerminalScreen($0, columns: 80).isAtPrompt })
    repl.type("\u{3}")
    try repl.shows("Band-7>", column: 8)
    try repl.enter("history")
    _ = repl.leave()
    #expect(!repl.screen.lines.contains { $0.hasPrefix("NAME") || $0.hasPrefix("3c") }, "\(repl.screen.lines)")
  }

  /// Text that is longer than the screen goes through the pager. Shorter text, and the text for a pager that is missing, does not.
  @Test func longTextIsPaged() throws {
    let repl = try ReplTerminal(environment: ["PAGER": "sed 's/^/| /'"])
    try repl.enter("help")
    #expect(repl.screen.lines.contains { $0.hasPrefix("|   read  ") }, "\(repl.screen.lines)")
    try repl.enter("help use")
    #expect(repl.screen.lines.contains { $0.hasPrefix("OVERVIEW: ") })
    for seconds in 1...24 { try repl.enter("set timeout \(seconds)") }
    try repl.enter("history")
    #expect(repl.screen.lines.contains("|     1  help") && repl.screen.lines.contains("|    27  history"), "\(repl.screen.lines)")
    try repl.enter("history 2")
    #expect(repl.screen.lines.contains("   28  history 2"))
    try repl.enter("history 0")
    try repl.says { $0.contains("history takes the number of lines to show") }
    _ = repl.leave()
    let other = try ReplTerminal(environment: ["PAGER": "no-such-pager"])
    try other.enter("help")
    #expect(other.screen.lines.contains { $0.hasPrefix("  read  ") })
    _ = other.leave()
  }

  @Test func theSystemsShellAndTheEnd() throws {
    let repl = try ReplTerminal()
    try repl.enter("!stty -a | grep -c ' icanon .* echo '; exit 3")
    try repl.says("1")
    try repl.says { $0.hasSuffix("exited with 3") }
    // A line typed while a command runs waits for the prompt.
    repl.type("sleep 1\rexit\r")
    let (status, _) = repl.terminal.finish()
    #expect(status == 0 && repl.screen.modes.isEmpty && repl.terminal.echoes)
  }

  /// Ctrl-C goes to the shell's command, for example `!less`, which continues and reads keys. In real time, for key presses.
  @Test func controlCIsForTheCommandOfTheShell() throws {
    let repl = try connected(environment: ["BLECTL_CLOCK": "real"])
    repl.type("!trap 'echo caught' INT; echo begun; until read line; do :; done; echo \"got $line\"\r")
    try repl.says("begun")
    for number in 1...2 {
      repl.type("\u{3}")
      #expect(repl.terminal.wait(columns: 80) { $0.lines.count { $0.hasSuffix("caught") } == number }, "\(repl.screen.lines)")
    }
    repl.type("a line\r")
    try repl.says("got a line")
    try repl.shows("Band-7>", column: 8)
    // Ctrl-C also still ends its own commands.
    repl.type("sleep 1000\r")
    try repl.says("Band-7> sleep 1000")
    repl.type("\u{3}")
    try repl.shows("Band-7>", column: 8)
    _ = repl.leave()
  }

  @Test func errorsAreToldAndTheSessionGoesOn() throws {
    let repl = try ReplTerminal()
    try repl.enter("raed x")
    try repl.says { $0.hasPrefix("blectl: Unknown command \"raed\". Did you mean read?") }
    try repl.enter("read 'x")
    try repl.says { $0.hasPrefix("blectl: A quote ' is not closed") }
    try repl.enter("read 2a19")
    try repl.says { $0.hasPrefix("blectl: No device is connected") }
    try repl.enter("connect name:Band-7; read 2a19; read zzzz; disconnect")
    // The rest of the line is not executed.
    try repl.shows("Band-7>", column: 8)
    _ = repl.leave()
  }

  @Test func aFileOfCommands() throws {
    let file = try TemporaryFolder.file("# A comment.\nconnect name:Band-7\nread 2a19 --as u8\nread zzzz\nread 2a19 --as hex\n")
    let repl = try ReplTerminal()
    try repl.enter("source \(file)")
    try repl.shows("Band-7>", column: 8)
    try repl.says("60")
    #expect(repl.screen.lines.joined().contains("\(file):4: "), "\(repl.screen.lines)")
    #expect(!repl.screen.lines.contains("3c"))
    _ = repl.leave()
  }
}
