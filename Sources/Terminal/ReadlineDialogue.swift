package import EventLoop
import Glibc

/// Reads lines with GNU readline's callbacks. It draws what a program with these callbacks draws, even if standard input is not a terminal,
/// because scripts wait for that output. A process has one at a time, and not together with `LineEditor`.
@LoopActor
package final class ReadlineDialogue {
  /// The handler of a line. Nil is the end of the input. Text that it prints appears between the line and the next prompt.
  package var onLine: (@LoopActor (String?) -> Void)?
  /// The prompt. The terminal gets its escape sequences unchanged.
  package var prompt: String { didSet { if isOpen, prompt != oldValue { Readline.setPrompt(prompt) } } }

  private let screen: Sink
  private let mode: TerminalMode?
  private var watch: Watch?
  private var pasted = PastedText()
  private var isOpen = false
  private var isInLine = false
  private let ended = Wait<Void>()

  /// Creates a dialogue. Nil if memory is exhausted.
  /// - Parameter words: The completions of a line's first word.
  package init?(_ output: Output, prompt: String, completing words: [String]) {
    guard Readline.begin(STDIN_FILENO, name: "other", isUTF8: output.isUTF8) else { return nil }
    Readline.behaveAsCallback(completing: words)
    self.prompt = prompt
    screen = output.resultSink
    mode = TerminalMode(STDIN_FILENO)
  }

  /// Runs the dialogue until `end`.
  /// - Throws: CancellationError.
  package func run() async throws {
    begin()
    watch = EventLoop.shared.watch(STDIN_FILENO, .readable) { [weak self] _ in self?.read() }
    defer {
      watch?.cancel()
      if isOpen { close() }
      mode?.leave()
    }
    try await ended.value()
  }

  /// Ends the dialogue, which then reads no more lines. Idempotent.
  package func end() { ended.resume(returning: ()) }

  /// Shows lines above the typed text. Each line ends with a line feed.
  /// - Returns: False if there is no room, because no program reads the output. Then this function shows nothing.
  @discardableResult
  package func say(_ text: String) -> Bool {
    guard screen.hasRoom else { return false }
    if isOpen, !isInLine {
      Readline.say(text)
      flush()
    } else {
      screen.draw(Array(text.utf8))
    }
    return true
  }

  /// Adds a line to the history.
  package func remember(_ line: String) { Readline.remember(line) }

  /// Discards the line after Ctrl-C.
  package func interrupt() {
    guard isOpen, !isInLine else { return }
    Readline.interrupt()
    flush()
  }

  package func resized() {
    Readline.resize(isShown: isOpen && !isInLine)
    flush()
  }

  /// Redraws the line after a stop of the process.
  package func resumed() {
    mode?.leave()
    mode?.enter(undoing: Readline.markEnd)
    guard isOpen else { return }
    Readline.redraw()
    flush()
  }

  private var marksPastes: Bool { mode != nil && Readline.marksPastes }

  private func begin() {
    mode?.enter(undoing: Readline.markEnd)
    if marksPastes { screen.draw(Array("\u{1B}[?2004h".utf8)) }
    Readline.beginLine(prompt: prompt)
    isOpen = true
    flush()
  }

  /// Ends readline's line.
  private func close() {
    isOpen = false
    flush()
    if marksPastes { screen.draw(Array("\u{1B}[?2004l\r".utf8)) }
  }

  private func flush() { screen.draw(Readline.drawn()) }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    guard count > 0 else { return endOfInput() }
    if let horizon = EventLoop.shared.horizon { EventLoop.shared.horizon = horizon.advanced(by: LineEditor.keyTime * count) }
    use(mode == nil ? Array(buffer[..<count]) : pasted.pass(buffer[..<count]))
  }

  private func use(_ keys: [UInt8]) {
    var rest = keys[...]
    while !rest.isEmpty, !ended.isSettled {
      switch Readline.feed(&rest) {
      case .wantsMore, .wantsCompletion: break
      case .endlessMacro: say(Readline.endlessMacro + "\n")
      case .line(let octets): take(String(decoding: octets, as: UTF8.self))
      case .end: takeEnd()
      }
    }
    flush()
  }

  private func take(_ line: String) {
    close()
    isInLine = true
    onLine?(line)
    isInLine = false
    if !ended.isSettled { begin() }
  }

  private func takeEnd() {
    let marks = marksPastes
    close()
    if marks { screen.draw([UInt8(ascii: "\n")]) }
    onLine?(nil)
    end()
  }

  private func endOfInput() {
    // A last line needs no line feed.
    if isOpen, !Readline.typed.isEmpty { use([UInt8(ascii: "\n")]) }
    if !ended.isSettled { takeEnd() }
  }
}
