import Foundation
import TestSupport

/// Tests that run again: after a failure, on several devices, and after a change of a file.
@Suite(.timeLimit(.minutes(15))) struct RunAgainTests {
  /// Counts reads of fff1 on Odd, and answers always 3 on Even.
  private static let devices = #"""
    [{"name": "Odd", "address": "D1:00:00:00:00:31/random", "advertisement": {"flags": 6, "name": "Odd"}, "variables": {"n": 0},
      "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff1", "properties": ["read"], "value": "00", "read_reactions": [
        {"then": [{"count": "n"}, {"set": "fff1", "value": {"u8": {"variable": "n"}}}]}]}]}]},
     {"name": "Even", "address": "D1:00:00:00:00:32/random", "advertisement": {"flags": 6, "name": "Even"},
      "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff1", "properties": ["read"], "value": "03"}]}]}]
    """#
  private static let third = "test \"third time\" slow\n  read fff1\n  set N 3\n  expect as u8 >= $N\nend\n"
  private static let never = "test \"never\"\n  read fff1\n  expect as u8 == 99\nend\n"

  private func run(_ script: String, _ arguments: String...) throws -> Blectl.Result {
    let folder = ScriptFolder()
    return try Blectl.run(
      ["run", try folder.file("a.blectl", script)] + arguments, adapter: "sim:\(try folder.file("devices.json", Self.devices))")
  }

  // MARK: --retries

  @Test func aFlakyTestPasses() throws {
    let script = "device name:Odd\n" + Self.third
    #expect(try run(script).status == 7)
    #expect(try run(script, "--retries", "1").status == 7)
    let result = try run(script, "--retries", "5")
    #expect(result.status == 0 && result.text.contains("flaky: passed at attempt 3"), "\(result.text)")
    #expect(result.text.contains("attempt 2:") && result.text.contains("1 passed (1 flaky)"))
    // A file without tests counts as one test.
    let whole = try run("device name:Odd\nread fff1\nexpect as u8 == 2\n", "--retries", "1", "--tap")
    #expect(
      whole.status == 0 && whole.text.contains("# flaky: passed at attempt 2\n# attempt 1: ") && whole.text.contains("\nok 1 - a.blectl\n"),
      "\(whole.text)")
  }

  @Test func aTestThatFailsEachTimeFails() throws {
    let result = try run("device name:Odd\n" + Self.never + Self.third, "--retries", "2", "--json")
    let records = try result.records.filter { $0.string("event") == "test" }
    #expect(result.status == 7 && records.map { $0.int("attempts") } == [3, 1] && records.map { $0.bool("flaky") } == [false, false])
    #expect(records.first?.records("earlier").map { $0.string("actual") } == ["01; as u8 1", "02; as u8 2"], "\(result.text)")
    #expect(records.first?["error"]?.string("actual") == "03; as u8 3")
  }

  /// Each attempt starts with the variables of the first. A failed setup and a mistake do not run again.
  @Test func whatIsNotRepeated() throws {
    let variables = "device name:Odd\nset N 0\ntest t\n  read fff1\n  expect as u8 > $N\n  set N 9\n  expect as u8 == 2\nend\n"
    #expect(try run(variables, "--retries", "1").status == 0)
    let absent = try run("device name:Nobody\n" + Self.third, "--retries", "3")
    #expect(absent.status == 2 && !absent.text.contains("attempt"), "\(absent.text)")
    let mistake = try run("device name:Odd\nlet V = read 2a00\ntest t\n  sleep $V\nend\n", "--retries", "3")
    #expect(mistake.status == 7 && !mistake.text.contains("attempt"), "\(mistake.text)")
    for count in ["-1", "101", "x"] { #expect(try run(Self.third, "--retries", count).status == 64) }
  }

  /// Retries of a failed connection are an option of `connect`.
  @Test func connectionsHaveTheirOwnRetries() throws {
    let folder = ScriptFolder()
    let devices = try folder.file(
      "fail.json",
      #"{"name": "Fail", "address": "D1:00:00:00:00:42/random", "failing_connections": 3, "advertisement": {"flags": 6, "name": "Fail"}}"#)
    let script = try folder.file("a.blectl", "device name:Fail\ntest t\n  connect --retries 3\nend\n")
    #expect(try Blectl.run(["run", script], adapter: "sim:\(devices)").status == 0)
  }

  // MARK: Several devices

  @Test func everyDeviceRunsTheFile() throws {
    let result = try run(Self.third, "--peer", "name:Even", "--peer", "name:Odd", "--json")
    let records = try result.records.filter { $0.string("event") == "test" }
    #expect(result.status == 7 && records.map { $0.string("device") } == ["name:Even", "name:Odd"], "\(result.text)\(result.errors)")
    #expect(records.map { $0.string("status") } == ["passed", "failed"])
    #expect(records.map { $0.string("peer") } == ["D1:00:00:00:00:32/random", "D1:00:00:00:00:31/random"])
    let text = try run(Self.third, "--peer", "name:Even", "--peer", "name:Odd", "--jobs", "2", "--retries", "2")
    #expect(text.status == 0 && text.text.contains("✓ third time [name:Even]") && text.text.contains("✓ third time [name:Odd]"))
    let one = try run("device name:Nobody\n" + Self.third, "--peer", "name:Even")
    #expect(one.status == 0 && !one.text.contains("["), "\(one.text)")
    #expect(try run(Self.third, "--peer", "name:Odd", "--peer", "name:Odd").errors.contains("--peer names a device twice"))
  }

  /// A device that is absent does not stop the tests of the others.
  @Test func anAbsentDevice() throws {
    let path = TemporaryFolder.path()
    let script = Self.third + Self.third.replacing("third", with: "next")
    let result = try run(script, "--peer", "name:Nobody", "--peer", "name:Even", "--junit", path)
    #expect(result.status == 2 && result.text.contains("2 passed, 1 error, 1 not run"), "\(result.text)")
    let junit = try String(contentsOfFile: path, encoding: .utf8)
    #expect(junit.contains(#"name="next time [name:Nobody]""#) && junit.contains(#"tests="4" failures="0" errors="2""#), "\(junit)")
  }

  @Test func testsAreListed() throws {
    let records = try run(Self.third, "--list", "--json", "--peer", "name:Even", "--peer", "name:Odd").records
    #expect(
      records.map { $0.string("device") } == ["name:Even", "name:Odd"] && records.map { $0.strings("tags") } == [["slow"], ["slow"]])
    #expect(
      records.allSatisfy { $0.string("name") == "third time" && $0.int("line") == 1 && $0.string("file")?.hasSuffix("a.blectl") == true })
    let whole = try run("device name:Odd\nread fff1\n", "--list")
    #expect(whole.text.hasSuffix("a.blectl:2: a.blectl\n") && whole.errors.contains("1 script with 1 test"), "\(whole.text)")
  }

  // MARK: --watch

  /// The file of the simulator, the script, and an included file that is wrong, missing and right again.
  @Test func watch() throws {
    let folder = ScriptFolder()
    let devices = try folder.file("devices.json", Self.devices)
    let script = try folder.file("a.blectl", "device name:Even\ninclude _b.blectl\ntest t\n  read fff1\n  expect as u8 == 3\nend\n")
    _ = try folder.file("_b.blectl", "note \"one\"\n")
    let running = try Blectl.start(["run", script, "--watch"], adapter: "sim:\(devices)")
    #expect(running.waitForOutput(containing: "1 passed in"))
    _ = try folder.file("devices.json", Self.devices.replacing(#""03""#, with: #""0304""#))
    #expect(running.waitForOutput(containing: "1 failed in"))
    _ = try folder.file("a.blectl", "device name:Even\ninclude _b.blectl\ntest t\n  read fff1\n  expect == 0304\nend\n")
    #expect(running.waitForOutput(containing: "1 passed in", times: 2))
    _ = try folder.file("_b.blectl", "raed fff1\n")
    #expect(running.waitForOutput(containing: "Unknown command \"raed\""))
    try FileManager.default.removeItem(atPath: folder.url.appendingPathComponent("_b.blectl").path)
    #expect(running.waitForOutput(containing: "no such file"))
    _ = try folder.file("_b.blectl", "note \"two\"\n")
    #expect(running.waitForOutput(containing: "two"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130, "\(result.text)\(result.errors)")
    #expect(result.errors.contains("devices.json changed. Running again.") && result.errors.contains("a.blectl changed. Running again."))
  }

  @Test func watchNeedsFiles() throws {
    #expect(try Blectl.run("run", "-", "--watch").errors.contains("--watch needs files"))
  }

  // MARK: The line on a terminal

  @Test func theTerminalShowsTheRunningTest() throws {
    let folder = ScriptFolder()
    let script = try folder.file("a.blectl", "device name:Band-7\ntest first\n  read 2a19\nend\ntest second\n  sleep 3s\nend\n")
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "run", script], columns: 60, rows: 24, environment: ["BLECTL_CLOCK": "virtual", "NO_COLOR": "1"])
    let (status, text) = terminal.finish()
    #expect(status == 0 && text.contains("\r\u{1B}[K  … 1/2 first") && text.contains("\r\u{1B}[K  … 2/2 second  2 s"), "\(text)")
    #expect(text.contains("\r\u{1B}[K  ✓ second"), "\(text)")
    #expect(try !Blectl.run("run", script).errors.contains("…"))
  }
}
