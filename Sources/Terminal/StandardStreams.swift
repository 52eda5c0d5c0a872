import EventLoop
import Glibc
import Text

/// stdout and stderr of the process, and what of ours stands at the bottom of the terminal. Nothing here blocks: what a slow reader leaves waits in
/// a bounded queue.
@LoopActor
final class StandardStreams {
  nonisolated let outIsTerminal: Bool
  nonisolated let errIsTerminal: Bool
  /// Whether the locale says that terminals here show UTF-8; else they get ASCII.
  nonisolated let isUTF8: Bool
  /// Escape sequences would only be litter there.
  nonisolated let isDumb: Bool
  /// NO_COLOR (no-color.org).
  nonisolated let refusesColor: Bool
  let out: Sink
  /// The same when both go to the same pipe or terminal: their lines keep their order.
  let err: Sink
  /// The block at the bottom of stdout that is redrawn in place.
  var live: LiveView?
  /// A line on the terminal that the next message has to replace (a progress bar or live table).
  var eraseTransient: String?
  /// See `Output.fullScreen`.
  var fullScreen: Output.FullScreen?
  /// See `Output.beforeFrame`.
  var beforeFrame: (@LoopActor () -> Void)?
  /// Messages for which there was no room.
  var lost = 0

  nonisolated init(out: Int32, err: Int32, limit: Int, environment: (String) -> String?) {
    outIsTerminal = isatty(out) == 1
    errIsTerminal = isatty(err) == 1
    isDumb = environment("TERM") == "dumb"
    refusesColor = !(environment("NO_COLOR")?.isEmpty ?? true)
    // The first of these that is not empty decides (locale(7)).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
    // None at all says nothing about the terminal: containers and services have none.
    isUTF8 = locale.map(Self.namesUTF8) ?? true
    self.out = Sink(out, limit: limit)
    self.err = Self.isOne(out, err) ? self.out : Sink(err, limit: limit)
  }

  /// `de_DE.UTF-8`, `C.utf8`. The library's search in texts costs a start three times as much as all else here.
  private nonisolated static func namesUTF8(_ locale: String) -> Bool {
    let letters = locale.utf8.map { $0 | 0x20 }.filter { $0 != UInt8(ascii: "-") }
    let wanted = Array("utf8".utf8)
    return letters.indices.contains { letters[$0...].starts(with: wanted) }
  }

  /// The same pipe, terminal or socket; two openings of one file are not, because each has a place of its own in it.
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

  /// One line on stderr. A stderr that cannot be written is nobody's fault and nobody's to tell; one that nobody reads is counted.
  func message(_ text: String) {
    clearTransient()
    // It is drawn anew below the message. Where the two go to different terminals they do not meet.
    if out === err, let live { _ = emit(live.wipe(width: size.columns)) }
    if !emit(text + "\n") { lost += 1 }
  }

  func clearTransient() {
    guard let erase = eraseTransient else { return }
    eraseTransient = nil
    _ = emit(erase)
  }

  /// To stderr. - Returns: false when there is no room.
  func emit(_ text: String) -> Bool {
    // What was said before comes before, also where both lead to the same file.
    out.writeNow()
    defer { err.writeNow() }
    return (try? err.offer(Array(text.utf8), reserve: Output.reserve)) ?? true
  }
}
