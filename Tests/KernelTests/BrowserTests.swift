import TestSupport
import Testing

extension KernelTests {
  /// The browser over the kernel's sockets, and with our own host on a user channel.
  @Suite struct BrowserTests {
    private func walk(_ adapter: String) throws {
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
    }

    @Test func onTheKernelsSockets() throws {
      let air = try Guest.air("--controller", "extended")
      try walk(air.adapter)
      try Guest.expectQuiet(air.adapter)
    }

    @Test func onAUserChannel() throws {
      try Guest.lock()
      try Guest.switchOff("hci0")
      defer { _ = try? Guest.switchOn("hci0") }
      try walk("user:0")
    }
  }
}
