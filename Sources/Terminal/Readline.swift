package import BluetoothLE
import CReadline
import Glibc

/// Edits one line per process with GNU readline, and draws into a buffer.
@LoopActor
enum Readline {
  enum Event: Equatable {
    case wantsMore
    case line([UInt8])
    /// The user pressed Ctrl-D on an empty line.
    case end
    case wantsCompletion
    /// A macro of the user's inputrc ran too many commands, and readline stopped it.
    case endlessMacro
  }

  static let endlessMacro = "Stopped an inputrc macro after \(shim_most_commands) commands. It seems to call itself."

  /// Prepares readline. Reads the user's inputrc and the terminal's description at the first call. Returns false if memory is exhausted.
  /// - Parameters:
  ///   - input: The descriptor of the terminal that determines the size of the line.
  ///   - name: The application name for conditions in inputrc.
  ///   - isUTF8: Whether the terminal shows UTF-8.
  static func begin(_ input: Int32, name: String, isUTF8: Bool) -> Bool {
    guard unsafe shim_begin(input, name, isUTF8 ? 1 : 0) == 0 else { return false }
    resize(isShown: false)
    return true
  }

  /// Whether the terminal can erase to the end of a line.
  static var canErase: Bool { shim_can_erase() != 0 }
  /// Whether the terminal marks pasted text. The user's inputrc can disable these marks.
  static var marksPastes: Bool { shim_marks_pastes() != 0 }

  /// The escape sequence that stops the marks around pasted text. Empty if the terminal does not mark pastes.
  static var markEnd: String { marksPastes ? "\u{1B}[?2004l" : "" }

  /// Starts a line at the cursor, which must be in the first column, and draws the prompt.
  static func beginLine(prompt: String) { unsafe shim_begin_line(prompt) }

  /// Passes keys to readline until an event occurs. Removes the processed keys from the front of `keys`.
  static func feed(_ keys: inout ArraySlice<UInt8>) -> Event {
    var taken = 0
    let event = unsafe keys.withUnsafeBufferPointer { unsafe shim_feed($0.baseAddress, $0.count, &taken) }
    keys = keys.dropFirst(taken)
    switch Int(event) {
    case Int(shim_has_line): return .line(unsafe bytes(shim_accepted()))
    case Int(shim_has_end): return .end
    case Int(shim_wants_completion): return .wantsCompletion
    case Int(shim_has_endless_macro): return .endlessMacro
    default: return .wantsMore
    }
  }

  /// Returns the output that readline has drawn since the last call.
  static func drawn() -> [UInt8] {
    var count = 0
    guard let start = unsafe shim_drawn(&count) else { return [] }
    defer { shim_drawn_taken() }
    return unsafe UnsafeRawBufferPointer(start: start, count: count).map { $0 }
  }

  /// The bytes of the typed text.
  static var typed: [UInt8] { unsafe bytes(shim_typed()) }
  /// The cursor's byte offset in the typed text.
  static var cursor: Int { Int(shim_cursor()) }
  /// Whether readline searches its history and shows the prompt of the search.
  static var isSearching: Bool { shim_is_searching() != 0 }

  /// Erases the prompt and the line. The cursor moves to the start of the prompt.
  static func wipe() { shim_wipe() }
  /// Redraws the prompt and the line at the cursor, which must be in the first column.
  static func redraw() { shim_redraw() }
  static func setPrompt(_ prompt: String) { unsafe shim_set_prompt(prompt) }
  /// Moves the cursor after the text and ends the line.
  static func abandon() { shim_abandon() }
  /// Replaces a number of bytes before the cursor with `text`.
  static func replace(_ bytes: Int, by text: String) { unsafe shim_replace(Int32(clamping: bytes), text) }
  /// Queries the size of the terminal. Redraws the line if `isShown` is true.
  static func resize(isShown: Bool) {
    let size = TerminalSize(of: shim_terminal())
    shim_resize(Int32(size.rows), Int32(size.columns), isShown ? 1 : 0)
  }

  /// Makes readline behave as with its callback interface. Tab completes a line's first word from `words`.
  static func behaveAsCallback(completing words: [String]) { unsafe shim_behave_as_callback(words.joined(separator: "\n")) }
  /// Shows text above the line, and redraws the line.
  static func say(_ text: String) { unsafe shim_say(text) }
  /// Clears the line and starts a new one below.
  static func interrupt() { shim_interrupt() }

  static func remember(_ line: String) { unsafe shim_remember(line) }
  static func rememberAtMost(_ count: Int) { shim_remember_at_most(Int32(clamping: count)) }

  private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text = unsafe text else { return [] }
    return unsafe Array(String(cString: text).utf8)
  }
}

/// A dialogue that reads lines and draws output as GNU readline's callback interface does, even if standard input is not a terminal.
/// A process can have one dialogue, and not together with a `LineEditor`.
@LoopActor
package final class ReadlineDialogue {
  /// The version of readline with which blectl was built.
  package nonisolated static var libraryVersion: String { "\(shim_readline_version() >> 8).\(shim_readline_version() & 0xFF)" }
  /// The callback for a line. Nil means the end of the input. Text that the callback prints appears before the next prompt.
  package var onLine: (@LoopActor (String?) -> Void)?
  /// The prompt, whose escape sequences reach the terminal unchanged.
  package var prompt: String { didSet { if isOpen, prompt != oldValue { Readline.setPrompt(prompt) } } }

  private let screen: Sink
  private let mode: TerminalMode?
  private var watch: Watch?
  private var pasted = PastedText()
  private var isOpen = false
  private var isInLine = false
  private let ended = Wait<Void>()

  /// Creates a dialogue. Nil if memory is exhausted.
  /// - Parameter words: The possible completions of a line's first word.
  package init?(_ output: Output, prompt: String, completing words: [String]) {
    guard Readline.begin(STDIN_FILENO, name: "other", isUTF8: output.isUTF8) else { return nil }
    Readline.behaveAsCallback(completing: words)
    self.prompt = prompt
    screen = output.resultSink
    mode = TerminalMode(STDIN_FILENO)
  }

  /// Reads lines until a call of `end`.
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

  /// Shows lines above the typed text. Each line must end with a line feed.
  /// - Returns: False if the output queue is full. Then this function shows nothing.
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

  /// Clears the typed line after Ctrl-C, and starts a new line below.
  package func interrupt() {
    guard isOpen, !isInLine else { return }
    Readline.interrupt()
    flush()
  }

  package func resized() {
    Readline.resize(isShown: isOpen && !isInLine)
    flush()
  }

  /// Redraws the line when the process continues after a stop.
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

  /// Ends readline's line and stops the marks around pasted text.
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
    EventLoop.shared.virtualTime.horizon = EventLoop.shared.virtualTime.horizon?.advanced(by: LineEditor.keyTime * count)
    use(mode == nil ? Array(buffer[..<count]) : pasted.pass(buffer[..<count]))
  }

  private func use(_ keys: [UInt8]) {
    var rest = keys[...]
    while !rest.isEmpty, !ended.isSettled {
      switch Readline.feed(&rest) {
      case .wantsMore, .wantsCompletion: break
      case .endlessMacro: say(Readline.endlessMacro + "\n")
      case .line(let bytes): take(String(decoding: bytes, as: UTF8.self))
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
