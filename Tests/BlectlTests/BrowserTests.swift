import Foundation
import Glibc
import TestSupport
import Testing

/// `blectl browse` on a terminal.
@Suite(.timeLimit(.minutes(5))) struct BrowserTests {
  typealias Terminal = BrowserTerminal

  /// A walk with every key, through one device.
  @Test func everyKey() throws {
    let browser = try BrowserTerminal()
    let trace = TemporaryPath()
    #expect(browser.shows("Panel", "Band-7", "GateLock"))
    // The devices.
    browser.type("/band")
    #expect(browser.shows { $0.contains("Devices with “band”") && !$0.contains("Panel") })
    browser.type("\r")
    browser.type(Terminal.right)
    #expect(browser.shows("Manufacturer Specific Data", "Enter connects"))
    browser.type(Terminal.left + "\r")
    #expect(browser.shows("Band-7 · connected 00:00:0", "Battery Level", "60 %  3c", "│● "), "\(browser.screen.text)")
    // The tree.
    browser.type("/2a37\r")
    #expect(browser.shows("Heart Rate Measurement 2a37  0x0015  notify"))
    browser.type("s")
    #expect(browser.shows("◉ Heart Rate Measurement", " bpm  00"))
    browser.type("p")
    #expect(browser.shows { $0.contains("Band-7 · Heart Rate Measurement") && $0.contains("now") })
    browser.type("p")
    #expect(browser.shows { !$0.contains("Band-7 · Heart Rate Measurement") })
    browser.type("s")
    #expect(browser.shows("no longer subscribed to 2a37", "○ Heart Rate Measurement"))
    browser.type(" ")
    #expect(browser.shows("Client Characteristic Configuration", "▾○ Heart Rate"))
    browser.type(Terminal.down)
    #expect(browser.shows("Client Characteristic Configuration 2902  0x0016"))
    browser.type("r")
    browser.type(Terminal.left + Terminal.left)
    #expect(browser.shows { !$0.contains("Client Characteristic Configuration") })
    browser.type("l")
    #expect(browser.shows("┌ Log", "← read response  0000  off  ("))
    browser.type("a")
    #expect(browser.shows("← read response  3c  60 %  ("))
    // Writing, with an answer that was subscribed to; what was typed comes back.
    browser.type("/ff01\rs")
    #expect(browser.shows("subscribed to ff01"))
    browser.type("nw")
    browser.type("\u{1B}")
    browser.type("/ff02\rw")
    #expect(browser.shows("┌ Write ff02", "= blectl -i sim write C0:FF:EE:00:00:07/public ff02"))
    browser.type("1b9901")
    #expect(browser.shows("= blectl -i sim write C0:FF:EE:00:00:07/public ff02 1b9901"))
    browser.type("\r")
    #expect(browser.shows("→ write command 0x001c ff02  1b9901", "← notification 0x0019 ff01  567b3c"), "\(browser.screen.text)")
    browser.type("w" + Terminal.up)
    #expect(browser.shows("1 of 1 written before"))
    browser.type("\t" + Terminal.right)
    #expect(browser.shows("▸ format  utf8"))
    browser.type("\u{1B}")
    #expect(browser.shows { !$0.contains("┌ Write") })
    browser.type("y")
    let command = "blectl -i sim write C0:FF:EE:00:00:07/public ff02 1b9901"
    #expect(browser.shows("copied: \(command)"))
    #expect(browser.screen.clipboard.flatMap { Data(base64Encoded: $0) } == Data(command.utf8))
    // Panes, the mouse, help, the trace.
    browser.type("\u{1B}[<0;5;2M\u{1B}[<0;5;2m")
    browser.type("T\u{15}\(trace.path)\r")
    #expect(browser.shows("recording to"))
    browser.type("\t")
    #expect(browser.shows("r read  w write"))
    browser.type("a?")
    #expect(browser.shows("┌ Keys", "Shift and the mouse"))
    browser.type("\u{1B}T")
    #expect(browser.shows("is complete"))
    browser.type("\u{C}d")
    #expect(browser.shows("Band-7 · not connected"))
    browser.type("\r")
    #expect(browser.shows("Band-7 · connected 00:00:0"))
    browser.type("q")
    #expect(browser.finish() == 0)
    #expect(browser.isAsBefore && browser.screen.unknown.isEmpty, "\(browser.screen.modes) \(browser.screen.unknown)")
    let recorded = try Data(contentsOf: URL(fileURLWithPath: trace.path))
    #expect(recorded.starts(with: Data("btsnoop".utf8)) && recorded.count > 100)
  }

  @Test func severalStayConnected() throws {
    let browser = try BrowserTerminal()
    #expect(browser.shows("Panel", "Band-7", "GateLock"))
    browser.type("/band\r\r")
    #expect(browser.shows("Band-7 · connected", "60 %"))
    browser.type("\u{1B}\u{1B}/panel\r")
    #expect(browser.shows { $0.contains("Devices with “panel”") && $0.contains("Panel") && $0.contains("● ") })
    browser.type(Terminal.home)
    browser.type(Terminal.end + Terminal.home)
    // Whichever is first: the one that is not connected.
    browser.type(browser.screen.lines[1].contains("Panel") ? "\r" : Terminal.down + "\r")
    #expect(browser.shows("Panel · connected"), "\(browser.screen.text)")
    browser.type("\u{1B}\u{1B}")
    #expect(browser.shows { $0.lines.filter { $0.hasPrefix("│● ") }.count == 2 }, "\(browser.screen.text)")
    browser.type("q")
    #expect(browser.finish() == 0 && browser.isAsBefore)
  }

  @Test func aPeerIsConnectedAtOnce() throws {
    let browser = try BrowserTerminal(["name:Band-7"], columns: 60, rows: 20)
    #expect(browser.shows("Band-7 · connected", "Battery Level"), "\(browser.screen.text)")
    browser.type("\t")
    #expect(browser.shows("┌ Devices", "● "))
    browser.type("q")
    #expect(browser.finish() == 0 && browser.isAsBefore)
  }

  @Test func aPeerThatIsNotThereIsSaid() throws {
    let browser = try BrowserTerminal(["name:nobody", "-t", "1"])
    #expect(browser.shows("nobody", "Panel"), "\(browser.screen.text)")
    browser.type("q")
    #expect(browser.finish() == 0)
  }

  @Test func asciiWhereTheLocaleIs() throws {
    let browser = try BrowserTerminal(["name:Band-7"], environment: ["NO_COLOR": "1"], locale: "C")
    #expect(browser.shows("+ Devices", "Battery Level", "60 %"), "\(browser.screen.text)")
    browser.type("q")
    #expect(browser.finish() == 0)
    #expect(browser.terminal.octets.allSatisfy { $0 < 0x80 })
    #expect(!String(decoding: browser.terminal.octets, as: UTF8.self).contains("\u{1B}[32m"))
  }

  /// A link that is lost is shown; Enter makes it again, with what was subscribed to.
  @Test func aLossAndTheWayBack() throws {
    let air = TemporaryPath()
    try air.write(
      Array(
        """
        [{"name": "Loser", "address": "D1:00:00:00:00:01/random", "advertisement": {"flags": 6, "name": "Loser"}, "services": [
          {"uuid": "180d", "characteristics": [
            {"uuid": "2a37", "properties": ["notify"], "periodic": {"every_ms": 200, "values": ["0048", "0049"]}}]},
          {"uuid": "fff0", "characteristics": [
            {"uuid": "fff1", "properties": ["write"], "reactions": [{"when": "ff", "then": [{"disconnect": true}]}]}]}]}]
        """.utf8))
    let browser = try BrowserTerminal(["name:Loser"], adapter: "sim:\(air.path)")
    #expect(browser.shows("Loser · connected", "fff1"))
    browser.type("/2a37\rs")
    #expect(browser.shows("◉ Heart Rate", " bpm "))
    browser.type("/fff1\rwff\r")
    #expect(browser.shows("Loser · link lost", "│! "), "\(browser.screen.text)")
    #expect(browser.screen.contains("○ Heart Rate") && browser.screen.contains(" bpm "))
    browser.type("r\r")
    #expect(browser.shows("Loser · connected", "│● ", "◉ Heart Rate", "subscribed to 2a37"), "\(browser.screen.text)")
    browser.type("q")
    #expect(browser.finish() == 0 && browser.isAsBefore)
  }

  /// The radio is gone in the middle of a link.
  @Test func theRadioGoes() throws {
    let path = TemporaryPath()
    let air = try Blectl.start(["sim", "--listen", "unix:\(path.path)", "--stay"], adapter: nil, virtual: false)
    #expect(air.waitForOutput(containing: path.path))
    let browser = try BrowserTerminal(["name:Band-7"], adapter: "unix:\(path.path)")
    #expect(browser.shows("Band-7 · connected", "60 %"))
    air.signal(SIGKILL)
    _ = air.wait()
    #expect([3, 6].contains(browser.finish()), "\(browser.screen.text)")
    #expect(browser.isAsBefore && browser.terminal.octets.suffix(200).contains(0x3A), "\(browser.screen.text)")
  }

  /// Whatever the air does, keys are answered, and of many devices the strongest are seen.
  @Test func aBusyAir() throws {
    let controller = try H4Controller()
    let browser = try BrowserTerminal(adapter: controller.adapter, columns: 80)
    #expect(controller.command(0x200C)?.first == 1)
    #expect(controller.flood(20_000))
    #expect(browser.shows("1–27 of 250"), "\(browser.screen.text)")
    browser.type(Terminal.end)
    #expect(browser.shows("224–250 of 250"), "\(browser.screen.text)")
    browser.type("q")
    #expect(controller.flood(250))
    #expect(browser.finish() == 0 && browser.isAsBefore)
  }

  // MARK: The end

  @Test(arguments: [("q", 0, 0), ("\u{3}", 0, 130), ("", SIGTERM, 143), ("", SIGHUP, 129), ("", SIGINT, 130)] as [(String, Int32, Int32)])
  func everyExitLeavesTheTerminalAsItWas(_ keys: String, _ signal: Int32, _ status: Int32) throws {
    let browser = try BrowserTerminal(["name:Band-7"])
    #expect(browser.shows("Battery Level", "60 %"))
    #expect(browser.screen.modes.contains("?1049") && !browser.terminal.echoes)
    if keys.isEmpty { browser.terminal.signal(signal) } else { browser.type(keys) }
    #expect(browser.finish() == status)
    #expect(browser.isAsBefore && browser.terminal.echoes, "\(browser.screen.modes)")
  }

  /// To the last flag; and after a crash, which a shell has to live with.
  @Test(arguments: [0, SIGSEGV]) func theTerminalIsTheSame(_ signal: Int32) throws {
    let (before, after) = (TemporaryPath(), TemporaryPath())
    let screen = FullScreen(columns: 80, rows: 24)
    // With a process group of its own: the signal is for the browser alone.
    let terminal = try PseudoTerminal(
      ["bash", "-c", "set -m; ulimit -c 0; stty -g >\(before.path); '\(Blectl.path)' browse -i sim; stty -g >\(after.path); echo ended"],
      columns: 80, rows: 24, environment: ["SWIFT_BACKTRACE": "enable=no"], hasKeys: true)
    func shows(_ text: String) -> Bool {
      terminal.wait {
        screen.take($0)
        return screen.contains(text)
      }
    }
    #expect(shows("Panel"))
    if signal == 0 { terminal.type("q") } else { terminal.signal(signal) }
    #expect(shows("ended"))
    _ = terminal.finish()
    let states = try [before, after].map { try String(contentsOfFile: $0.path, encoding: .utf8) }
    #expect(states[0] == states[1] && !states[0].isEmpty)
    #expect(screen.modes.isDisjoint(with: ["?1049", "?1000", "?1006"]) && screen.modes.contains("?25"), "\(screen.modes)")
  }

  /// Ctrl-Z gives the shell its terminal, fg brings the screen back.
  @Test func stoppedAndContinued() throws {
    let screen = FullScreen(columns: 80, rows: 24)
    let terminal = try PseudoTerminal(
      [
        "bash", "-c",
        "set -m; '\(Blectl.path)' browse -i sim; echo stopped $?; stty -a | grep -o ' echo '; read -r line; fg >/dev/null; echo ended $?",
      ], columns: 80, rows: 24, hasKeys: true)
    func shows(_ text: String) -> Bool {
      terminal.wait {
        screen.take($0)
        return screen.contains(text)
      }
    }
    #expect(shows("Band-7"))
    terminal.type("\u{1A}")
    #expect(shows("stopped 148"))
    #expect(!screen.modes.contains("?1049") && screen.modes.contains("?25"))
    terminal.type("\n")
    #expect(
      terminal.wait {
        screen.take($0)
        return screen.modes.contains("?1049") && screen.contains("Band-7")
      })
    terminal.type("q")
    #expect(shows("ended 0"))
    #expect(terminal.finish().status == 0)
  }

  @Test func resizing() throws {
    let browser = try BrowserTerminal(["name:Band-7"])
    #expect(browser.shows("Battery Level", "┌ Devices"))
    browser.resize(60, 20)
    #expect(
      browser.shows { $0.lines[0].hasPrefix("┌ Band-7") && $0.lines[18].hasPrefix("└") && !$0.contains("┌ Devices") },
      "\(browser.screen.text)")
    browser.resize(30, 8)
    #expect(browser.shows("This window has 30×8."))
    browser.resize(160, 50)
    #expect(browser.shows { $0.contains("┌ Devices") && $0.contains("┌ Band-7") && $0.lines[48].hasPrefix("└") }, "\(browser.screen.text)")
    browser.type("q")
    #expect(browser.finish() == 0 && browser.isAsBefore)
  }

  /// Who holds the browser's keys types ahead: in virtual time every key has a second of its own.
  @Test func typedAheadInVirtualTime() throws {
    let screen = FullScreen(columns: 100, rows: 30)
    let browser = try BrowserTerminal(["name:Band-7"], environment: ["BLECTL_CLOCK": "virtual"])
    browser.type("/2a37\rsllll\u{C}\u{C}q")
    #expect(browser.finish() == 0)
    // The last screen before the end.
    let octets = browser.terminal.octets
    let end = String(decoding: octets, as: UTF8.self).components(separatedBy: "\u{1B}[?1049l")[0]
    screen.take(Array(end.utf8))
    #expect(screen.contains("◉ Heart Rate Measurement") && screen.contains(" bpm"), "\(screen.text)")
  }

  // MARK: Where it cannot be

  @Test func refused() throws {
    for (arguments, environment) in [(["--json"], [:]), ([], ["TERM": "dumb"]), ([], ["TERM": "nonsense"])]
      as [([String], [String: String])]
    {
      let terminal = try PseudoTerminal(
        [Blectl.path, "browse", "-i", "sim"] + arguments, columns: 80, rows: 24,
        environment: environment.merging(["NO_COLOR": "1"]) { $1 }, hasKeys: true)
      let (status, text) = terminal.finish()
      #expect(status == 64 && text.contains("blectl: ") || text.contains("{\"error\""), "\(arguments) \(environment): \(text)")
      #expect(!text.contains("\u{1B}"), "\(text)")
    }
    let piped = try Blectl.run("browse")
    #expect(piped.status == 64 && piped.errors.contains("terminal"), "\(piped.errors)")
  }

  /// What is wrong with the radio is told as everywhere.
  @Test func withoutARadio() throws {
    let browser = try BrowserTerminal(adapter: "unix:/nonexistent")
    #expect(browser.finish() == 3)
    #expect(browser.screen.contains("blectl: "), "\(browser.screen.text)")
    #expect(!browser.terminal.octets.contains(0x1B) || browser.isAsBefore)
  }
}
