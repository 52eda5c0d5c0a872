import CReadline
import EventLoop

/// Edits one line per process with GNU readline, and draws into a buffer.
@LoopActor
enum Readline {
  enum Event: Equatable {
    case wantsMore
    case line([UInt8])
    /// The user pressed Ctrl-D on an empty line.
    case end
    case wantsCompletion
    /// Readline stopped a macro of inputrc that ran too many commands.
    case endlessMacro
  }

  static let endlessMacro = "Stopped an inputrc macro after \(shim_most_commands) commands. It seems to call itself."

  /// Reads the user's inputrc and the terminal's description at the first call. Returns false if memory is exhausted.
  /// - Parameters:
  ///   - input: The terminal that determines the size of the line.
  ///   - name: The application name for conditions in inputrc.
  ///   - isUTF8: Whether the terminal shows UTF-8.
  static func begin(_ input: Int32, name: String, isUTF8: Bool) -> Bool { unsafe shim_begin(input, name, isUTF8 ? 1 : 0) == 0 }

  /// Whether the terminal can erase to the end of a line.
  static var canErase: Bool { shim_can_erase() != 0 }
  /// Whether the terminal marks pasted text. The user's inputrc can disable it.
  static var marksPastes: Bool { shim_marks_pastes() != 0 }

  /// The sequence that makes the terminal stop marking pastes. Empty if the terminal does not mark them.
  static var markEnd: String { marksPastes ? "\u{1B}[?2004l" : "" }

  /// Starts a line at the cursor, which must be in the first column, and draws the prompt.
  static func beginLine(prompt: String) { unsafe shim_begin_line(prompt) }

  /// Passes keys to readline until they produce an event, and removes them from the front of `keys`.
  static func feed(_ keys: inout ArraySlice<UInt8>) -> Event {
    var taken = 0
    let event = unsafe keys.withUnsafeBufferPointer { unsafe shim_feed($0.baseAddress, $0.count, &taken) }
    keys = keys.dropFirst(taken)
    switch Int(event) {
    case Int(shim_has_line): return .line(unsafe octets(shim_accepted()))
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

  /// The typed text, in bytes.
  static var typed: [UInt8] { unsafe octets(shim_typed()) }
  /// The number of typed bytes before the cursor.
  static var cursor: Int { Int(shim_cursor()) }
  /// Whether readline searches the history, which has its own prompt.
  static var isSearching: Bool { shim_is_searching() != 0 }

  /// Erases the prompt and the line. The cursor moves to the start of the prompt.
  static func wipe() { shim_wipe() }
  /// Redraws the prompt and the line at the cursor, which must be in the first column.
  static func redraw() { shim_redraw() }
  static func setPrompt(_ prompt: String) { unsafe shim_set_prompt(prompt) }
  /// Moves the cursor after the line and ends it.
  static func abandon() { shim_abandon() }
  /// Replaces a number of bytes before the cursor with `text`.
  static func replace(_ octets: Int, by text: String) { unsafe shim_replace(Int32(clamping: octets), text) }
  /// Queries the size of the terminal and redraws the line.
  static func resize(isShown: Bool) { shim_resize(isShown ? 1 : 0) }

  /// Switches to readline's callback behavior. Tab completes and lists first words, and readline does not show an empty line twice.
  static func behaveAsCallback(completing words: [String]) { unsafe shim_behave_as_callback(words.joined(separator: "\n")) }
  /// Shows text above the line, and redraws the line.
  static func say(_ text: String) { unsafe shim_say(text) }
  /// Clears the line and starts a new one below.
  static func interrupt() { shim_interrupt() }

  static func remember(_ line: String) { unsafe shim_remember(line) }
  static func rememberAtMost(_ count: Int) { shim_remember_at_most(Int32(clamping: count)) }

  private static func octets(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text = unsafe text else { return [] }
    return unsafe Array(String(cString: text).utf8)
  }
}
