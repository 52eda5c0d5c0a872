import TestSupport
import Testing

extension KernelTests {
  /// The browser on the kernel's own adapter, and with our own host on its user channel.
  @Suite struct BrowserTests {
    init() throws { try Guest.lock() }

    @Test(arguments: ["hci0", "user:0"]) func aWalk(_ adapter: String) throws {
      if adapter == "user:0" { try Guest.switchOff("hci0") }
      defer { if adapter == "user:0" { _ = try? Guest.switchOn("hci0") } }
      let browser = try BrowserTerminal(adapter: adapter)
      #expect(browser.shows("Lock-01"), "\(browser.screen.text)")
      browser.type("/lock-01\r\r")
      #expect(browser.shows("Lock-01 · connected", "hello lock"), "\(browser.screen.text)")
      browser.type("/ffe2\rs")
      #expect(browser.shows("subscribed to ffe2"), "\(browser.screen.text)")
      browser.type("l/ffe1\rw\t")
      // utf8 is behind hex.
      browser.type(BrowserTerminal.right + BrowserTerminal.backTab + "ping\r")
      #expect(browser.shows("70696e67", "706f6e67"), "\(browser.screen.text)")
      browser.type("d")
      #expect(browser.shows("Lock-01 · not connected"))
      // It advertises again, and is connected again.
      browser.type("\r")
      #expect(browser.shows("Lock-01 · connected", "hello lock"), "\(browser.screen.text)")
      browser.type("q")
      #expect(browser.finish() == 0 && browser.isAsBefore)
      if adapter == "hci0" { try Guest.expectQuiet() }
    }
  }
}
