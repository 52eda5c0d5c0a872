import Glibc
import Terminal
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct OutputTests {
  @LoopActor private func output(_ out: SlowReader, _ err: SlowReader, limit: Int = 1000, _ change: (inout Output.Style) -> Void = { _ in })
    -> Output
  {
    var style = Output.Style()
    style.program = "tool"
    change(&style)
    return Output(style, out: out.writeEnd, err: err.writeEnd, limit: limit) { _ in nil }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(.onLoop) @LoopActor func resultsAndMessagesGoTheirOwnWays() async throws {
    let (out, err) = (SlowReader(), SlowReader())
    let output = output(out, err)
    try await output.line("a line")
    try await output.record { $0.integer("number", 1) }
    output.note("a note")
    output.status("not when nobody looks")
    output.failure("it failed")
    #expect(text(out.read()) == "a line\n{\"number\":1}\n")
    #expect(text(err.read()) == "note: a note.\ntool: it failed.\n")
  }

  /// With `2>&1`, a reader sees the output in the order of events.
  @Test(.onLoop) @LoopActor func inOnePipeTheirOrderIsKept() async throws {
    let pipe = SlowReader()
    let output = output(pipe, pipe)
    #expect(try output.offerLine("1"))
    output.note("2")
    try await output.line("3")
    #expect(try output.offerLine("4"))
    output.note("5")
    try await output.flush(until: nil)
    #expect(text(pipe.read()) == "1\nnote: 2.\n3\n4\nnote: 5.\n")
  }

  /// Hidden results do not wait for a reader, but still yield their turns. Each message appears once.
  @Test(.onLoop) @LoopActor func hiddenResultsGiveOthersTheirTurn() async throws {
    let output = output(SlowReader(), SlowReader())
    output.hidesResults = true
    var told = 0
    output.onResult = { _ in told += 1 }
    var hasTurned = false
    let other = EventLoop.shared.spawn { hasTurned = true }
    for _ in 0..<100_000 where !hasTurned { try await output.line("") }
    let before = told
    #expect(hasTurned && before > 1 && before < 100_000)
    await other.value
    try await output.line("")
    #expect(told == before + 1)
  }

  @Test(.onLoop) @LoopActor func withJSONEveryMessageIsARecord() async throws {
    let (out, err) = (SlowReader(), SlowReader())
    let output = output(out, err) {
      $0.json = true
      $0.verbosity = 2
    }
    output.note("a note")
    output.status("what is done")
    output.verbose(2, "a PDU: \"0a\"")
    output.verbose(3, "more than was asked for")
    #expect(
      text(err.read())
        == #"{"note":"a note."}"# + "\n" + #"{"note":"what is done"}"# + "\n" + #"{"note":"a PDU: \"0a\""}"# + "\n")
  }

  @Test(.onLoop) @LoopActor func quietIsQuiet() async throws {
    let (out, err) = (SlowReader(), SlowReader())
    let output = output(out, err) { $0.quiet = true }
    output.note("a note")
    output.status("what is done")
    output.progress("50 %")
    #expect(err.read().isEmpty)
    output.failure("it failed")
    #expect(!err.read().isEmpty)
  }

  @Test(.onLoop) @LoopActor func messagesThatNobodyReadsAreCounted() async throws {
    let (out, err) = (SlowReader(), SlowReader())
    let output = output(out, err)
    let inPipe = err.fill()
    for number in 0..<10_000 { output.message("message \(number)") }
    // Standard output still works.
    try await output.line("a line")
    #expect(text(out.read()) == "a line\n")
    let flushing = EventLoop.shared.spawn { try? await output.flush(until: nil) }
    var read = try await err.read(atLeast: inPipe)
    while !output.isFlushed {
      read += err.read()
      try await EventLoop.shared.sleep(for: .zero)
    }
    await flushing.value
    let lines = text(read + err.read()).split(separator: "\n").map(String.init)
    let told = lines.filter { $0.hasPrefix("message") || $0.contains("message 0") }.count
    #expect(told < 10_000)
    #expect(lines.last == "note: Lost \(10_000 - told) messages here: standard error was not read in time.")
  }

  @Test(.onLoop) @LoopActor func aViewThatTheTerminalHasNoRoomForIsLeftOut() async throws {
    let (out, err) = (SlowReader(), SlowReader())
    let output = output(out, err)
    let view = LiveView()
    try view.draw(["a", "b"], on: output)
    #expect(text(try await out.read(atLeast: 1)) == "a\u{1B}[K\nb\u{1B}[K\n\u{1B}[J")
    let inPipe = out.fill()
    try view.draw(["c"], on: output)
    try view.draw(["not seen", "not seen", "not seen"], on: output)
    let after = try await out.read(atLeast: inPipe + 1)
    #expect(text(Array(after.dropFirst(inPipe))) == "\u{1B}[2A\rc\u{1B}[K\n\u{1B}[J")
    try await view.finish(["d"], on: output)
    // The update overwrites one existing line, not three missing ones.
    #expect(text(out.read()) == "\u{1B}[1A\rd\u{1B}[K\n\u{1B}[J")
  }

  /// Long messages wrap between words, but a command to copy stays on one line.
  @Test(arguments: [
    ("x: one two", 20, ["x: one two"]), ("x: one two three", 10, ["x: one two", "three"]),
    ("x: not found. List them: x services name:Band-7 --values", 24, ["x: not found. List them:", "x services name:Band-7 --values"]),
    ("x: ünbreakable", 6, ["x:", "ünbreakable"]),
  ])
  func messagesFoldAtWords(_ line: String, _ width: Int, _ lines: [String]) {
    #expect(Output.fold(line, of: "x", to: width).split(separator: "\n").map(String.init) == lines)
  }
}

@Suite(.timeLimit(.minutes(15))) struct TableTests {
  @Test func columnsLineUpByDisplayWidth() {
    var table = Table(["NAME", "RSSI"])
    table.add(["錠", "-40 dBm"])
    table.add(["GateLock", "-60 dBm"])
    #expect(table.lines(width: nil) == ["NAME      RSSI", "錠        -40 dBm", "GateLock  -60 dBm"])
  }

  @Test func theLastColumnIsClipped() {
    var table = Table(["A", "B"])
    table.add(["x", "0123456789"])
    #expect(table.lines(width: 8) == ["A  B", "x  0123…"])
  }

  @Test func columnsThatDoNotFitAreFolded() {
    var table = Table(["NAME", "KEY", "ADAPTER"])
    table.add(["Lock", "16 bytes", "hci0"])
    let one = ["NAME  KEY       ADAPTER", "Lock  16 bytes  hci0"]
    #expect(table.folded(width: 23) == one && table.lines(width: nil) == one)
    #expect(table.folded(width: 22) == ["NAME  KEY", "  ADAPTER", "Lock  16 bytes", "  hci0"])
    // A long name does not hide the other columns.
    var long = Table(["NAME", "KEY"])
    long.add(["0123456789", "16 bytes"])
    #expect(long.folded(width: 9) == ["NAME", "  KEY", "01234567…", "  16 byt…"])
    // Not even one column fits.
    #expect(table.folded(width: 3) == ["NA…", "Lo…"])
  }

  @Test func nothingStandsBehindWhatIsThere() {
    var table = Table(["NAME", "STATE", "ERRORS"])
    table.add(["a", "", ""])
    table.add(["b", "", "1"])
    #expect(table.lines(width: nil) == ["NAME  STATE  ERRORS", "a", "b            1"])
  }
}
