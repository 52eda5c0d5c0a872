import Foundation
import TestSupport

/// `peripheral` serves the device of a file, here to another blectl in a shared air.
@Suite(.timeLimit(.minutes(15))) struct PeripheralTests {
  static let lock = """
    {"name": "MyLock", "address": "F0:F1:F2:00:00:01/random", "interval_ms": 40,
     "advertisement": "020106", "scan_response": "07094d794c6f636b",
     "services": [{"uuid": "ffe0", "characteristics": [
       {"uuid": "ffe1", "properties": ["read", "write", "notify"], "value": "0102", "reactions": [{"then": [{"notify": "ffe1", "value": "77"}]}]}]}]}
    """

  private func serve(_ air: ListeningAir, _ options: String...) throws -> RunningProcess {
    let device = try Blectl.start(
      ["peripheral", try TemporaryFolder.file(Self.lock), "--json"] + options, adapter: air.adapter, virtual: false)
    #expect(device.waitForOutput(containing: #""event":"advertising""#))
    return device
  }

  /// A central discovers, reads, writes and subscribes. Each of that is a record, and `--once` ends with the central.
  @Test func aCentralUsesTheDevice() throws {
    let air = try ListeningAir()
    let device = try serve(air, "--once")
    device.send(line: "set ffe1 2a2b")
    let result = try air.blectl("-e", "read ffe1; write ffe1 0900; notify ffe1 -n 1 --write ffe1=55", "MyLock", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.first { $0.string("event") == "value" }?.string("value") == "2a2b", "\(records)")
    #expect(records.last { $0.string("event") == "notification" }?.string("value") == "77")
    let served = device.wait()
    #expect(served.status == 0 && served.errors.isEmpty, "\(served.errors)")
    let events = try served.records
    let own = events.filter { $0.string("uuid") == "ffe1" }
    #expect(own.compactMap { $0.string("event") }.prefix(2) == ["read", "written"], "\(events)")
    #expect(events.contains { $0.string("event") == "subscribed" && $0.string("mode") == "notify" })
    #expect(events.contains { $0.string("event") == "notified" && $0.string("value") == "77" })
    #expect(events.first?.string("event") == "advertising" && events.last?.string("event") == "disconnected")
    #expect(events.last?.string("reason")?.contains("0x13") == true)
    let central = events.first { $0.string("event") == "connected" }?.string("address")
    #expect(central != nil && own.allSatisfy { $0.string("address") == central })
  }

  /// A line makes the device misbehave, and a wrong line is skipped.
  @Test func linesMakeFaults() throws {
    let air = try ListeningAir()
    let device = try serve(air)
    device.send(line: "fault ffe1 error 0x0e 1 times")
    device.send(line: "fault ffe1 explode")
    #expect(device.waitForOutput(containing: "Skipped the line"))
    let refused = try air.blectl("write", "MyLock", "ffe1", "09")
    #expect(refused.status == 5 && refused.errors.contains("Unlikely Error (ATT 0x0e)"), "\(refused.errors)")
    // It advertises again.
    #expect(try air.blectl("read", "MyLock", "ffe1", "--json").records.last?.string("value") == "0102")
    device.endInput()
    let ended = device.end(by: SIGINT)
    #expect(ended.status == 130)
    #expect(try ended.records.filter { $0.string("event") == "fault" }.map { $0.string("fault") } == ["error 0x0e"])
    #expect(try ended.records.filter { $0.string("event") == "connected" }.count == 2)
    // The name has left the air.
    #expect(try air.blectl("read", "MyLock", "ffe1", "-t", "1").status == 2)
  }

  /// A reader that has seen enough ends the device, as it ends other commands.
  @Test func aClosedPipe() throws {
    let air = try ListeningAir()
    let command = """
      '\(Blectl.path)' -i '\(air.adapter)' peripheral '\(try TemporaryFolder.file(Self.lock))' --json </dev/null | head -n 1
      echo ${PIPESTATUS[0]}
      """
    let device = try RunningProcess(["bash", "-c", command])
    #expect(device.waitForOutput(containing: #""event":"advertising""#))
    // The device leaves it.
    _ = try air.blectl("read", "MyLock", "ffe1", "-t", "2")
    let ended = device.wait()
    #expect(ended.lines.count == 2 && ended.lines.last == "74" && ended.errors.isEmpty, "\(ended.text)\(ended.errors)")
  }

  /// The radio disappears while no central is connected.
  @Test func theRadioGoes() throws {
    let air = try ListeningAir()
    let device = try serve(air)
    _ = air.end(SIGKILL)
    #expect([3, 6].contains(device.wait().status))
  }

  /// Mistakes are found before the radio is used.
  @Test(arguments: [
    (["--interval", "19"], "20 to 10240 ms"), (["--once", "--advertise-only"], "takes none"), (["-d", "-1"], "--duration"),
  ])
  func mistakes(_ options: [String], _ text: String) throws {
    let result = try Blectl.run(["peripheral", try TemporaryFolder.file(Self.lock)] + options)
    #expect(result.status == 64 && result.errors.contains(text), "\(result.errors)")
  }

  /// One note names the keys that only the simulator follows.
  @Test func keysOfTheSimulator() throws {
    let file = Self.lock.replacingOccurrences(of: "\"interval_ms\"", with: "\"firmware\": {}, \"rssi\": -70, \"interval_ms\"")
    let note = "This radio cannot follow these keys: rssi, firmware. The simulator can: -i sim:FILE."
    for (text, notes) in [(file, 1), (Self.lock, 0)] {
      let result = try Blectl.run("peripheral", try TemporaryFolder.file(text), "-d", "1")
      #expect(result.status == 0 && result.errors.components(separatedBy: note).count == notes + 1, "\(result.errors)")
    }
  }

  @Test func filesThatCannotBeServed() throws {
    let two = try Blectl.run(
      "peripheral", TemporaryFolder.file("[\(Self.lock), \(Self.lock.replacingOccurrences(of: "01/", with: "02/"))]"))
    #expect(two.status == 64 && two.errors.contains("describes 2 devices"), "\(two.errors)")
    let none = try Blectl.run("peripheral", "/nonexistent.json")
    #expect(none.status == 66, "\(none.errors)")
  }
}
