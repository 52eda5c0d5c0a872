import Foundation
import TestSupport

/// `peripheral` in sessions and scripts, beside other programs and signals. Tests/Scripts has the words of scripts.
@Suite(.timeLimit(.minutes(15))) struct ServedSessionTests {
  private static func file(_ text: String = PeripheralTests.lock) throws -> String { try TemporaryFolder.file(text) }

  /// Results have the ID of their command. What centrals do comes by itself, and other commands go on.
  @Test func aSessionForPrograms() throws {
    let session = try CommandSession(adapter: "sim")
    let start = try session.run(#"{"id":"p","command":"peripheral \#(try Self.file()) on sim"}"#)
    #expect(start.status == 0 && start.records.map { $0.string("event") } == ["advertising"], "\(start.records)")
    #expect(start.records.first?.string("id") == "p")
    let address = try #require(start.records.first?.string("address"))
    let connect = try session.run(#"{"id":2,"command":"connect \#(address)"}"#)
    let central = connect.records.filter { $0.string("event") == "connected" }
    #expect(connect.status == 0 && central.count { $0.keys.contains("id") } == 1, "\(connect.records)")
    let peer = central.first { !$0.keys.contains("id") }
    #expect(peer?.string("address") != address && peer?.keys.contains("peer") == true, "\(central)")
    _ = try session.run("subscribe ffe1")
    let write = try session.run(#"{"id":3,"command":"write ffe1 0900"}"#)
    let written = write.records.filter { $0.string("event") == "written" }
    #expect(written.count { !$0.keys.contains("id") && $0.string("value") == "0900" } == 1, "\(write.records)")
    #expect(written.count { $0.int("id") == 3 } == 1, "\(write.records)")
    let notified = try session.run("peripheral notify ffe1 2a").records + session.run("sleep 1").records
    #expect(notified.contains { $0.string("event") == "notified" && $0.string("value") == "2a" }, "\(notified)")
    #expect(notified.contains { $0.string("event") == "notification" && $0.string("value") == "2a" }, "\(notified)")
    #expect(try session.run("peripheral x.json").error?.string("message")?.contains("is served already") == true)
    let end = try session.run("peripheral off")
    #expect(
      end.status == 0 && end.records.contains { $0.string("event") == "disconnected" && !$0.keys.contains("error") }, "\(end.records)")
    #expect(try session.run("peripheral set ffe1 00").error?.string("kind") == "usage")
    #expect(session.end().status == 64)
  }

  @Test(arguments: [
    ("peripheral", "Name a peripheral file"), ("peripheral set ffe1", "Example: peripheral set ffe1 0100"),
    ("peripheral FILE on", "Unexpected word"), ("peripheral FILE on nowhere", "Unknown adapter"),
    ("peripheral /nonexistent.json", "no such file"), ("peripheral off", "No device is served"),
    ("peripheral FILE on replay:x", "A recording cannot advertise"), ("peripheral -", "standard input carries its commands"),
    ("peripheral FILE; peripheral set ffe9 00", "no attribute ffe9. It has device_name (0x0003), "),
    ("peripheral FILE; peripheral notify ff00/ffe1 00", "no service ff00. It has device_name (0x0003), "),
    ("peripheral FILE; peripheral set ffe1 -1 as u8", "-1"),
  ])
  func mistakes(_ line: String, _ text: String) throws {
    let result = try Blectl.run(["-e", line.replacing("FILE", with: try Self.file())])
    #expect(result.status != 0 && result.status != 1 && result.errors.contains(text), "\(result.status) \(result.errors)")
  }

  /// A line of text for each event. A negative value is no option.
  @Test func aSessionForPeople() throws {
    let file = try Self.file()
    let result = try Blectl.run(
      ["repl"],
      input: Array(
        "peripheral \(file) on sim\nperipheral set ffe1 -2 as i8\nread name:MyLock ffe1\n".utf8))
    #expect(
      result.text.contains("MyLock: 00:00:5E:00:53:01 connected\n") && result.text.contains("read ffe1: fe"),
      "\(result.text)\(result.errors)")
  }

  /// The device ends with the script, also after Ctrl-C.
  @Test func ctrlCEndsTheDeviceOfAScript() throws {
    let air = try ListeningAir()
    let folder = ScriptFolder()
    _ = try folder.file("lock.json", PeripheralTests.lock)
    let script = try folder.file(
      "a.blectl",
      "test wait\n  peripheral lock.json\n  expect peripheral written ffe1 == 09 within 1h\n  expect peripheral written ffe1 == 0a within 1h\nend\n"
    )
    let run = try Blectl.start(["run", script], adapter: air.adapter, virtual: false)
    #expect(try air.blectl("write", "MyLock", "ffe1", "09", "--wait", "-t", "60").status == 0)
    let ended = run.end(by: SIGINT)
    #expect(ended.status == 130 && ended.text.contains("interrupted here"), "\(ended.text)\(ended.errors)")
    #expect(ended.text.contains("a.blectl:4"), "\(ended.text)")
    #expect(try air.blectl("read", "MyLock", "ffe1", "-t", "1").status == 2)
  }

  /// The adapter of the device disappears: a note says so, the session goes on, and the device can start again elsewhere.
  @Test func theAdapterGoes() throws {
    let air = try ListeningAir()
    let file = try Self.file()
    let session = try Blectl.start(["repl", "--json"], virtual: false)
    session.send(line: "peripheral \(file) on \(air.adapter)")
    #expect(session.waitForOutput(containing: #""event":"advertising""#))
    _ = air.end(SIGKILL)
    #expect(session.waitForOutput(containing: "MyLock is no longer served"))
    for line in ["peripheral set ffe1 00", "peripheral \(file)", "peripheral set ffe1 00"] { session.send(line: line) }
    let result = session.finish()
    let statuses = try result.statuses
    #expect([3, 6].contains(statuses["2"] ?? 0) && statuses["3"] == 0 && statuses["4"] == 0, "\(result.text)\(result.errors)")
  }

  /// A script for an app: the central is another program.
  @Test func aScriptIsTheDevice() throws {
    let air = try ListeningAir()
    let folder = ScriptFolder()
    _ = try folder.file("lock.json", PeripheralTests.lock)
    let script = try folder.file(
      "a.blectl",
      "test app\n  peripheral lock.json\n  expect peripheral connected within 1m\n  expect peripheral written ffe1 starts 1b99 within 1m\n  expect peripheral disconnected within 1m\nend\n"
    )
    let run = try Blectl.start(["run", script, "--json"], adapter: air.adapter, virtual: false)
    #expect(try air.blectl("write", "MyLock", "ffe1", "1b9901", "--wait", "-t", "60").status == 0)
    let result = run.wait()
    #expect(result.status == 0, "\(result.text)\(result.errors)")
    let written = try result.records.filter { $0.string("event") == "written" }
    #expect(written.first?.string("value") == "1b9901" && written.first?.string("test") == "app", "\(result.text)")
  }
}
