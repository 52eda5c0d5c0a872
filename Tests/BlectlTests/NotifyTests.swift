import Glibc
import TestSupport

/// `notify` ends at its limits.
@Suite(.timeLimit(.minutes(15))) struct NotifyTests {
  @Test(arguments: [
    (["--count", "1"], "Received 0 of 1 value, then none for 30 s"), (["--timeout", "3"], "Received 0 values, then none for 3 s"),
    (["--count", "2", "--timeout", "4"], "Received 0 of 2 values, then none for 4 s"),
  ])
  func aSilentCharacteristicIsNotWaitedForForEver(_ options: [String], _ mention: String) throws {
    let result = try Blectl.run(["notify", "name:Band-7", "ff01"] + options)
    #expect(result.status == 4 && result.output.isEmpty)
    #expect(result.errors.contains(mention), "\(result.errors)")
  }

  /// A value arrives every 45 s. That exceeds the default timeout with a count. Without a count, no timeout applies.
  @Test(arguments: [
    ([], nil), (["--count", "1", "--duration", "0"], 0), (["--count", "1", "--timeout", "50"], 0), (["--count", "1"], 4),
  ])
  func aRareValue(_ options: [String], _ status: Int?) throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Rare", "address": "D1:00:00:00:00:41/random", "advertisement": { "name": "Rare" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["notify"], "periodic": { "every_ms": 45000, "values": ["cafe"] } } ] } ] }
      """)
    let running = try Blectl.start(["notify", "name:Rare", "fff1"] + options, adapter: "sim:\(file)")
    guard let status else {
      // Until Ctrl-C, for any number of values.
      #expect(running.waitForOutput(containing: "cafe", times: 3))
      #expect(running.end(by: SIGINT).status == 130)
      return
    }
    let result = running.wait()
    #expect(Int(result.status) == status, "\(result.errors)")
    #expect(result.text.contains("cafe") == (status == 0))
  }

  /// Every value restarts the timeout. One arrives each second.
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
    #expect(running.end(by: SIGINT).status == 130)
  }
}
