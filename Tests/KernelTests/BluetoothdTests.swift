import TestSupport

extension KernelTests {
  /// Tests next to a running bluetoothd. All other tests run without it and without D-Bus.
  @Suite final class BluetoothdTests {
    let air: BumbleAir
    let daemon: Bluetoothd
    let control: Conversation

    init() throws {
      // This controller repeats advertisements. btvirt sends an advertisement once, and bluetoothd may miss it.
      air = try Guest.air("--controller", "extended", "--tuning", "on")
      daemon = try Bluetoothd(air.adapter)
      control = try daemon.control()
    }

    deinit {
      control.end()
      daemon.stop()
    }

    /// The active discovery of bluetoothd continues during our scan and after it.
    @Test func scanningWhileItDiscovers() throws {
      try control.say("scan on", until: "Device \(BumbleAir.peer)")
      let ours = try air.blectl("scan", "--json", "--name", "Lock-01", "--count", "1")
      #expect(ours.status == 0 && !ours.lines.isEmpty, "\(ours.errors)")
      #expect(try control.say("show", until: "Discovering: ").contains("Discovering: yes"))
      // After `remove`, bluetoothd finds the device again.
      try control.say("remove \(BumbleAir.peer)", until: "[NEW] Device \(BumbleAir.peer)")
      try control.say("scan off", until: "Discovering: no")
      try Guest.expectQuiet(air.adapter)
    }

    @Test func aPeerThatItHolds() throws {
      try daemon.connect(control)
      for peer in ["\(BumbleAir.peer)/random", BumbleAir.peer] {
        let refused = try air.blectl("read", peer, "ffe2", "--json")
        #expect(refused.status == 3 && refused.errors.contains("run: bluetoothctl disconnect \(BumbleAir.peer)"), "\(refused.errors)")
      }
      #expect(try air.blectl("scan", "--json", "--duration", "1").status == 0)
      // The connection of bluetoothd is unchanged.
      try control.say("menu gatt\nselect-attribute 0000ffe2-0000-1000-8000-00805f9b34fb\nread", until: "hello lock", times: 2)
      try control.say("back\ndisconnect \(BumbleAir.peer)", until: "Successful disconnected")
      let read = try air.blectl("read", BumbleAir.peer, "ffe2")
      #expect(read.text == "hello lock\n", "\(read.errors)")
      try Guest.expectQuiet(air.adapter)
    }

    /// Both programs could get a central, so `peripheral` refuses, and names the two ways out.
    @Test func serving() throws {
      let refused = try ServedPeripheral.start(air.adapter, TemporaryFolder.file(ServedPeripheral.device())).wait()
      #expect(refused.status == 3, "\(refused.errors)")
      #expect(refused.errors.contains("sudo systemctl stop bluetooth") && refused.errors.contains("-i user:N"), "\(refused.errors)")
    }

    /// Doctor describes bluetoothd while it is idle, while it scans, and while it holds a connection.
    @Test func whatDoctorSays() throws {
      func messages() throws -> String {
        let result = try air.blectl("doctor", "--json")
        #expect(result.status == 0, "\(result.text)\(result.errors)")
        return try result.records.compactMap { $0.string("message") }.joined(separator: "\n")
      }
      let idle = try messages()
      #expect(idle.contains("), not scanning. It adopts") && idle.contains("It connects to no device automatically."), "\(idle)")
      try control.say("scan on", until: "Discovering: yes")
      let scanning = try messages()
      #expect(scanning.contains("bluetoothd is scanning for another program"), "\(scanning)")
      try control.say("scan off", until: "Discovering: no")
      try daemon.connect(control)
      let holding = try messages()
      #expect(holding.contains("bluetoothd (pid "), "\(holding)")
      #expect(
        holding.contains(") is connected to \(BumbleAir.peer)")
          && holding.contains("To disconnect it: `bluetoothctl disconnect \(BumbleAir.peer)`"),
        "\(holding)")
      try control.say("disconnect \(BumbleAir.peer)", until: "Successful disconnected")
      try Guest.waitForNoLink(air.adapter)
    }

    /// bluetoothd sees our connection start and end, and does not interfere.
    @Test func aPeerThatWeHold() throws {
      let listening = try Blectl.start(["notify", BumbleAir.peer, "ffe5", "--json", "--count", "6"], adapter: air.adapter, virtual: false)
      #expect(listening.waitForOutput(containing: "notification"))
      try control.say("info \(BumbleAir.peer)", until: "Connected: yes")
      let result = listening.wait()
      #expect(result.status == 0, "\(result.errors)")
      #expect(try result.records.compactMap { $0.string("text") } == (1...6).map { "tick \($0)" })
      try Guest.expectQuiet(air.adapter)
    }
  }
}
