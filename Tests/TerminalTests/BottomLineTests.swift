import EventLoop
import TestSupport
import Testing

@testable import Terminal

/// Tests the line below all other output.
@Suite(.timeLimit(.minutes(1))) struct BottomLineTests {
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

  @Test func makesWayOnceForAllOfATurn() async throws {
    try await onLoop {
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
      #expect(text(reader.read()) == "<wipe>" + (0..<1000).map { "\($0)\n" }.joined() + "note: a note\n<line>")
      #expect(line.drawn == 1)
      try await output.line("waits for room")
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      #expect(text(reader.read()) == "<wipe>waits for room\n<line>" && line.drawn == 2)
    }
  }

  @Test func whatHasNoEndOfItsLineIsKnown() async throws {
    try await onLoop {
      let reader = SlowReader()
      let sink = Sink(reader.writeEnd, limit: 1000)
      for (text, isAtStart) in [("a\n", true), ("b", false), ("", false), ("table\n\u{1B}[J", true)] {
        try await sink.write(Array(text.utf8))
        #expect(sink.isAtLineStart == isAtStart, "\(text)")
      }
    }
  }
}
