import Foundation
import Glibc
import TestSupport

/// `blectl browse` handles its terminal in real time: size, Ctrl-Z, and every way to exit.
@Suite(.timeLimit(.minutes(15))) struct BrowserTerminalTests {
  /// ncurses gets a size that it can handle, at the start and later. The rest of the terminal stays empty.
  @Test func aTerminalWithoutBounds() throws {
    let browser = try BrowserTerminal(columns: 5000, rows: 30)
    func width(_ screen: FullScreen) -> Int { screen.lines.map(\.count).max() ?? 0 }
    try browser.see { $0.contains("Band-7") && width($0) == 4096 }
    browser.resize(80, 24)
    try browser.see { $0.contains("Band-7") && width($0) == 80 }
    browser.resize(5000, 24)
    try browser.see { $0.contains("Band-7") && width($0) == 4096 }
    browser.quit()
  }

  static let real = ["BLECTL_CLOCK": "real"]

  @Test func resizing() throws {
    let browser = try BrowserTerminal(["name:Band-7"], environment: Self.real)
    try browser.see("Battery Level", "┌ Devices")
    browser.resize(60, 20)
    try browser.see {
      $0.lines[0].hasPrefix("┌ Band-7") && $0.lines[18].hasPrefix("└") && $0.lines[19].hasPrefix("r read") && !$0.contains("┌ Devices")
    }
    browser.resize(30, 8)
    try browser.see("This window has 30×8.")
    browser.resize(160, 50)
    try browser.see {
      $0.contains("┌ Devices") && $0.contains("┌ Band-7") && $0.lines[48].hasPrefix("└") && $0.lines[49].hasSuffix("q quit")
    }
    browser.quit()
  }

  /// Resizing also works while virtual time stands still.
  @Test func resizingInVirtualTime() throws {
    let browser = try BrowserTerminal(["name:Band-7"])
    try browser.see("Battery Level", "┌ Devices")
    browser.resize(60, 20)
    try browser.see { $0.lines[0].hasPrefix("┌ Band-7") && $0.lines[18].hasPrefix("└") && !$0.contains("┌ Devices") }
    browser.quit()
  }

  /// A busy air does not delay keys, and the list shows the strongest devices.
  @Test func aBusyAir() throws {
    let controller = try H4Controller()
    let browser = try BrowserTerminal(adapter: controller.adapter, columns: 80)
    #expect(controller.command(0x200C)?.first == 1)
    #expect(controller.flood(20_000))
    try browser.see("1–27 of 250")
    browser.type(BrowserTerminal.end)
    try browser.see("224–250 of 250")
    browser.type("q")
    // The program may have exited already.
    _ = controller.flood(250)
    #expect(browser.finish() == 0 && browser.isAsBefore)
  }

  /// Ctrl-C closes what is open over the lists, and then ends the browser.
  @Test func controlCClosesAPromptFirst() throws {
    let browser = try BrowserTerminal(["name:Band-7"], environment: Self.real)
    try browser.see("Battery Level", "60 %")
    for (key, text) in [("/", "find:"), ("?", "Keys"), ("T", "trace to file: ")] {
      browser.type(key)
      try browser.see(text)
      browser.type("\u{3}")
      try browser.see(not: [text])
    }
    browser.type("\u{3}")
    #expect(browser.finish() == 130 && browser.isAsBefore)
  }

  // MARK: The end

  @Test(arguments: [("q", 0, 0), ("\u{3}", 0, 130), ("", SIGTERM, 143), ("", SIGHUP, 129), ("", SIGINT, 130)] as [(String, Int32, Int32)])
  func everyExitLeavesTheTerminalAsItWas(_ keys: String, _ signal: Int32, _ status: Int32) throws {
    let browser = try BrowserTerminal(["name:Band-7"], environment: Self.real)
    try browser.see("Battery Level", "60 %")
    #expect(browser.screen.modes.contains("?1049") && !browser.terminal.echoes)
    if keys.isEmpty { browser.terminal.signal(signal) } else { browser.type(keys) }
    #expect(browser.finish() == status)
    #expect(browser.isAsBefore && browser.terminal.echoes, "\(browser.screen.modes)")
  }

  /// The radio disappears during a connection.
  @Test func theRadioGoes() throws {
    let path = TemporaryPath()
    let air = try Blectl.start(["sim", "--listen", "unix:\(path.path)", "--stay"], adapter: nil, virtual: false)
    #expect(air.waitForOutput(containing: path.path))
    let browser = try BrowserTerminal(["name:Band-7"], adapter: "unix:\(path.path)")
    try browser.see("Band-7 · connected", "60 %")
    air.end(by: SIGKILL)
    #expect([3, 6].contains(browser.finish()), "\(browser.screen.text)")
    #expect(browser.isAsBefore && browser.terminal.bytes.suffix(200).contains(0x3A), "\(browser.screen.text)")
  }

  /// A terminal with a shell, which runs the browser as a job. Signals go to the browser only.
  private func shell(_ script: String, environment: [String: String] = [:]) throws -> (FullScreen, PseudoTerminal) {
    let terminal = try PseudoTerminal(
      ["bash", "-c", "set -m; ulimit -c 0; \(script)"], columns: 80, rows: 24, environment: environment, hasKeys: true)
    return (FullScreen(columns: 80, rows: 24), terminal)
  }

  private func see(
    _ shell: (screen: FullScreen, terminal: PseudoTerminal), at place: SourceLocation = #_sourceLocation, where fits: (FullScreen) -> Bool
  ) throws {
    let isShown = shell.terminal.wait {
      shell.screen.take($0)
      return fits(shell.screen)
    }
    try #require(isShown, "\(shell.screen.text)", sourceLocation: place)
  }

  /// The terminal gets every flag back, even after a crash, when the shell has to continue.
  @Test(arguments: [0, SIGSEGV, SIGABRT, SIGQUIT, SIGTERM]) func theTerminalIsTheSame(_ signal: Int32) throws {
    let (before, after) = (TemporaryPath(), TemporaryPath())
    let shell = try shell(
      "stty -g >\(before.path); '\(Blectl.path)' browse -i sim; status=$?; stty -g >\(after.path); echo ended $status",
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    try see(shell) { $0.contains("Panel") }
    if signal == 0 { shell.1.type("q") } else { shell.1.signal(signal) }
    try see(shell) { $0.contains("ended \(signal == 0 ? 0 : 128 + signal)") }
    _ = shell.1.finish()
    let states = try [before, after].map { try String(contentsOfFile: $0.path, encoding: .utf8) }
    #expect(states[0] == states[1] && !states[0].isEmpty)
    let modes = shell.0.modes
    #expect(modes.isDisjoint(with: ["?1049", "?1000", "?1006", "?1"]) && modes.contains("?25"), "\(modes)")
  }

  /// Ctrl-\ ends the program like any other, without a crash report.
  @Test(arguments: ["browse", "repl"]) func ctrlBackslash(_ command: String) throws {
    let shell = try shell(
      "'\(Blectl.path)' \(command) -i sim; echo ended $?", environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no"])
    try see(shell) { $0.contains(command == "browse" ? "Panel" : "blectl>") }
    shell.1.type("\u{1C}")
    try see(shell) { $0.contains("ended 131") }
    // The release build contains Swift's runtime, which reports at startup that it finds no backtrace program.
    let text = shell.1.finish().text.components(separatedBy: "unable to locate swift-backtrace; disabling backtracing").joined()
    #expect(!text.contains("crashed") && !text.contains("acktrace"), "\(text)")
  }

  /// Ctrl-Z returns the terminal to the shell, and fg restores the screen.
  @Test func stoppedAndContinued() throws {
    let shell = try shell(
      "'\(Blectl.path)' browse -i sim; echo stopped $?; stty -a | grep -o ' echo '; read -r line; fg >/dev/null; echo ended $?")
    try see(shell) { $0.contains("Band-7") }
    shell.1.type("\u{1A}")
    try see(shell) {
      $0.lines.contains("stopped 148") && $0.lines.contains(" echo") && !$0.modes.contains("?1049") && $0.modes.contains("?25")
    }
    shell.1.type("\n")
    try see(shell) { $0.modes.contains("?1049") && $0.contains("Band-7") && $0.contains("q quit") }
    shell.1.type("q")
    try see(shell) { $0.contains("ended 0") && !$0.modes.contains("?1049") && $0.modes.contains("?25") }
    #expect(shell.1.finish().status == 0)
  }

  /// Some terminals use their own xterm description, which is not always installed.
  @Test func anUnknownXtermIsOne() throws {
    let browser = try BrowserTerminal(environment: ["TERM": "xterm-nobody-knows"])
    try browser.see("Panel")
    browser.quit()
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
      let message = arguments.isEmpty ? "blectl: " : "{\"error\""
      #expect(status == 64 && text.contains(message), "\(arguments) \(environment): \(text)")
      #expect(!text.contains("\u{1B}"), "\(text)")
    }
    let piped = try Blectl.run("browse")
    #expect(piped.status == 64 && piped.errors.contains("terminal"), "\(piped.errors)")
  }

  /// Errors of the radio read as in other commands.
  @Test func withoutARadio() throws {
    let browser = try BrowserTerminal(adapter: "unix:/nonexistent")
    #expect(browser.finish() == 3)
    #expect(browser.screen.contains("blectl: "), "\(browser.screen.text)")
    if browser.terminal.bytes.contains(0x1B) { #expect(browser.isAsBefore) }
  }
}
