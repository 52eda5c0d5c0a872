import TestSupport

extension KernelTests {
  /// Runs the browser over the kernel's sockets, and with our own host on a user channel.
  @Suite struct BrowserTests {
    /// - Parameter again: Whether to connect a second time. (btvirt refuses a device that has not restarted its advertising.)
    private func walk(_ adapter: String, again: Bool) throws {
      let browser = try BrowserTerminal(adapter: adapter)
      try browser.see("Lock-01")
      browser.type("/lock-01\r\r")
      try browser.see("Lock-01 · connected", "hello lock")
      browser.type("/ffe2\rs")
      try browser.see("◉ ffe2")
      browser.type("l/ffe1\rw\t")
      // utf8 follows hex in the list of formats.
      browser.type(BrowserTerminal.right + BrowserTerminal.backTab + "ping\r")
      // The lock answers ping with pong. The request may scroll out of the log while other values are still read.
      try browser.see("706f6e67")
      browser.type("d")
      try browser.see("Lock-01 · not connected")
      if again {
        // On a slow machine the kernel is still disconnecting and refuses a new connection.
        try Guest.waitForNoLink(adapter)
        browser.type("\r")
        try browser.see("Lock-01 · connected", "hello lock")
      }
      browser.quit()
    }

    @Test func onTheKernelsSockets() throws {
      let air = try Guest.air("--controller", "extended")
      try walk(air.adapter, again: true)
      try Guest.expectQuiet(air.adapter)
    }

    /// Some controllers report each advertiser only once per scan, perhaps before they confirm that the scan started.
    @Test func whereADeviceIsHeardOnce() throws {
      try Guest.lock()
      try walk("hci0", again: false)
      try Guest.expectQuiet("hci0")
    }

    @Test func onAUserChannel() throws {
      try Guest.lock()
      try Guest.switchOff("hci0")
      defer { _ = try? Guest.switchOn("hci0") }
      try walk("user:0", again: false)
    }
  }
}
