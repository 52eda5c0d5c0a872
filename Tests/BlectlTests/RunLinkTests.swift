import Foundation
import TestSupport

/// Effects of a lost link, and of the end of a run, on tests.
@Suite(.timeLimit(.minutes(15))) struct RunLinkTests {
  /// The device's reactions at aa04: 01 sends BYE and ends the link, 03 only ends it.
  private static let device = #"""
    {"name": "T1", "address": "D1:00:00:00:00:77/random", "advertisement": {"name": "T1"}, "services": [{"uuid": "aa00", "characteristics": [
      {"uuid": "aa03", "properties": ["notify"]},
      {"uuid": "aa02", "properties": ["read", "write"], "value": "2c01"},
      {"uuid": "aa04", "properties": ["write_without_response"], "reactions": [
        {"when": "01", "then": [{"notify": "aa03", "value": {"utf8": "BYE"}, "after_ms": 20}, {"disconnect": true, "after_ms": 100}]},
        {"when": "03", "then": [{"disconnect": true, "after_ms": 100}]}]}]}]}
    """#

  private func run(_ body: String) throws -> Blectl.Result {
    let script = try TemporaryFolder.file("device name:T1\ntest \"t\"\n\(body)\nend\ntest \"next\"\nread aa02\nend\n")
    return try Blectl.run(["run", script], adapter: "sim:\(try TemporaryFolder.file(Self.device))")
  }

  @Test(arguments: [
    "write aa04 01\nsleep 1s\nexpect aa03 == \"BYE\"\nexpect disconnect",
    "write aa04 01\nexpect disconnect within 2s\nexpect aa03 == \"BYE\"",
    "write aa04 03\nexpect disconnect\nscan --count 1 --name T1\nread aa02", "write aa04 03\nsleep 1s\nretry 2\nconnect\nread aa02\nend",
    "repeat 1\nwrite aa04 01\nend\nexpect aa03 == \"BYE\" within 1s\nexpect disconnect",
  ]) func passes(_ body: String) throws {
    let result = try run(body)
    #expect(result.status == 0 && result.text.contains("2 passed"), "\(result.text)\(result.errors)")
  }

  /// A test that loses its link fails, and the next test is unaffected.
  @Test(arguments: [
    "write aa04 03\nsleep 1s\nconnect\nread aa02", "write aa04 03\nsleep 1s", "write aa04 03\nsleep 1s\nread aa02",
    "write aa04 03\nsleep 1s\nexpect no aa03", "write aa04 03\nsleep 1s\nretry 100 every 1s\nread aa02\nend",
  ]) func fails(_ body: String) throws {
    let result = try run(body)
    #expect(
      result.status == 7 && result.text.contains("1 passed, 1 failed") && result.text.contains("lost: the device closed"), "\(result.text)")
    #expect(result.text.contains("✓ next"))
  }

  /// Ctrl-C runs the teardown of the device, and the report has every test.
  @Test func ctrlCRunsTheTeardown() throws {
    let script = try TemporaryFolder.file(
      "device name:T1\nteardown\nwrite aa02 beef\nend\ntest \"one\"\nread aa02\nend\ntest \"long\"\nsleep 1h\nend\ntest \"never\"\nread aa02\nend\n"
    )
    let (report, trace) = (TemporaryFolder.path(), TemporaryFolder.path())
    let running = try Blectl.start(
      ["run", script, "--junit", report, "--trace", trace], adapter: "sim:\(try TemporaryFolder.file(Self.device))", virtual: false)
    #expect(running.waitForOutput(containing: "✓ one"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130, "\(result.text)\(result.errors)")
    let junit = try String(contentsOfFile: report, encoding: .utf8)
    #expect(junit.contains(#"errors="1""#) && junit.contains(#"skipped="1""#) && junit.contains(#"name="never""#), "\(junit)")
    let packets = try Data(contentsOf: URL(fileURLWithPath: trace))
    let first = try #require(packets.range(of: Data([0xBE, 0xEF])))
    #expect(packets[first.upperBound...].range(of: Data([0xBE, 0xEF])) != nil)
  }
}
