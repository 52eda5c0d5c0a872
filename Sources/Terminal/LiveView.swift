package import EventLoop

/// A block of lines at the bottom of the terminal that is drawn again in place.
@LoopActor
package final class LiveView {
  private var drawn = 0

  package nonisolated init() {}

  /// Replaces what was drawn before; not while the terminal has not taken that yet. Lines must fit the width and the block the height, or
  /// the cursor arithmetic is wrong: the caller clips.
  package func draw(_ lines: [String], on output: Output) throws(OutputFailure) {
    if try output.offerFrame(Self.frame(lines, over: drawn)) { drawn = lines.count }
  }

  /// As `draw`, but waits until the terminal takes it: the last view stays.
  /// - Throws: OutputFailure; CancellationError.
  package func finish(_ lines: [String], on output: Output) async throws {
    try await output.write(Self.frame(lines, over: drawn))
    drawn = lines.count
  }

  private static func frame(_ lines: [String], over drawn: Int) -> [UInt8] {
    var text = drawn > 0 ? "\u{1B}[\(drawn)A\r" : ""
    for line in lines { text += line + "\u{1B}[K\n" }
    text += "\u{1B}[J"
    return Array(text.utf8)
  }
}
