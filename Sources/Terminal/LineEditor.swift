package import BluetoothLE
import Glibc

/// Reads lines that the user types on a terminal, with GNU readline's keys, history and inputrc. `Output` writes other text above the line.
/// A process has one editor at a time.
@LoopActor
package final class LineEditor: BottomLine {
  /// A piece of the prompt, without escape sequences.
  package struct PromptPart: Sendable, Equatable {
    let text: String
    let paint: TerminalStyle?

    package init(_ text: String, _ paint: TerminalStyle? = nil) { (self.text, self.paint) = (text, paint) }
  }

  /// The change that the completion key makes to the line.
  package struct Completion: Sendable, Equatable {
    /// The number of bytes before the cursor that `text` replaces.
    package var replaced = 0
    package var text = ""
    /// The possible continuations. If there are any, the editor lists them above the line.
    package var candidates: [Candidate] = []

    package init() {}
  }

  /// The prompt before the typed text. A change redraws the line.
  package var prompt: [PromptPart] = [] { didSet { if prompt != oldValue { promptChanged() } } }
  /// The function that completes a line. Its argument is the text before the cursor. It returns nil if it knows no completion.
  package var complete: (@LoopActor (String) -> Completion?)?
  /// The callback for a typed line that the program should keep in its history file.
  package var onRemember: (@LoopActor (String) -> Void)?
  /// The maximum number of lines in the history.
  package static let historyLimit = 5000

  private let output: Output
  private let screen: Sink
  private let input: Int32
  private let mode: TerminalMode
  private var watch: Watch?
  private var wait: Wait<String?>?
  /// The received bytes of keys that the editor has not processed yet.
  private var keys: [UInt8] = []
  private var pasted = PastedText()
  /// The remaining lines of a multi-line paste, which the next calls of `line` return.
  private var lines: [String] = []
  private var last: String?
  /// Whether the terminal shows the prompt and the line.
  private var isShown = false
  private var promptIsStale = false
  private var redraw: LoopTimer?

  /// Creates the editor. Nil if `input` is not a terminal, neither output is a terminal, or memory is exhausted.
  /// - Parameter input: The descriptor from which the editor reads keys.
  /// - Parameter name: The application name for conditions in the user's inputrc (`$if NAME`).
  package init?(_ output: Output, input: Int32 = STDIN_FILENO, name: String) {
    guard let screen = output.promptSink, let mode = TerminalMode(input), Readline.begin(input, name: name, isUTF8: output.isUTF8) else {
      return nil
    }
    (self.output, self.screen, self.input, self.mode) = (output, screen, input, mode)
    Readline.rememberAtMost(Self.historyLimit)
    screen.bottomLine = self
  }

  /// Adds lines of earlier runs to the history, the oldest first.
  package func remember(_ lines: [String]) {
    for line in lines { Readline.remember(line) }
    last = lines.last ?? last
  }

  // MARK: One line

  /// Waits for a line and returns it. Processes keys that arrived earlier first.
  /// - Returns: Nil at the end of the input, after Ctrl-D on an empty line, or if the terminal is closed.
  /// - Throws: CancellationError. The editor then discards the line.
  package func line() async throws -> String? {
    if !lines.isEmpty { return lines.removeFirst() }
    try Task.checkCancellation()
    let wait = Wait<String?>()
    self.wait = wait
    mode.enter(undoing: Readline.markEnd)
    beginLine()
    watch = EventLoop.shared.watch(input, .readable) { [weak self] _ in self?.read() }
    use()
    // The user types in real time.
    EventLoop.shared.virtualTime.horizon = EventLoop.shared.now
    defer {
      EventLoop.shared.virtualTime.horizon = nil
      self.wait = nil
      watch?.cancel()
      watch = nil
    }
    do { return try await wait.value() } catch {
      abandon("")
      throw error
    }
  }

  /// The virtual time that passes with each typed byte.
  static let keyTime = Duration.milliseconds(100)

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(input, &buffer, buffer.count)
    guard count > 0 else {
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      abandon("")
      wait?.resume(returning: nil)
      return
    }
    EventLoop.shared.virtualTime.horizon = EventLoop.shared.virtualTime.horizon?.advanced(by: Self.keyTime * count)
    keys += pasted.pass(buffer[..<count])
    use()
  }

  /// Passes the received keys to readline until a line ends.
  private func use() {
    guard !keys.isEmpty, wait?.isSettled == false else { return }
    show()
    var rest = keys[...]
    while !rest.isEmpty, wait?.isSettled == false {
      switch Readline.feed(&rest) {
      case .wantsMore: break
      case .wantsCompletion: completeNow()
      case .endlessMacro: output.note(Readline.endlessMacro)
      case .line(let bytes): accept(String(decoding: bytes, as: UTF8.self))
      case .end:
        end("\n")
        wait?.resume(returning: nil)
      }
    }
    keys = Array(rest)
    if promptIsStale { promptChanged() }
    flush()
  }

  private func accept(_ line: String) {
    end("")
    // A paste may have several lines.
    var parts = line.split(whereSeparator: \.isNewline).map(String.init)
    for part in parts { remember(typed: part) }
    let first = parts.isEmpty ? "" : parts.removeFirst()
    lines += parts
    wait?.resume(returning: first)
  }

  private func remember(typed line: String) {
    guard line != last, let first = line.first, !first.isWhitespace else { return }
    last = line
    Readline.remember(line)
    onRemember?(line)
  }

  /// Discards lines that the user typed or pasted ahead.
  /// - Returns: The number of lines.
  package func forgetAhead() -> Int {
    let count = lines.count + keys.count { $0 == 0x0A || $0 == 0x0D }
    (lines, keys) = ([], [])
    return count
  }

  /// Clears the typed line after Ctrl-C, and starts a new line below.
  package func interrupt() {
    guard wait?.isSettled == false else { return }
    keys = []
    lines = []
    abandon("^C\n")
    beginLine()
  }

  private func abandon(_ mark: String) {
    lines = []
    guard isActive else { return }
    show()
    Readline.abandon()
    end(mark.isEmpty ? "\n" : mark)
  }

  // MARK: On the terminal

  /// Whether readline edits a line, even if the terminal does not show the line.
  package private(set) var isActive = false

  private func beginLine() {
    // The output may have ended without a line feed.
    beginRow()
    isActive = true
    isShown = true
    promptIsStale = false
    if Readline.marksPastes { screen.draw(Array("\u{1B}[?2004h".utf8)) }
    Readline.resize(isShown: false)
    Readline.beginLine(prompt: promptText)
    flush()
  }

  /// Ends readline's line. `mark` is the text to draw after the line.
  private func end(_ mark: String) {
    redraw?.cancel()
    redraw = nil
    isActive = false
    isShown = false
    flush()
    screen.draw(Array((Readline.markEnd + mark).utf8))
  }

  private func flush() {
    screen.draw(Readline.drawn())
    screen.isHeld = false
  }

  private func beginRow() { if !screen.isAtLineStart { screen.endLine() } }

  /// Returns the bytes that erase the line. Schedules one redraw at the end of the event loop's turn.
  package func makeWay() -> [UInt8] {
    guard isShown else { return [] }
    screen.isHeld = true
    let erases = Readline.canErase
    let columns = DisplayText.width(prompt.map(\.text).joined()) + DisplayText.width(String(decoding: Readline.typed, as: UTF8.self))
    if erases { Readline.wipe() }
    isShown = false
    redraw = EventLoop.shared.schedule(at: EventLoop.shared.now) { [weak self] in
      self?.show()
      self?.flush()
    }
    if erases { return Readline.drawn() }
    // A terminal that cannot erase shows one line, which readline moves sideways.
    return Array(("\r" + String(repeating: " ", count: max(0, min(columns, output.width - 1))) + "\r").utf8)
  }

  private func show() {
    guard isActive, !isShown else { return }
    redraw?.cancel()
    redraw = nil
    isShown = true
    beginRow()
    if promptIsStale, !Readline.isSearching {
      promptIsStale = false
      Readline.setPrompt(promptText)
    }
    Readline.redraw()
  }

  private func promptChanged() {
    promptIsStale = true
    guard isShown, !Readline.isSearching else { return }
    screen.draw(makeWay())
    show()
    flush()
  }

  /// Redraws the line after the terminal changed its size.
  package func resized() {
    Readline.resize(isShown: isShown)
    if isShown { flush() }
  }

  /// Redraws the line after a stop of the process, or after another program used the terminal.
  package func resumed() {
    guard isActive else { return }
    mode.enter(undoing: Readline.markEnd)
    isShown = false
    screen.draw(Array("\r\(Readline.canErase ? "\u{1B}[J" : "")\(Readline.marksPastes ? "\u{1B}[?2004h" : "")".utf8))
    Readline.resize(isShown: false)
    show()
    flush()
  }

  /// Restores the user's terminal settings. `line` and `resumed` apply the editor's settings again. Idempotent.
  package func release() {
    if isActive { screen.draw(Array(Readline.markEnd.utf8)) }
    mode.leave()
  }

  /// Discards the line, restores the terminal and detaches the editor from the output.
  package func close() {
    abandon("")
    release()
    screen.bottomLine = nil
  }

  private var promptText: String {
    prompt.map { part in
      let text = output.isUTF8 ? part.text : DisplayText.ascii(part.text)
      guard let paint = part.paint, output.paintsPrompt else { return text }
      return "\u{1}\(paint.begin)\u{2}\(text)\u{1}\(TerminalStyle.end)\u{2}"
    }.joined()
  }

  // MARK: Completion

  /// The text that the last completion could not complete, and the cursor's byte offset in it. Nil after a successful completion.
  private var uncompleted: (typed: [UInt8], cursor: Int)?

  /// Completes the text again when more candidates are known. Does nothing if the user changed the text after pressing the key.
  package func completeAgain() {
    guard isActive, let uncompleted, Readline.typed == uncompleted.typed, Readline.cursor == uncompleted.cursor else { return }
    show()
    completeNow()
    flush()
  }

  private func completeNow() {
    let typed = Readline.typed
    uncompleted = nil
    guard let completion = complete?(String(decoding: typed.prefix(Readline.cursor), as: UTF8.self)) else {
      uncompleted = (typed, Readline.cursor)
      return
    }
    if !completion.candidates.isEmpty {
      let list = CandidateList(completion.candidates).lines(width: output.width, height: output.height)
      _ = try? screen.offer(Array((list.map { output.displayText($0) }.joined(separator: "\n") + "\n").utf8), reserve: Output.reserve)
      show()
    }
    let replaced = min(completion.replaced, Readline.cursor)
    if replaced > 0 || !completion.text.isEmpty { Readline.replace(replaced, by: completion.text) }
  }
}

/// A possible completion of the typed text.
package struct Candidate: Sendable, Equatable, Hashable {
  /// The completed text, which the list shows.
  package let text: String
  /// The description of the candidate. The list shows descriptions if there is room.
  package let hint: String

  package init(_ text: String, hint: String = "") { (self.text, self.hint) = (text, hint) }
}

/// A list of candidates in columns, which fits on one screen.
package struct CandidateList {
  private let candidates: [Candidate]

  package init(_ candidates: [Candidate]) { self.candidates = candidates }

  /// Returns the lines of the list. The last line reports the number of candidates that do not fit.
  /// - Parameters:
  ///   - width: The terminal's width in columns.
  ///   - height: The terminal's height in rows.
  package func lines(width: Int, height: Int) -> [String] {
    let rows = max(3, height - 3)
    // More candidates do not fit on a screen.
    let some = candidates.prefix(rows * max(1, width / 2))
    let hinted = some.map { $0.hint.isEmpty ? $0.text : "\($0.text) (\($0.hint))" }
    var shown = 0
    var lines = Self.columns(hinted, width, rows, &shown)
    // Drop the hints rather than candidates.
    if shown < candidates.count { lines = Self.columns(some.map(\.text), width, rows, &shown) }
    if shown < candidates.count { lines.append("… \(candidates.count - shown) more") }
    return lines
  }

  /// Arranges cells from top to bottom, then in the next column. Sets `shown` to the number of cells that fit.
  private static func columns(_ cells: [String], _ width: Int, _ rows: Int, _ shown: inout Int) -> [String] {
    let cells = cells.map { DisplayText.clip(DisplayText.escape($0), to: width - 1) }
    let widest = cells.reduce(0) { max($0, DisplayText.width($1)) } + 2
    let count = max(1, (width + 1) / widest)
    let needed = min(rows, (cells.count + count - 1) / count)
    shown = min(cells.count, needed * count)
    return (0..<needed).map { row in
      var line = ""
      for index in stride(from: row, to: shown, by: needed) {
        let isLast = index + needed >= shown
        line += isLast ? cells[index] : cells[index] + String(repeating: " ", count: widest - DisplayText.width(cells[index]))
      }
      return line
    }
  }
}
