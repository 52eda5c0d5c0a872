import Foundation
import Glibc
import TestSupport

/// Every key of `blectl browse` on a terminal with a device, in virtual time. `BrowserKeyTests` tests the actions, this suite the bytes.
@Suite(.timeLimit(.minutes(15))) struct BrowserTests {
  typealias Terminal = BrowserTerminal

  /// ↑ ↓ PgUp PgDn Home End, also from terminals that ignore the application mode; → ← / Esc Enter d.
  @Test func devices() throws {
    let browser = try BrowserTerminal()
    try browser.see("Panel", "Band-7", "GateLock", "Panel  D1:00:00:00:00:10", "Enter connects")
    let (first, second, last) = ("Panel  D1:00:00:00:00:10", "GateLock  D1:00:00:00:00:01", "GateLock  D1:00:00:00:00:02")
    for (key, device) in [
      (Terminal.down, second), (Terminal.up, first), (Terminal.end, last), (Terminal.home, first), (Terminal.pageDown, last),
      (Terminal.pageUp, first), ("\u{1B}[B", second), ("\u{1B}[A", first), ("\u{1B}[F", last), ("\u{1B}[H", first), ("j", second),
      ("k", first),
      ("G", last), ("g", first), ("\u{6}", last), ("\u{2}", first),
    ] {
      browser.type(key)
      try browser.see("││" + device)
    }
    browser.type("/band")
    try browser.see("Devices with \"band\"", "filter: band", "││Band-7  C0:FF:EE:00:00:07", not: ["Panel"])
    browser.type("\r")
    try browser.see("Enter connect  / filter")
    browser.type(Terminal.right)
    try browser.see("Manufacturer Specific Data", "┌ Band-7 ─")
    browser.type(Terminal.left + "\r")
    try browser.see("Band-7 · connected 00:00:0", "Battery Level", "60 %  3c", "│● ", "Connected to Band-7")
    // Leave the tree, then the filter. The link stays.
    browser.type(Terminal.escape)
    try browser.see("Devices with \"band\"", "Enter services", "d disconnect")
    browser.type(Terminal.escape)
    try browser.see("┌ Devices ─", "Panel", "│● ")
    browser.type("d")
    try browser.see("Disconnected", "Band-7 · not connected", not: ["│● "])
    browser.type("\r" + Terminal.second)
    try browser.see("Band-7 · connected 00:00:0", "│● ")
    // If only one pane fits, the plot is visible from both.
    browser.resize(80, 24)
    browser.type(Terminal.escape + "p")
    try browser.see("┌ Band-7 · signal", "now│", "p back")
    browser.quit()
  }

  /// Space ← → Enter r s / n p a move the cursor and act on attributes.
  @Test func tree() throws {
    let browser = try BrowserTerminal(["name:Band-7"])
    try browser.see("Band-7 · connected", "primary service, handles 0x0001–0x0005", "60 %  3c")
    for (key, row) in [
      (Terminal.down, "Device Name 2a00"), (Terminal.up, "Generic Access 1800"), (Terminal.end, "ff02  0x001c"),
      (Terminal.home, "Generic Access 1800"), (Terminal.pageDown, "ff02  0x001c"), (Terminal.pageUp, "Generic Access 1800"),
    ] {
      browser.type(key)
      try browser.see("││" + row)
    }
    // Enter also folds a service.
    for key in [" ", "\r"] {
      browser.type(key)
      try browser.see("│▸ Generic Access", not: ["Device Name"])
      browser.type(key)
      try browser.see("│▾ Generic Access", "Device Name")
    }
    browser.type(Terminal.left)
    try browser.see("│▸ Generic Access", not: ["Device Name"])
    browser.type(Terminal.right)
    try browser.see("│▾ Generic Access", "Device Name")
    browser.type("/2a37\r")
    try browser.see("││Heart Rate Measurement 2a37  0x0015  notify")
    // Enter subscribes if the attribute cannot be read, and `s` toggles the subscription.
    browser.type("\r" + Terminal.second)
    try browser.see("◉ Heart Rate Measurement", " bpm  00", "Subscribed to 2a37")
    browser.type("s")
    try browser.see("Unsubscribed from 2a37", "○ Heart Rate Measurement")
    browser.type("s" + Terminal.second + Terminal.second)
    try browser.see("◉ Heart Rate Measurement")
    browser.type("p")
    try browser.see("┌ Band-7 · Heart Rate Measurement ─", "now│", " bpm ┐")
    browser.type("p")
    try browser.see("┌ Band-7 · connected", "◉ Heart Rate Measurement")
    browser.type(" ")
    try browser.see("▾◉ Heart Rate Measurement", "Client Ch…iguration notifications on")
    browser.type(Terminal.down)
    try browser.see("││Client Characteristic Configuration 2902  0x0016", "││01 00")
    browser.type(Terminal.left)
    try browser.see("││Heart Rate Measurement 2a37")
    browser.type(Terminal.left)
    try browser.see("▸◉ Heart Rate Measurement", not: ["Client Ch…iguration"])
    browser.type("s" + Terminal.left)
    try browser.see("││Heart Rate 180d", "││primary service, handles 0x0013–0x0016")
    // An attribute before its service, and then the next match, cyclically.
    browser.type("/battery\r")
    try browser.see("││Battery Level 2a19")
    browser.type("n")
    try browser.see("││Battery Service 180f")
    // The log shows the rest.
    browser.type("nl")
    try browser.see("┌ Log", "Unsubscribed from 2a37")
    browser.type("r")
    try browser.see("→ read request 0x0011 2a19", "← read response  3c  60 %  (")
    browser.type("a" + Terminal.second)
    try browser.see("← read response  0000  off  (", "→ read request 0x001a 2902")
    browser.type(Terminal.escape)
    try browser.see("Enter services")
    browser.quit()
  }

  /// `w`, the form and `y`, with a subscribed answer and the history of written values.
  @Test func writing() throws {
    let browser = try BrowserTerminal(["name:Band-7"])
    try browser.see("Band-7 · connected", "60 %")
    browser.type("l/ff01\rs")
    try browser.see("◉ ff01", "Subscribed to ff01")
    browser.type("/ff02\rw")
    try browser.see("┌ Write ff02 0x001c ─", "▸ value", "0 bytes", "= blectl -i sim write C0:FF:EE:00:00:07/public ff02 --empty ''")
    browser.type(Terminal.escape)
    try browser.see("││ff02  0x001c", not: ["┌ Write"])
    // An empty value needs confirmation, and invalid bytes are refused.
    browser.type("w\r")
    try browser.see("The value is empty. Press Enter again to write it.")
    browser.type("1b99xx\r")
    try browser.see("┌ Write ff02", "▸ value   1b99xx", "hex")
    browser.type("\u{8}\u{7F}01" + Terminal.home + Terminal.right + Terminal.end)
    try browser.see("3 bytes  1b 99 01", "= blectl -i sim write C0:FF:EE:00:00:07/public ff02 1b9901")
    browser.type("\r")
    try browser.see("→ write command 0x001c ff02  1b9901", "← notification 0x0019 ff01  567b3c", "◉ ff01                    567b3c")
    browser.type("w" + Terminal.up)
    try browser.see("▸ value   1b9901", "earlier value 1 of 1")
    browser.type(Terminal.down)
    try browser.see("↑ 1 earlier", "0 bytes")
    browser.type(Terminal.up + "\t" + Terminal.right)
    try browser.see("▸ format  utf8", "6 bytes  31 62 39 39 30 31", "ff02 --as utf8 1b9901")
    browser.type(Terminal.left + "\t" + Terminal.right)
    try browser.see("▸ mode    request", "ff02 --mode request 1b9901")
    browser.type(Terminal.backTab)
    try browser.see("▸ format  hex")
    browser.type(Terminal.escape)
    try browser.see("┌ Log", not: ["┌ Write"])
    browser.type("y")
    let command = "blectl -i sim write C0:FF:EE:00:00:07/public ff02 1b9901"
    try browser.see("Copied: \(command)")
    #expect(browser.screen.clipboard.flatMap { Data(base64Encoded: $0) } == Data(command.utf8))
    browser.quit()
  }

  /// Tab, its way back, l, p, ?, Ctrl-L, T.
  @Test func panes() throws {
    let browser = try BrowserTerminal(["name:Band-7"], columns: 80, rows: 24)
    let trace = TemporaryPath()
    try browser.see("┌ Band-7 · connected", "60 %")
    browser.type("l")
    try browser.see("┌ Log", "← read response  3c  60 %  (")
    // Under 90 columns, only the pane with the focus and its keys are visible.
    for (key, title, keys) in [
      ("\t", "┌ Band-7 ·", "↑↓ scroll"), ("\t", "┌ Devices", "Enter services"), ("\t", "┌ Band-7 ·", "r read"),
      (Terminal.backTab, "┌ Devices", "Enter services"), (Terminal.backTab, "┌ Band-7 ·", "↑↓ scroll"),
    ] {
      browser.type(key)
      try browser.see(title, keys)
    }
    browser.type(Terminal.home)
    try browser.see(" below ┐", "Looking for name:Band-7")
    browser.type(Terminal.end)
    try browser.see(not: [" below ┐"])
    browser.type("l")
    try browser.see(not: ["┌ Log"])
    browser.type(Terminal.escape + Terminal.escape + "p")
    try browser.see("┌ Band-7 · signal ─", "now│")
    browser.type(Terminal.escape)
    try browser.see("┌ Devices", "Panel")
    browser.type("?")
    try browser.see("┌ Keys ─", "select a device (strongest first)", "↑↓ scroll")
    browser.type(Terminal.end)
    try browser.see("Click to select", not: ["select a device (strongest first)"])
    browser.type(Terminal.home)
    try browser.see("select a device (strongest first)")
    browser.type(Terminal.escape)
    try browser.see("┌ Devices", not: ["┌ Keys"])
    // Redrawing wipes output of other programs. It is below the devices, whose lines change constantly.
    browser.terminal.show("\u{1B}[18;5HLitter")
    try browser.see("Litter")
    browser.type("\u{C}")
    try browser.see("┌ Devices", not: ["Litter"])
    browser.type("T\u{15}\(trace.path)")
    try browser.see("trace to file: \(trace.path)")
    browser.type("\r")
    try browser.see("Recording to \(trace.path)")
    browser.type("a" + Terminal.second + "T")
    try browser.see("Recording stopped: ")
    let recorded = try Data(contentsOf: URL(fileURLWithPath: trace.path))
    #expect(recorded.starts(with: Data("btsnoop".utf8)) && recorded.count > 100)
    browser.quit()
  }

  /// Clicks, a second click on the same row, and the wheel.
  @Test func mouse() throws {
    let browser = try BrowserTerminal()
    try browser.see("Panel", "││Panel  D1:00:00:00:00:10")
    browser.type(Terminal.wheelDown(row: 2, column: 5) + Terminal.wheelDown(row: 2, column: 5))
    try browser.see("││GateLock  D1:00:00:00:00:02")
    browser.type(Terminal.wheelUp(row: 2, column: 5) + Terminal.wheelUp(row: 2, column: 5))
    try browser.see("││Panel  D1:00:00:00:00:10")
    // Of all devices, those with similar signals could change places.
    browser.type("/an\r")
    try browser.see("Devices with \"an\"", "││Panel  D1:00:00:00:00:10")
    browser.type(Terminal.click(row: 3, column: 5))
    try browser.see("││Band-7  C0:FF:EE:00:00:07")
    browser.type(Terminal.click(row: 3, column: 5))
    try browser.see("┌ Band-7 · connected", "60 %")
    browser.type(Terminal.click(row: 3, column: 60))
    try browser.see("││Device Name 2a00")
    browser.type("l")
    try browser.see("┌ Log")
    browser.type(Terminal.click(row: 3, column: 60))
    try browser.see("┌ Band-7 · Device Name", "1 value ┐", "e export CSV")
    browser.type("r")
    try browser.see("→ read request 0x0003 2a00", "2 values ┐")
    browser.type(Terminal.click(row: 25, column: 5))
    try browser.see("↑↓ scroll", "l close")
    browser.type(Terminal.wheelUp(row: 25, column: 5))
    try browser.see("3 below ┐")
    browser.type(Terminal.wheelDown(row: 25, column: 5))
    try browser.see(not: [" below ┐"])
    browser.quit()
  }

  // MARK: Devices that come and go

  @Test func severalStayConnected() throws {
    let browser = try BrowserTerminal()
    try browser.see("Panel", "Band-7", "GateLock")
    browser.type("/band\r\r")
    try browser.see("Band-7 · connected", "60 %")
    browser.type(Terminal.escape + "/\u{15}panel\r")
    // Connected devices pass every filter.
    try browser.see("Devices with \"panel\"", "│● ", "││Panel  D1:00:00:00:00:10", not: ["GateLock"])
    browser.type("\r")
    try browser.see("Panel · connected")
    browser.type(Terminal.escape + Terminal.escape)
    try browser.see { $0.lines.filter { $0.hasPrefix("│● ") }.count == 2 && $0.contains("GateLock") }
    browser.quit()
  }

  @Test func aPeerIsConnectedAtOnce() throws {
    let browser = try BrowserTerminal(["name:Band-7"], columns: 60, rows: 20)
    try browser.see("┌ Band-7 · connected", "Battery Level", not: ["┌ Devices"])
    browser.type("\t")
    try browser.see("┌ Devices", "● ")
    browser.quit()
  }

  @Test func aPeerThatIsNotThereIsSaid() throws {
    let browser = try BrowserTerminal(["name:nobody", "-t", "1"])
    try browser.see("nobody", "Panel")
    browser.quit()
  }

  @Test func asciiWhereTheLocaleIs() throws {
    let browser = try BrowserTerminal(["name:Band-7"], environment: ["NO_COLOR": "1"], locale: "C")
    try browser.see("+ Devices", "Battery Level", "60 %")
    browser.quit()
    #expect(browser.terminal.bytes.allSatisfy { $0 < 0x80 })
    #expect(!String(decoding: browser.terminal.bytes, as: UTF8.self).contains("\u{1B}[32m"))
  }

  /// A lost link is shown, and Enter restores it with its subscriptions.
  @Test func aLossAndTheWayBack() throws {
    let air = TemporaryPath()
    try air.write(
      Array(
        """
        [{"name": "Loser", "address": "D1:00:00:00:00:01/random", "advertisement": {"flags": 6, "name": "Loser"}, "services": [
          {"uuid": "180d", "characteristics": [
            {"uuid": "2a37", "properties": ["notify"], "periodic": {"every_ms": 1000, "values": ["0048", "0049"]}}]},
          {"uuid": "fff0", "characteristics": [
            {"uuid": "fff1", "properties": ["write"], "reactions": [{"when": "ff", "then": [{"disconnect": true}]}]}]}]}]
        """.utf8))
    let browser = try BrowserTerminal(["name:Loser"], adapter: "sim:\(air.path)", rows: 60)
    try browser.see("Loser · connected", "fff1")
    browser.type("/2a37\rs" + Terminal.second + Terminal.second)
    try browser.see("◉ Heart Rate", " bpm ")
    browser.type("/fff1\rwff\r")
    // The last values stay.
    try browser.see("Loser · connection lost", "│! ", "○ Heart Rate", " bpm ")
    browser.type("a")
    try browser.see("Loser is not connected. Press Enter to connect.")
    browser.type("l\r" + Terminal.second + Terminal.second)
    try browser.see("Loser · connected", "│● ", "◉ Heart Rate")
    // The log also shows the renewed requests.
    try browser.see("→ write request 0x000d 2902  0100  notifications on", "← read response  0100  notifications on")
    // After `d` there is nothing to restore, also during an attempt.
    browser.type("d")
    try browser.see("Loser · not connected", "○ Heart Rate", not: ["│● "])
    browser.type("\rd" + Terminal.second)
    try browser.see("Loser · not connected")
    browser.type("\r" + Terminal.second)
    try browser.see("Loser · connected", "○ Heart Rate", "│● ")
    browser.quit()
  }

  /// A lost device is waited for as long as for a connection. `d` gives up.
  @Test func aLossForGood() throws {
    let air = TemporaryPath()
    try air.write(
      Array(
        """
        [{"name": "Gone", "address": "D1:00:00:00:00:01/random", "advertisement": {"flags": 6, "name": "Gone"}, "services": [
          {"uuid": "fff0", "characteristics": [
            {"uuid": "fff1", "properties": ["write"], "reactions": [{"when": "ff", "then": [{"advertise": false}, {"disconnect": true}]}]}]}]}]
        """.utf8))
    let browser = try BrowserTerminal(["name:Gone", "-t", "3"], adapter: "sim:\(air.path)")
    try browser.see("Gone · connected", "fff1")
    browser.type("/fff1\rwff\r")
    try browser.see("Gone · connection lost", "│! ")
    browser.type("\r")
    try browser.see("Gone · connecting …", "│… ")
    browser.type("d" + Terminal.second)
    try browser.see("Gone · not connected")
    browser.type("\r" + Terminal.second)
    try browser.see("Gone · connecting …")
    browser.type(Terminal.second + Terminal.second + Terminal.second)
    try browser.see("Gone · connection lost", not: ["│… "])
    browser.quit()
  }

  /// A held key types ahead: in virtual time each key has its own second.
  @Test func typedAheadInVirtualTime() throws {
    let screen = FullScreen(columns: 100, rows: 30)
    let browser = try BrowserTerminal(["name:Band-7"])
    browser.type("/2a37\rsllll\u{C}\u{C}q")
    #expect(browser.finish() == 0)
    // The last screen before the end.
    let bytes = browser.terminal.bytes
    let end = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\u{1B}[?1049l")[0]
    screen.take(Array(end.utf8))
    #expect(screen.contains("◉ Heart Rate Measurement") && screen.contains(" bpm"), "\(screen.text)")
  }
}
