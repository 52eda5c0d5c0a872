import Foundation
import TestSupport

extension KernelTests {
  /// Several centrals of a device on the kernel's stack.
  @Suite struct ServedCentralsTests {
    /// Four centrals at once. A notification reaches those that subscribed.
    @Test func fourCentrals() throws {
      let air = try BumbleCentrals(4)
      defer { air.end() }
      let device = try ServedPeripheral(air.adapter)
      for number in 0..<4 {
        #expect(try air.ask(number, "connect \(device.address)/P").int("mtu") == 517)
        if number != 2 { try air.ask(number, "subscribe ffe1") }
      }
      for number in 0..<4 { try air.ask(number, "write ffe1 0\(number)") }
      #expect(try (0..<4).map { try air.ask($0, "read ffe1").string("value") } == ["03", "03", "03", "03"])
      device.process.send(line: "notify ffe1 c0ffee")
      for _ in 0..<3 { #expect(try air.next("value")?.string("value") == "c0ffee") }
      let events = try device.process.end(by: SIGINT).records
      for (name, count) in [("connected", 4), ("written", 4), ("subscribed", 3), ("notified", 3)] {
        #expect(Set(events.filter { $0.string("event") == name }.map { $0.string("address") }).count == count, "\(name): \(events)")
      }
      #expect(try Guest.links(air.adapter) == [])
    }
  }
}
