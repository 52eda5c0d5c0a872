import EventLoop
import Glibc
import Text

/// The stdout and stderr of the process, and our lines at the bottom of the terminal. Nothing here blocks. Output for a slow reader waits
/// in a bounded queue.
@LoopActor
final class StandardStreams {
  nonisolated let outIsTerminal: Bool
  nonisolated let errIsTerminal: Bool
  /// Whether terminals show UTF-8 according to the locale. Other terminals get ASCII.
  nonisolated let isUTF8: Bool
  /// Whether the terminal cannot process escape sequences.
  nonisolated let isDumb: Bool
  /// Whether NO_COLOR is set (no-color.org).
  nonisolated let refusesColor: Bool
  let out: Sink
  /// The sink of stderr. If stdout and stderr are the same pipe or terminal, this is `out`, so that lines keep their order.
  let err: Sink
  /// The block at the bottom of stdout that the program redraws in place.
  var live: LiveView?
  /// A line on the terminal that the next message has to replace (a progress bar or live table).
  var eraseTransient: String?
  /// The full-screen program that shows the messages itself. Nil if no such program runs.
  var fullScreen: Output.FullScreen?
  /// The callback that runs before the program draws a live view. See `Output.beforeFrame`.
  var beforeFrame: (@LoopActor () -> Void)?
  /// The number of messages that `message` dropped for lack of room.
  var lost = 0

  nonisolated init(out: Int32, err: Int32, limit: Int, environment: (String) -> String?) {
    outIsTerminal = isatty(out) == 1
    errIsTerminal = isatty(err) == 1
    isDumb = environment("TERM") == "dumb"
    refusesColor = !(environment("NO_COLOR")?.isEmpty ?? true)
    // The first of these that is not empty decides (locale(7)).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
    // No locale says nothing about the terminal: containers and services have none.
    isUTF8 = locale.map(Self.namesUTF8) ?? true
    self.out = Sink(out, limit: limit)
    self.err = Self.isOne(out, err) ? self.out : Sink(err, limit: limit)
  }

  /// Whether a locale uses UTF-8 (`de_DE.UTF-8`, `C.utf8`). The library's text search would make our start three times as long.
  private nonisolated static func namesUTF8(_ locale: String) -> Bool {
    let letters = locale.utf8.map { $0 | 0x20 }.filter { $0 != UInt8(ascii: "-") }
    let wanted = Array("utf8".utf8)
    return letters.indices.contains { letters[$0...].starts(with: wanted) }
  }

  /// Whether both descriptors are the same pipe, terminal or socket. Two openings of a file are not, because each has its own position.
  private nonisolated static func isOne(_ one: Int32, _ other: Int32) -> Bool {
    var (a, b) = (stat(), stat())
    guard unsafe fstat(one, &a) == 0, unsafe fstat(other, &b) == 0, a.st_dev == b.st_dev, a.st_ino == b.st_ino else { return false }
    return [S_IFIFO, S_IFSOCK].contains(a.st_mode & S_IFMT) || isatty(one) == 1
  }

  nonisolated var size: (columns: Int, rows: Int) {
    var window = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return (80, 24) }
    return (Int(window.ws_col), Int(window.ws_row))
  }

  /// Writes a line to stderr. Reports no error if stderr cannot be written. Counts lines that do not fit into the queue.
  func message(_ text: String) {
    clearTransient()
    // The view is redrawn below the message. On different terminals they do not collide.
    if out === err, let live { _ = emit(live.wipe(width: size.columns)) }
    if !emit(text + "\n") { lost += 1 }
  }

  func clearTransient() {
    guard let erase = eraseTransient else { return }
    eraseTransient = nil
    _ = emit(erase)
  }

  /// Writes text to stderr.
  /// - Returns: False if there is no room.
  func emit(_ text: String) -> Bool {
    // Keep the order of output, even if both lead to the same file.
    out.writeNow()
    defer { err.writeNow() }
    return (try? err.offer(Array(text.utf8), reserve: Output.reserve)) ?? true
  }
}
