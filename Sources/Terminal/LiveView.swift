package import BluetoothLE

/// A block of lines at the bottom of the terminal that `draw` updates in place.
@LoopActor
package final class LiveView {
  /// The width of each drawn line, in columns. A terminal that became narrower wraps these lines.
  private var drawn: [Int] = []
  /// The time of the last `redraw`. Nil before the first.
  package private(set) var drawnAt: LoopClock.Instant?
  private var timer: LoopTimer?

  package nonisolated init() {}

  /// Replaces the last view, unless earlier output still waits for the terminal.
  /// Each line must fit the width of the terminal, and the block must fit its height.
  package func draw(_ lines: [Line], on output: Output) throws(OutputFailure) {
    output.beforeFrame?()
    if try output.offerFrame(frame(lines, width: output.width)) { drawn = lines.map(\.columns) }
    output.live = self
  }

  /// Draws the view, at most ten times per second, and again after half a second without another call.
  package func redraw(on output: Output, _ lines: @escaping @LoopActor () -> [Line]) throws(OutputFailure) {
    let now = EventLoop.shared.now
    if let drawnAt, drawnAt.duration(to: now) < .milliseconds(100) { return }
    drawnAt = now
    timer?.cancel()
    try draw(lines(), on: output)
    timer = EventLoop.shared.schedule(after: .milliseconds(500)) { [weak self] in try? self?.redraw(on: output, lines) }
  }

  /// Draws the last view, and waits until the output has room for it.
  /// - Throws: OutputFailure or CancellationError.
  package func finish(_ lines: [Line], on output: Output) async throws {
    timer?.cancel()
    output.live = nil
    try await output.write(frame(lines, width: output.width))
    drawn = lines.map(\.columns)
  }

  /// Returns the bytes that erase the block. The next block starts at the same place.
  func wipe(width: Int) -> String {
    defer { forget() }
    return up(width) + "\u{1B}[J"
  }

  /// Makes the next view start at the cursor, so that it does not replace the last view.
  func forget() { drawn = [] }

  /// A line of the view. `text` may contain escape sequences, which `columns` does not count.
  package struct Line: Sendable, Equatable, ExpressibleByStringLiteral {
    package let text: String
    package let columns: Int

    package init(_ text: String, columns: Int) { (self.text, self.columns) = (text, columns) }

    package init(stringLiteral text: String) { self.init(text, columns: DisplayText.width(text)) }
  }

  private func frame(_ lines: [Line], width: Int) -> [UInt8] {
    var text = up(width)
    for line in lines { text += line.text + "\u{1B}[K\n" }
    text += "\u{1B}[J"
    return Array(text.utf8)
  }

  /// Returns the sequence that moves the cursor to the start of the block.
  private func up(_ width: Int) -> String {
    let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / max(1, width)) }
    return rows > 0 ? "\u{1B}[\(rows)A\r" : ""
  }
}
