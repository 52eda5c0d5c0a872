import TestSupport

/// What a session would say twice: values, a lost link, an existing bond.
@Suite(.timeLimit(.minutes(15))) struct ToldOnceTests {
  private static let air = """
    [{"name": "Door", "address": "D1:00:00:00:00:42/random", "advertisement": {"name": "Door"}, "services": [
      {"uuid": "fff0", "characteristics": [
        {"uuid": "fff1", "properties": ["notify"], "periodic": {"every_ms": 1000, "values": ["cafe"]}},
        {"uuid": "fff2", "properties": ["write"], "reactions": [{"then": [{"disconnect": true, "after_ms": 200}]}]}]}]}]
    """

  private func run(_ words: [String]) throws -> ProcessResult {
    try Blectl.run(words, adapter: "sim:\(TemporaryFolder.file(Self.air))")
  }

  @Test func aValueThatIsSubscribedTo() throws {
    let result = try run(["-e", "subscribe fff1; notify fff1 -n 3", "Door"])
    let times = result.lines.filter { $0.hasSuffix(" fff1 cafe") }
    #expect(result.status == 0 && times.count == 3 && Set(times).count == 3, "\(result.text)")
    // Without the subscription, `notify` shows the values.
    #expect(try run(["-e", "notify fff1 -n 3", "Door"]).lines.count { $0.hasSuffix(" fff1 cafe") } == 3)
    // A format of its own makes other values.
    #expect(try run(["-e", "subscribe fff1; notify fff1 -n 2 --as u16be", "Door"]).lines.count { $0.hasSuffix(" fff1 51966") } == 2)
    // The records of both commands stay.
    let records = try run(["-e", "subscribe fff1; notify fff1 -n 3", "Door", "--json"]).records
    #expect(records.count { $0.string("event") == "notification" } >= 5)
  }

  @Test(arguments: ["wait fff1=00 -t 20", "notify fff1 -n 50"])
  func aLostLink(_ command: String) throws {
    let result = try run(["-e", "write fff2 00; \(command)", "Door"])
    let lines = result.errors.split(separator: "\n").filter { $0.contains("closed it") || $0.contains("lost") }
    #expect(result.status == 6 && lines.count == 1 && lines[0].hasPrefix("blectl: "), "\(result.errors)")
  }

  /// A command that needs no link does not hide the loss, not even for its own time.
  @Test func aLostLinkBesideAnotherCommand() throws {
    let result = try run(["-e", "write fff2 00; sleep 30", "Door"])
    #expect(result.errors.split(separator: "\n").count { $0.contains("note: Door: ") } == 1, "\(result.errors)")
    // Records stay as they are.
    let records = try Blectl.run(
      ["repl", "--json"], input: Array("connect Door\nwrite fff2 00\nwait fff1=00 -t 20\n".utf8),
      adapter: "sim:\(TemporaryFolder.file(Self.air))"
    ).records
    #expect(records.count { $0.string("event") == "disconnected" } == 1)
  }

  @Test func anExistingBond() throws {
    let state = TemporaryFolder.path()
    func pair(_ columns: Int) throws -> String {
      let terminal = try PseudoTerminal(
        [Blectl.path, "pair", "SafeLock", "--passkey", "246810"], columns: columns, rows: 24,
        environment: ["BLECTL_CLOCK": "virtual", "BLECTL_ADAPTER": "sim", "XDG_STATE_HOME": state, "NO_COLOR": "1"])
      return TerminalScreen(Array(terminal.finish().text.utf8), columns: columns).lines.joined(separator: "\n")
    }
    #expect(try pair(200).contains("Paired with SafeLock"))
    let again = try pair(200)
    #expect(again.contains("Already paired with SafeLock (") && again.contains("). To pair again: blectl unpair name:SafeLock"), "\(again)")
    #expect(!again.contains("exists already"), "\(again)")
    // The sentence breaks between words.
    #expect(try pair(40).split(separator: "\n").allSatisfy { $0.count <= 40 })
    #expect(try pair(80).contains("unpair name:SafeLock"))
  }
}
