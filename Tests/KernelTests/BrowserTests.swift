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
      try browser.see("Lock-01")
      browser.type("/lock-01\r\r")
      try browser.see("Lock-01 · connected", "hello lock")
      browser.type("/ffe2\rs")
      try browser.see("◉ ffe2")
      browser.type("l/ffe1\rw\t")
      // utf8 is behind hex.
      browser.type(BrowserTerminal.right + BrowserTerminal.backTab + "ping\r")
      try browser.see("70696e67", "706f6e67")
      browser.type("d")
      try browser.see("Lock-01 · not connected")
      // It advertises again, and is connected again.
      browser.type("\r")
      try browser.see("Lock-01 · connected", "hello lock")
      browser.quit()
      if adapter == "hci0" { try Guest.expectQuiet() }
    }
  }
}
