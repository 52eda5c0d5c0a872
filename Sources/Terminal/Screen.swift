package import BluetoothLE
import CCurses
import Glibc

/// The full screen of a terminal, through ncurses. It draws frames and reads keys.
/// It restores the terminal when it ends, when the program stops (Ctrl-Z) or crashes, and after any signal that a program can catch.
@LoopActor
package final class Screen {
  package enum Event: Sendable {
    case key(Key)
    /// The program must redraw the screen, because the terminal changed its size or another program wrote to it.
    case changed
    /// The terminal hung up, so no keys can arrive.
    case hangup
  }

  /// The version of ncurses with which blectl was built.
  package nonisolated static let libraryVersion = NCURSES_VERSION
  private let handler: @LoopActor (Event) -> Void
  private let hasClipboard: Bool
  private var drawn = Frame([])
  private var isOpen = true
  private var signals: (read: Int32, write: Int32) = (-1, -1)
  private var signalWatch: Watch?
  private var keyWatch: Watch?
  private var pace: LoopTimer?

  /// The virtual time from the start until the screen reads the first key. Without a typed key, virtual time stands still.
  private static let firstKey = Duration.seconds(3)
  private static let nextKey = Duration.seconds(1)

  /// Returns whether stdin and stdout are terminals that can show a full screen.
  package nonisolated static func isPossible(environment: (String) -> String?) -> Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !["", "dumb"].contains(environment("TERM") ?? "")
  }

  /// Whether the C library has a UTF-8 locale. Without one, ncurses shows the bytes of letters.
  package nonisolated static var canShowUTF8: Bool { shim_screen_has_utf8() != 0 }

  /// Opens the screen. Nil if the terminal type is unknown.
  package init?(isUTF8: Bool, usesColor: Bool, environment: (String) -> String?, handler: @escaping @LoopActor (Event) -> Void) {
    self.handler = handler
    // The Linux console shows the sequence, which other terminals hide.
    hasClipboard = environment("TERM").map { !$0.hasPrefix("linux") } ?? false
    signals = openPipe()
    let size = TerminalSize(of: STDOUT_FILENO)
    guard shim_screen_start(isUTF8 ? 1 : 0, usesColor ? 1 : 0, signals.write, Int32(size.rows), Int32(size.columns)) != 0 else {
      close(signals.read)
      close(signals.write)
      isOpen = false
      return nil
    }
    keyWatch = EventLoop.shared.watch(STDIN_FILENO, .readable) { [weak self] ready in
      self?.readKeys()
      if ready.failed { self?.handler(.hangup) }
    }
    signalWatch = EventLoop.shared.watch(signals.read, .readable) { [weak self] _ in self?.takeSignals() }
    letTimePass(Self.firstKey)
  }

  isolated deinit { end() }

  package var columns: Int { Int(shim_screen_columns()) }
  package var rows: Int { Int(shim_screen_rows()) }

  /// Draws a frame. Returns false if the terminal accepts no output now. The caller must then draw the frame later.
  package func draw(_ frame: Frame) -> Bool {
    guard isOpen, frame != drawn else { return true }
    var poller = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    // In virtual time, draw the same frames however fast the reader is.
    guard unsafe EventLoop.shared.isVirtual || poll(&poller, 1, 0) > 0 else { return false }
    for (row, line) in frame.lines.enumerated() where !drawn.lines.indices.contains(row) || drawn.lines[row] != line {
      var column = 0
      for span in line.spans {
        let style = span.style
        unsafe shim_screen_draw(
          Int32(row), Int32(column), span.text, style.color?.rawValue ?? 0, style.isBold ? 1 : 0, style.isDim ? 1 : 0,
          style.isReverse ? 1 : 0)
        column += DisplayText.width(span.text)
      }
      shim_screen_clear_rest(Int32(row), Int32(column))
    }
    shim_screen_show(Int32(frame.cursor?.row ?? -1), Int32(frame.cursor?.column ?? 0))
    drawn = frame
    return true
  }

  /// Copies text to the terminal's clipboard (OSC 52).
  /// - Returns: False if the terminal has no clipboard or the screen has ended.
  package func copy(_ text: String) -> Bool {
    guard isOpen, hasClipboard else { return false }
    // Between two frames: the sequence does not move the cursor.
    return Output.writeWaiting(.output, "\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{7}")
  }

  /// Prepares the terminal again and reports `changed`, so that the program draws a complete frame.
  package func redraw() {
    guard isOpen else { return }
    shim_screen_resume()
    drawn = Frame([])
    letTimePass(Self.nextKey)
    handler(.changed)
  }

  /// Restores the terminal. Idempotent.
  package func end() {
    guard isOpen else { return }
    isOpen = false
    pace?.cancel()
    if EventLoop.shared.isVirtual { EventLoop.shared.virtualTime.standsStill = false }
    keyWatch?.cancel()
    signalWatch?.cancel()
    shim_screen_end()
    close(signals.read)
    close(signals.write)
  }

  // MARK: Input

  private func takeSignals() {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(signals.read, &bytes, bytes.count)
    guard count > 0 else { return }
    if bytes.prefix(count).contains(UInt8(SIGTSTP)) {
      shim_screen_stop()
      redraw()
    }
    let size = TerminalSize(of: STDOUT_FILENO)
    resizeterm(Int32(size.rows), Int32(size.columns))
    // The terminal may have shown the output that was on its way in any form.
    redraw()
  }

  /// Reads typed keys and passes them to the handler, at most 64 per turn of the event loop.
  private func readKeys() {
    for _ in 0..<(EventLoop.shared.isVirtual ? 1 : 64) where isOpen {
      var key: Key?
      guard readKey(&key) else {
        if EventLoop.shared.isVirtual { EventLoop.shared.virtualTime.standsStill = true }
        keyWatch?.setInterest(.readable)
        return
      }
      letTimePass(Self.nextKey)
      if let key { handler(.key(key)) }
    }
    // ncurses may have read more keys in search of the end of a sequence.
    if isOpen, !EventLoop.shared.isVirtual { pace = EventLoop.shared.schedule(after: .zero) { [weak self] in self?.readKeys() } }
  }

  /// Reads the next key after `time` of virtual time. Does nothing in real time.
  private func letTimePass(_ time: Duration) {
    guard isOpen, EventLoop.shared.isVirtual else { return }
    EventLoop.shared.virtualTime.standsStill = false
    keyWatch?.setInterest([])
    pace?.cancel()
    pace = EventLoop.shared.schedule(after: time) { [weak self] in self?.readKeys() }
  }

  /// Reads a key. Returns false if no key has arrived. The key is nil if it has no `Key` value.
  private func readKey(_ key: inout Key?) -> Bool {
    var code: Int32 = 0
    switch unsafe shim_screen_key(&code) {
    case 1:
      key = Unicode.Scalar(UInt32(bitPattern: code)).flatMap { Key($0) }
      return true
    case 2:
      key = special(code)
      return true
    default: return false
    }
  }

  private func special(_ code: Int32) -> Key? {
    switch code {
    case KEY_UP: return .up
    case KEY_DOWN: return .down
    case KEY_LEFT: return .left
    case KEY_RIGHT: return .right
    case KEY_PPAGE: return .pageUp
    case KEY_NPAGE: return .pageDown
    case KEY_HOME, KEY_A1: return .home
    case KEY_END, KEY_C1: return .end
    case KEY_BTAB: return .backTab
    case KEY_BACKSPACE: return .backspace
    case KEY_DC: return .delete
    case KEY_ENTER: return .enter
    case KEY_MOUSE:
      var (row, column): (Int32, Int32) = (0, 0)
      switch unsafe shim_screen_mouse(&row, &column) {
      case 1: return .click(row: Int(row), column: Int(column))
      case 4: return .wheelUp(row: Int(row), column: Int(column))
      case 5: return .wheelDown(row: Int(row), column: Int(column))
      default: return nil
      }
    default: return nil
    }
  }
}

/// The contents of a full screen, with one line per row. Each line is as wide as the screen, and its text must not move the cursor.
package struct Frame: Equatable, Sendable {
  package var lines: [Line]
  /// The position of the cursor. Row and column count from 0. Nil hides the cursor.
  package var cursor: Cursor?

  package struct Cursor: Equatable, Sendable {
    package let row: Int
    package let column: Int

    package init(row: Int, column: Int) { (self.row, self.column) = (row, column) }
  }

  package init(_ lines: [Line], cursor: Cursor? = nil) { (self.lines, self.cursor) = (lines, cursor) }

  package struct Line: Equatable, Sendable {
    package var spans: [Span]

    package init(_ spans: [Span]) { self.spans = spans }

    package var text: String { spans.map(\.text).joined() }
  }

  package struct Span: Equatable, Sendable {
    package let text: String
    package let style: Style

    package init(_ text: String, _ style: Style = .plain) { (self.text, self.style) = (text, style) }
  }

  /// The style of a text on a full screen.
  package struct Style: Equatable, Sendable {
    package var color: Color?
    package var isBold = false
    package var isDim = false
    package var isReverse = false

    package init(_ color: Color? = nil, bold: Bool = false, dim: Bool = false, reverse: Bool = false) {
      self.color = color
      isBold = bold
      isDim = dim
      isReverse = reverse
    }

    package static let plain = Self()
    package static let red = Self(.red)
    package static let green = Self(.green)
    package static let yellow = Self(.yellow)
    package static let cyan = Self(.cyan)
    package static let bold = Self(bold: true)
    package static let dim = Self(dim: true)
  }

  /// A text color. The raw value is the ANSI number.
  package enum Color: Int32, Sendable {
    case red = 1
    case green = 2
    case yellow = 3
    case cyan = 6
  }
}

/// A key press or mouse action on a full screen. Rows and columns count from 0.
package enum Key: Hashable, Sendable, ExpressibleByExtendedGraphemeClusterLiteral {
  /// A printable character.
  case character(Character)
  /// The Ctrl key with a letter, in lower case.
  case control(Character)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, pageUp, pageDown, home, end
  case click(row: Int, column: Int)
  case wheelUp(row: Int, column: Int)
  case wheelDown(row: Int, column: Int)

  package init(extendedGraphemeClusterLiteral character: Character) { self = .character(character) }

  /// Converts a character from the terminal to a key. Nil for control characters without a key.
  package init?(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x09: self = .tab
    case 0x0A, 0x0D: self = .enter
    case 0x08, 0x7F: self = .backspace
    case 0x1B: self = .escape
    case 0x01...0x1A:
      guard let letter = Unicode.Scalar(scalar.value + 0x60) else { return nil }
      self = .control(Character(letter))
    case 0..<0x20, 0x80..<0xA0: return nil
    default: self = .character(Character(scalar))
    }
  }
}
