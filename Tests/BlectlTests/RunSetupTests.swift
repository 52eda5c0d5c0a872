import Foundation
import TestSupport

/// `blectl run` with a device or adapter that cannot be reached.
@Suite(.timeLimit(.minutes(15))) struct RunSetupTests {
  private static let absent =
    "device name:Nobody\n" + ["one", "two", "three"].map { "test \"\($0)\"\n  read 2a19\nend\n" }.joined()

  @Test("Tests behind a failed setup are not run, those of other devices are")
  func failedSetup() throws {
    let report = TemporaryFolder.path()
    let scripts = [Self.absent, RunTests.passing, Self.absent.replacing("name:Nobody", with: "name:nobody"), RunTests.skipping]
    let result = try RunTests.run(scripts, ["--tap", "--junit", report])
    #expect(result.status == 2)
    #expect(result.text.contains("\nnot ok 1 - one\n") && result.text.contains("\nok 2 - level\n"), "\(result.text)")
    #expect(result.text.contains("# The setup failed, retrying once: Cannot find name:Nobody"))
    #expect(!result.text.contains(" two") && result.lines.last?.hasPrefix("Bail out! The setup failed: Cannot find name:Nobody") == true)
    #expect(result.text.contains("# 1 passed, 1 error, 1 skipped, 5 not run in"))
    let junit = try String(contentsOfFile: report, encoding: .utf8)
    #expect(junit.ranges(of: #"<error type="not_run""#).count == 5 && junit.ranges(of: "<testcase ").count == 8, "\(junit)")
    let text = try RunTests.run([Self.absent])
    #expect(
      text.status == 2 && text.text.contains("– two  not run\n") && text.text.contains("0 passed, 1 error, 2 not run"), "\(text.text)")
    let records = try RunTests.run([Self.absent], ["--json"]).records
    #expect(records.map { $0.string("status") } == ["error", "not_run", "not_run", nil] && records.last?.int("not_run") == 2)
  }

  @Test("After the first failure of --fail-fast, too, a failed setup is why the other tests are not run")
  func failedSetupAndFailFast() throws {
    let report = TemporaryFolder.path()
    let result = try RunTests.run([Self.absent, RunTests.passing], ["--fail-fast", "--tap", "--junit", report])
    #expect(result.status == 2 && result.text.ranges(of: "SKIP").count == 1 && !result.text.contains("two"), "\(result.text)")
    #expect(result.lines.last?.hasPrefix("Bail out! The setup failed: Cannot find name:Nobody") == true, "\(result.text)")
    let junit = try String(contentsOfFile: report, encoding: .utf8)
    #expect(junit.ranges(of: #"<error type="not_run""#).count == 2 && junit.contains(#"skipped="1""#), "\(junit)")
  }

  @Test("A teardown does not look for the device again that its test has not found")
  func teardownWithoutALink() throws {
    let script = "teardown\n  write fff1 00\nend\n" + Self.absent
    let result = try RunTests.run([script], ["--tap"])
    #expect(
      result.status == 2 && result.text.ranges(of: "retrying once").count == 1 && !result.text.contains("teardown,"), "\(result.text)")
    #expect(result.text.contains("# Skipped the teardown: this test had no connection to the device."), "\(result.text)")
    let kept = try RunTests.run([script], ["--keep-going"])
    #expect(kept.status == 2 && kept.text.contains("teardown,"), "\(kept.text)")
  }

  @Test("A report that goes into a pipe reaches the reader that waits for it")
  func reportIntoAPipe() throws {
    let pipe = TemporaryPath()
    let script = try TemporaryFolder.file(RunTests.passing)
    let result = try Shell.run(
      "mkfifo \(pipe.path); cat \(pipe.path) & BLECTL_CLOCK=virtual \(Blectl.path) -i sim run --junit \(pipe.path) \(script) >/dev/null; echo $?; wait"
    )
    #expect(result.output.contains("<testcase name=\"level\"") && result.output.contains("0\n"), "\(result)")
  }

  @Test("With --keep-going every test is run, and nothing is tried again")
  func keepGoing() throws {
    let result = try RunTests.run([Self.absent], ["--keep-going"])
    #expect(result.status == 2 && result.text.contains("0 passed, 3 errors in") && !result.text.contains("retrying once"), "\(result.text)")
  }

  @Test("Without an adapter nothing of any device is run")
  func noAdapter() throws {
    let result = try RunTests.run([Self.absent, RunTests.passing, "test \"hears\"\n  scan --count 1\nend\n"], adapter: "tcp:127.0.0.1:1")
    #expect(result.status == 3 && result.text.contains("0 passed, 1 error, 4 not run"), "\(result.text)")
    #expect(result.text.contains("retrying once"))
    let scan = try RunTests.run(
      ["test \"hears\"\n  scan --count 1\nend\ntest \"again\"\n  scan --count 1\nend\n"], adapter: "tcp:127.0.0.1:1")
    #expect(scan.status == 3 && scan.text.contains("0 passed, 1 error, 1 not run"), "\(scan.text)")
  }

  @Test("When the file's own lines find no device, its tests are not run")
  func ownLinesFindNobody() throws {
    let result = try RunTests.run(["device name:Nobody\nconnect\n" + RunTests.passing.replacing("device name:Band-7\n", with: "")])
    #expect(result.status == 2 && result.text.contains("0 passed, 1 error, 1 not run"), "\(result.text)")
  }

  @Test("A setup that succeeds in the second try is a note")
  func secondTry() throws {
    // The device is switched on after 30 seconds.
    let air = "sim:\(ScriptFileTests.folder)/hidden.json"
    let script = "device name:Sleeper\ntest \"one\"\n  read fff1\nend\ntest \"two\"\n  read fff1\nend\n"
    let result = try RunTests.run([script], ["--timeout", "20"], adapter: air)
    #expect(
      result.status == 0 && result.text.contains("2 passed") && result.text.contains("retrying once"), "\(result.text)\(result.errors)")
    #expect(try RunTests.run([script], ["--timeout", "20", "--keep-going"], adapter: air).text.contains("1 passed, 1 error"))
  }
}
