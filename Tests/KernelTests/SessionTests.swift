import TestSupport

extension KernelTests {
  /// Sessions that stay open, over the kernel's sockets.
  @Suite struct SessionTests {
    /// The two devices of BumbleAir with `--second`.
    private static let peers = ["F0:F1:F2:F3:F4:F5/random", "F0:F1:F2:F3:F4:F6/random"]

    @Test func aProgramDrivesTwoDevices() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on", "--second")
      let running = try Blectl.start(["repl", "--json"], adapter: air.adapter, virtual: false)
      let (first, second) = (Self.peers[0], Self.peers[1])
      for line in ["connect \(first)", "subscribe ffe5", "read ffe2", "connect \(second)", "read ffe2", "read \(first) ffe2", "scan -d 1"] {
        running.send(line: line)
      }
      #expect(running.waitForOutput(containing: #""event":"notification""#))
      #expect(running.waitForOutput(containing: #""event":"done","id":6"#))
      running.send(line: "disconnect \(first)")
      running.send(line: "read \(second) ffe2")
      let result = running.finish()
      #expect(result.status == 0, "\(result.text)\(result.errors)")
      let values = try result.records.filter { $0.string("event") == "value" }
      #expect(values.count == 4 && Set(values.compactMap { $0.string("address") }).count == 2)
      #expect(try result.records.contains { $0.int("id") == 6 && $0.string("address") == BumbleAir.peer })
      try Guest.expectQuiet(air.adapter)
    }

    @Test func aLostLinkComesBackWithItsSubscription() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let running = try Blectl.start(["connect", LinkTests.peer, "--json"], adapter: air.adapter, virtual: false)
      for line in ["set reconnect on", "subscribe ffe5"] { running.send(line: line) }
      #expect(running.nextLine { $0.contains("notification") } != nil)
      air.say("away")
      #expect(running.nextLine { $0.contains(#""event":"disconnected""#) } != nil)
      air.say("back")
      #expect(running.nextLine { $0.contains(#""event":"reconnected""#) && $0.contains(#""subscriptions":1"#) } != nil)
      #expect(running.nextLine { $0.contains("notification") } != nil)
      running.send(line: "read ffe2")
      let result = running.finish()
      #expect(try result.status == 0 && result.records.contains { $0.string("event") == "value" }, "\(result.errors)")
      try Guest.expectQuiet(air.adapter)
    }

    @Test func severalStepsOnOneLink() throws {
      let air = try Guest.air("--controller", "legacy", "--tuning", "on")
      let result = try air.blectl("-e", "read ffe2; subscribe ffe5; wait ffe5; params; rssi", LinkTests.peer)
      #expect(result.status == 0 && result.lines.first == "hello lock", "\(result.text)\(result.errors)")
      try Guest.expectQuiet(air.adapter)
    }
  }
}
