import Glibc
import TestSupport
import Testing

/// When `notify` ends.
@Suite(.timeLimit(.minutes(3))) struct NotifyTests {
  @Test(arguments: [
    (["--count", "1"], "30 s: 0 of 1"), (["--timeout", "3"], "3 s: 0 value"), (["--count", "2", "--timeout", "4"], "4 s: 0 of 2"),
  ])
  func aSilentCharacteristicIsNotWaitedForForEver(_ options: [String], _ mention: String) throws {
    let result = try Blectl.run(["notify", "name:Band-7", "ff01"] + options)
    #expect(result.status == 4 && result.output.isEmpty)
    #expect(result.errors.contains(mention), "\(result.errors)")
  }

  /// Every value renews the patience: one comes each second.
  @Test func aSlowCharacteristicIs() throws {
    let result = try Blectl.run("notify", "name:Band-7", "2a37", "--count", "5", "--timeout", "2", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.map { $0.string("value") } == ["0048", "004a", "0049", "004c", "004b"])
  }

  @Test func theDurationEndsItWithoutACount() throws {
    let result = try Blectl.run("notify", "name:Band-7", "2a37", "--duration", "3.5", "--timeout", "0.5", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.count == 3)
  }

  @Test func durationZeroIsUntilControlC() throws {
    let running = try Blectl.start(
      ["notify", "name:Band-7", "2a37", "--count", "1000", "--timeout", "0.5", "--duration", "0"], virtual: false)
    #expect(running.waitForOutput(containing: "Z "))
    running.signal(SIGINT)
    #expect(running.wait().status == 130)
  }
}
