import Glibc
import TestSupport

@testable import Terminal

@Suite(.timeLimit(.minutes(15))) struct PastedTextTests {
  private static let (begin, end) = ("\u{1B}[200~", "\u{1B}[201~")

  private static func pass(_ pieces: [String]) -> [String] {
    var pasted = PastedText()
    return pieces.map { String(decoding: pasted.pass($0.utf8), as: UTF8.self) }
  }

  /// Pasted text is delivered when complete, however it arrives. Keys are delivered immediately.
  @Test(arguments: 1...20) func inPieces(_ length: Int) {
    let all = Array("ab\u{1B}[A\(Self.begin)x\u{1B}[20y\n\(Self.end)c\u{1B}\u{1B}[B".utf8)
    let pieces = stride(from: 0, to: all.count, by: length).map { String(decoding: all[$0..<min($0 + length, all.count)], as: UTF8.self) }
    let passed = Self.pass(pieces)
    #expect(passed.joined() == String(decoding: all, as: UTF8.self))
    let whole = passed.count { $0.contains("x") }
    #expect(whole == 1 && passed.first { $0.contains("x") }?.contains(Self.end) == true, "\(passed)")
  }

  @Test func keysAreNotHeld() {
    #expect(Self.pass(["\u{1B}", "f", "\u{1B}", "[A", "\u{1B}[20", "A"]) == ["\u{1B}", "f", "\u{1B}", "[A", "", "\u{1B}[20A"])
  }

  @Test func aPasteHasALimit() {
    let passed = Self.pass([Self.begin + String(repeating: "a", count: 2 * PastedText.limit), "b", Self.end + "c"])
    #expect(passed[0].utf8.count == PastedText.limit + Self.end.utf8.count && passed[0].hasSuffix("a" + Self.end))
    #expect(passed.dropFirst() == ["", "c"])
  }
}

/// Tests the terminal line after `^C`.
@Suite(.timeLimit(.minutes(15))) struct InterruptedLineTests {
  private final class PseudoTerminal {
    let master: Int32
    let slave: Int32

    init() throws {
      var (master, slave): (Int32, Int32) = (-1, -1)
      try #require(unsafe openpty(&master, &slave, nil, nil, nil) == 0)
      _ = fcntl(master, F_SETFL, O_NONBLOCK)
      self.master = master
      self.slave = slave
    }

    deinit {
      close(slave)
      close(master)
    }

    func shown() -> String {
      var text: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = unsafe read(master, &buffer, buffer.count), count > 0 { text += buffer.prefix(count) }
      return String(decoding: text, as: UTF8.self)
    }
  }

  @Test(.onLoop) @LoopActor func whatFollowsBeginsOnALineOfItsOwn() async throws {
    let terminal = try PseudoTerminal()
    let output = Output(Output.Style(), out: terminal.slave, err: terminal.slave) { _ in nil }
    output.breakLine()
    #expect(terminal.shown() == "\r\n")
    // A bar is erased together with the text after it.
    output.progress("half")
    output.breakLine()
    output.clearTransient()
    #expect(terminal.shown() == "\r\u{1B}[Khalf\r\u{1B}[K")
    try LiveView().draw(["row"], on: output)
    _ = terminal.shown()
    output.breakLine()
    #expect(terminal.shown().isEmpty)
  }

  /// A value that arrives beside a progress line or a live view replaces them.
  @Test(.onLoop) @LoopActor func aResultDoesNotContinueTheProgressLine() async throws {
    let terminal = try PseudoTerminal()
    let output = Output(Output.Style(), out: terminal.slave, err: terminal.slave) { _ in nil }
    let other = Output(Output.Style(), sharing: output)
    output.progress("half")
    try await other.line("value")
    #expect(terminal.shown() == "\r\u{1B}[Khalf\r\u{1B}[Kvalue\r\n")
    output.progress("most")
    #expect(try other.offerLine("value"))
    try await other.flush(until: nil)
    #expect(terminal.shown() == "\r\u{1B}[Kmost\r\u{1B}[Kvalue\r\n")
    let view = LiveView()
    try view.draw(["row"], on: output)
    try await other.line("value")
    try view.draw(["row"], on: output)
    try await view.finish(["end"], on: output)
    try await output.flush(until: nil)
    #expect(
      terminal.shown() == "row\u{1B}[K\r\n\u{1B}[J\u{1B}[1A\r\u{1B}[Jvalue\r\nrow\u{1B}[K\r\n\u{1B}[J\u{1B}[1A\rend\u{1B}[K\r\n\u{1B}[J")
  }

  @Test(
    .onLoop,
    arguments: [
      ([:], false), (["LANG": "C"], true), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"], false), (["LANG": "de_DE"], true),
    ])
  @LoopActor func theLocaleDecides(_ environment: [String: String], _ isASCII: Bool) async throws {
    let output = Output(Output.Style()) { environment[$0] }
    #expect(output.displayText("└─ “é” …") == (isASCII ? "`- \"é\" ~" : "└─ “é” …"))
  }
}

/// Tests the line below all other output.
@Suite(.timeLimit(.minutes(15))) struct BottomLineTests {
  @LoopActor private final class Line: BottomLine {
    let sink: Sink
    private var isShown = true
    private(set) var drawn = 0

    init(_ sink: Sink) { self.sink = sink }

    var isActive: Bool { true }

    func makeWay() -> [UInt8] {
      guard isShown else { return [] }
      isShown = false
      sink.isHeld = true
      EventLoop.shared.schedule(at: EventLoop.shared.now) {
        self.isShown = true
        self.drawn += 1
        self.sink.draw(Array("<line>".utf8))
        self.sink.isHeld = false
      }
      return Array("<wipe>".utf8)
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(.onLoop) @LoopActor func makesWayOnceForAllOfATurn() async throws {
    let reader = SlowReader()
    let output = Output(.init(), out: reader.writeEnd, err: reader.writeEnd) { _ in nil }
    let sink = output.resultSink
    let line = Line(sink)
    sink.bottomLine = line
    for number in 0..<1000 { #expect(try output.offerLine("\(number)")) }
    output.note("a note")
    // Nothing appears before all of it is ready.
    #expect(reader.read().isEmpty)
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(text(reader.read()) == "<wipe>" + (0..<1000).map { "\($0)\n" }.joined() + "note: a note.\n<line>")
    #expect(line.drawn == 1)
    try await output.line("waits for room")
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(text(reader.read()) == "<wipe>waits for room\n<line>" && line.drawn == 2)
  }

  @Test(.onLoop) @LoopActor func whatHasNoEndOfItsLineIsKnown() async throws {
    let reader = SlowReader()
    let sink = Sink(reader.writeEnd, limit: 1000)
    for (text, isAtStart) in [("a\n", true), ("b", false), ("", false), ("table\n\u{1B}[J", true)] {
      try await sink.write(Array(text.utf8))
      #expect(sink.isAtLineStart == isAtStart, "\(text)")
    }
  }
}
