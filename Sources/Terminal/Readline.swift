import CReadline
import EventLoop

/// GNU readline, which has one line at a time in a process, and draws into memory.
@LoopActor
enum Readline {
  enum Event: Equatable {
    case wantsMore
    case line([UInt8])
    /// Ctrl-D on an empty line.
    case end
    case wantsCompletion
    /// A macro of inputrc had run too many commands, and was stopped.
    case endlessMacro
  }

  static let endlessMacro = "stopped a macro of inputrc after \(shim_most_commands) commands; it seems to call itself"

  /// Reads the user's inputrc and what the terminal can, at the first call.
  /// - Parameters:
  ///   - input: the terminal whose size counts.
  ///   - name: what inputrc may ask for.
  ///   - isUTF8: what the terminal shows.
  /// - Returns: false without memory.
  static func begin(_ input: Int32, name: String, isUTF8: Bool) -> Bool {
    unsafe shim_begin(input, name, isUTF8 ? 1 : 0) == 0
  }

  /// Whether the terminal can erase to the end of a line.
  static var canErase: Bool { shim_can_erase() != 0 }
  /// Whether it is to mark what is pasted: the user's inputrc may say no.
  static var marksPastes: Bool { shim_marks_pastes() != 0 }

  /// Ends that marking; empty where the terminal does not mark.
  static var markEnd: String { marksPastes ? "\u{1B}[?2004l" : "" }

  /// A new line begins where the cursor is, which is at the left; the prompt is drawn.
  static func beginLine(prompt: String) { unsafe shim_begin_line(prompt) }

  /// Takes keys from the front until something comes of them.
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

  /// What it has drawn since the last call.
  static func drawn() -> [UInt8] {
    var count = 0
    guard let start = unsafe shim_drawn(&count) else { return [] }
    defer { shim_drawn_taken() }
    return unsafe UnsafeRawBufferPointer(start: start, count: count).map { $0 }
  }

  /// What is typed so far.
  static var typed: [UInt8] { unsafe octets(shim_typed()) }
  /// Octets of it before the cursor.
  static var cursor: Int { Int(shim_cursor()) }
  /// A search in the history has a prompt of its own.
  static var isSearching: Bool { shim_is_searching() != 0 }

  /// Erases the line and the prompt; the cursor stays where they began.
  static func wipe() { shim_wipe() }
  /// Draws both anew where the cursor is, which is at the left.
  static func redraw() { shim_redraw() }
  static func setPrompt(_ prompt: String) { unsafe shim_set_prompt(prompt) }
  /// Ends the line as it stands, with the cursor behind it.
  static func abandon() { shim_abandon() }
  /// Puts `text` in the place of so many octets before the cursor.
  static func replace(_ octets: Int, by text: String) { unsafe shim_replace(Int32(clamping: octets), text) }
  /// Asks the terminal for its size, and draws anew what stands there.
  static func resize(isShown: Bool) { shim_resize(isShown ? 1 : 0) }

  /// From now on as in a program that leaves all to readline: Tab completes first words and lists them, an empty line is not shown twice.
  static func behaveAsCallback(completing words: [String]) { unsafe shim_behave_as_callback(words.joined(separator: "\n")) }
  /// Shows text with its line feeds above the line, which is drawn anew.
  static func say(_ text: String) { unsafe shim_say(text) }
  /// Clears the line and begins it anew below.
  static func interrupt() { shim_interrupt() }

  static func remember(_ line: String) { unsafe shim_remember(line) }
  static func rememberAtMost(_ count: Int) { shim_remember_at_most(Int32(clamping: count)) }

  private static func octets(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text = unsafe text else { return [] }
    return unsafe Array(String(cString: text).utf8)
  }
}
