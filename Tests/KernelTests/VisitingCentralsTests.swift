import Glibc
import TestSupport

extension KernelTests {
  /// Centrals that end their links with a device on the kernel's stack. Linux 6.1 may crash (hci_chan_del) when the device closes its socket
  /// after that: the name of this file makes it the last one.
  @Suite struct VisitingCentralsTests {
    init() throws {
      Guest.removeLock()
      try Guest.switchOff("hci1")
      try Guest.switchOn("hci0")
      try Guest.waitForNoLink()
    }

    @Test func tenConnections() throws {
      let device = try ServedPeripheral("hci0")
      let values = (0..<10).map { "0\($0)" }
      for value in values {
        let result = try Guest.blectl("-i", "user:1", "write", device.peer, "ffe1", value)
        #expect(result.status == 0, "\(value): \(result.errors)")
        #expect(device.event("disconnected") != nil)
      }
      let served = device.process.end(by: SIGINT)
      #expect(served.status == 130 && !served.errors.contains("note"), "\(served.errors)")
      #expect(try served.records.count { $0.string("event") == "connected" } == values.count)
      #expect(try served.records.compactMap { $0.string("event") == "written" ? $0.string("value") : nil } == values)
      #expect(try Guest.links() == [])
    }
  }
}
