import Testing

@testable import Presentation
@testable import Scripting

/// Tests scripts from recorded commands, without a session.
@Suite(.timeLimit(.minutes(15))) struct RecordedScriptTests {
  private static func script(_ commands: [RecordedCommand], volatile: Set<String> = []) -> [String] {
    var script = RecordedScript(volatile: volatile)
    for command in commands { script.add(command) }
    return script.text.split(separator: "\n").map(String.init)
  }

  private static func command(_ words: String, _ change: (inout RecordedCommand) -> Void = { _ in }) -> RecordedCommand {
    var command = RecordedCommand(words.split(separator: " ").map(String.init))
    command.duration = .seconds(1)
    change(&command)
    return command
  }

  @Test func eachReadHasItsResult() {
    let read = Self.command("read 2a19 2a00") {
      $0.kind = .read(["2a19", "2a00"], options: [])
      $0.reads = [
        .init(attribute: "2a19", result: .success([0x3C])),
        .init(attribute: "2a00", result: .failure(Failure(.att, "Cannot read 2a00.", code: 2, name: "read_not_permitted"))),
      ]
    }
    let lines = Self.script([read], volatile: ["2a19"])
    #expect(
      lines == [
        "  read 2a19", "  # not always the same: expect == 3c", "  read 2a00", "  fails read_not_permitted", "  # Cannot read 2a00.",
      ])
  }

  /// The `expect` lines take the values that `wait` took, so the script must not wait for them twice.
  @Test func expectationsReplaceAWait() {
    let value = RecordedCommand.Value(attribute: "ff01", bytes: [0x56], after: .seconds(1))
    let waits = [true, false].map { hasValue in
      Self.command("wait ff01") {
        $0.isWait = true
        if hasValue { $0.add(value) } else { $0.failure = Failure(.timeout, "No value.") }
      }
    }
    #expect(
      Self.script(waits) == [
        "  # expected below: wait ff01", "  expect ff01 == 56 within 5s", "  wait ff01", "  fails timeout", "  # No value.",
      ])
  }

  @Test func notificationsAreLimited() {
    let notify = Self.command("notify ff01") { command in
      for number in 0..<258 {
        command.add(.init(attribute: "ff01", bytes: [UInt8(truncatingIfNeeded: number)], after: .seconds(number == 1 ? 4 : 0)))
      }
      command.isEndless = true
    }
    let lines = Self.script([notify])
    #expect(lines.count == 258 && lines.last == "  # 2 more values received")
    #expect(lines.prefix(3) == ["  notify ff01 --duration 1", "  expect ff01 == 00 within 5s", "  expect ff01 == 01 within 8s"])
  }

  /// Text from a device is only a comment, on one line.
  @Test func foreignTextStartsNoLine() {
    let commands = [
      Self.command("services") { $0.show(Array("a\u{1B}[2J\\\rfails\nfails".utf8)) },
      Self.command("write ff01 a\nfails"), Self.command("write ff01 a\nfails") { $0.kind = .comment("for another device") },
      Self.command("scan") { $0.failure = Failure(.interrupted, "Stopped.") },
    ]
    #expect(
      Self.script(commands) == [
        "  services", #"  # a\x1b[2J\\\x0dfails"#, "  # fails", #"  # a script cannot contain this line: write ff01 'a\x0afails'"#,
        #"  # for another device: write ff01 'a\x0afails'"#, "  # interrupted: scan",
      ])
  }
}
