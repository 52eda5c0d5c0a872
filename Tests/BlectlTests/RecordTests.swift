import Foundation
import TestSupport

/// `--record` writes a script that passes on the same device, and on a replay of the session's trace.
@Suite(.timeLimit(.minutes(15))) struct RecordTests {
  static let lock = "D1:00:00:00:00:01"

  /// - Returns: The script.
  @discardableResult
  func record(
    _ arguments: [String], input: String? = nil, adapter: String = "sim", sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    let (script, trace) = (TemporaryPath(), TemporaryPath())
    let done = try Blectl.run(
      ["--record", script.path, "--trace", trace.path] + arguments, input: input.map { Array($0.utf8) }, adapter: adapter)
    let plain = try Blectl.run(arguments, input: input.map { Array($0.utf8) }, adapter: adapter)
    #expect(done.text == plain.text && done.status == plain.status, "\(done.errors)", sourceLocation: sourceLocation)
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: script.path)), as: UTF8.self)
    for adapter in [adapter, "replay:\(trace.path)"] {
      let run = try Blectl.run(["run", script.path], adapter: adapter)
      #expect(run.status == 0, "\(adapter)\n\(text)\n\(run.text)\(run.errors)", sourceLocation: sourceLocation)
    }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test func readsAreExpectedAgain() throws {
    #expect(
      try record(["read", "name:Band-7", "2a19", "2a29", "--as", "hex"]) == [
        "device name:Band-7", "", "test \"recorded 2026-01-01T00:00:00.000Z\"", "  read 2a19 --as hex", "  expect == 3c",
        "  read 2a29 --as hex", "  expect == 53696d756c617465642042616e6473", "end", "",
      ])
  }

  @Test func whatComesIsExpectedAgain() throws {
    #expect(
      try record(["write", Self.lock, "ffe1", "01 02", "--expect", "ffe2"]).dropFirst(3) == [
        "  write ffe1 '01 02' --expect ffe2", "  expect ffe2 == 4641494c within 5s", "end", "",
      ])
    let heard = try record(["notify", "name:Band-7", "2a37", "-n", "3"])
    #expect(heard.dropFirst(3).first == "  notify 2a37 -n 3")
    #expect(heard.filter { $0.hasPrefix("  expect 2a37 == 00") }.count == 3, "\(heard)")
    #expect(heard.contains("  expect 2a37 == 0048 within 6s"), "\(heard)")
  }

  @Test func failuresAreExpectedAgain() throws {
    #expect(try record(["write", Self.lock, "ffe2", "00"]).dropFirst(3).prefix(2) == ["  write ffe2 00", "  fails write_not_permitted"])
    #expect(
      try record(["read", "name:nobody", "2a19"]).dropFirst(3).prefix(3) == ["  # not run: read 2a19", "  connect", "  fails not_found"])
    #expect(try record(["-e", "read 2a19", "name:nobody"]).dropFirst(3).prefix(2) == ["  connect", "  fails not_found"])
    #expect(try record(["read", "name:Band-7", "ffff"]).dropFirst(3).prefix(2) == ["  read ffff", "  fails not_found"])
  }

  @Test func optionsOfTheLinkGoToTheLink() throws {
    #expect(
      try record(["read", "name:Band-7", "--mtu=100", "--phy", "2m", "2a19"]).dropFirst(3).prefix(3) == [
        "  connect --mtu=100 --phy 2m", "  read 2a19", "  expect == 3c",
      ])
  }

  @Test func severalCommandsOfALink() throws {
    let script = try record(
      ["-e", "read 2a19; subscribe ff01; write ff02 1b9902; sleep 1; read ffff; rssi", "-k", "name:Band-7"])
    #expect(
      script.filter { !$0.hasPrefix("  # The device") } == [
        "device name:Band-7", "", "test \"recorded 2026-01-01T00:00:00.000Z\"", "  read 2a19", "  expect == 3c", "  subscribe ff01",
        "  write ff02 1b9902", "  sleep 1s", "  expect ff01 == 567c030100148e1c94 within 5s",
        "  expect ff01 == 567c0302ab280010ba within 5s", "  expect ff01 == 567c030343236a31d9 within 5s", "  read ffff",
        "  fails not_found",
        "  rssi", "  # -64 dBm", "end", "",
      ])
  }

  @Test(arguments: [["repl"], ["repl", "--json"]]) func aSession(_ arguments: [String]) throws {
    let script = try record(
      arguments,
      input: """
        connect name:Band-7
        read 2a19
        help read
        alias band
        connect name:Panel
        read name:Panel fff7
        use name:Band-7
        read 2a29
        exit

        """)
    #expect(script.first == "device name:Band-7")
    #expect(script.contains("  connect") && script.contains("  expect == 3c") && script.contains("  read 2a29"), "\(script)")
    #expect(script.contains("  # for another device: read fff7"), "\(script)")
  }

  /// A value that changed between two reads becomes a comment.
  @Test func whatChangesIsAComment() throws {
    let device = try TemporaryFolder.file(
      """
      [{"name": "Counter", "address": "C1:00:00:00:00:01/random", "advertisement": {"name": "Counter"}, "services": [{"uuid": "ffe0", "characteristics": [
        {"uuid": "ffe1", "properties": ["read", "write"], "value": "00"},
        {"uuid": "ffe2", "properties": ["read"], "value": "07"}]}]}]
      """)
    let script = try record(["-e", "read ffe1; write ffe1 05; read ffe1; read ffe2", "name:Counter"], adapter: "sim:\(device)")
    #expect(
      script.dropFirst(3) == [
        "  read ffe1", "  # not always the same: expect == 00", "  write ffe1 05", "  read ffe1",
        "  # not always the same: expect == 05", "  read ffe2", "  expect == 07", "end", "",
      ])
  }

  @Test func whatRunsUntilItIsStoppedHasADuration() throws {
    let script = TemporaryPath()
    // The end of the input ends it, immediately in virtual time.
    let done = try Blectl.run(["repl", "--json", "--record", script.path], input: Array("connect name:Band-7\nnotify 2a37\n".utf8))
    #expect(done.status == 0, "\(done.errors)")
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: script.path)), as: UTF8.self)
    #expect(text.hasSuffix("  notify 2a37 --duration 1\nend\n"), "\(text)")
    #expect(try Blectl.run("run", script.path).status == 0)
  }

  @Test func refusesWhatIsNoScript() throws {
    // The file is opened before any other action.
    let unwritable = try Blectl.run("--record", "/nonexistent/file", "read", "name:Band-7", "2a19")
    #expect(unwritable.status == 74 && unwritable.text.isEmpty, "\(unwritable.text)")
    let run = try Blectl.run("--record", "/dev/null", "run", "/dev/null")
    #expect(run.status == 64 && run.errors.contains("Cannot record run"), "\(run.errors)")
    #expect(try Blectl.run(["repl"], input: Array("read 2a19 --record /tmp/x".utf8)).status == 64)
  }
}
