package import EventLoop
import Glibc
package import Text

/// The only writer to stdout and stderr. stdout carries results, stderr everything else. Nothing here blocks: what a slow reader leaves
/// waits in a bounded queue, and then commands wait (`line`, `record`, `write`) and sources that cannot are told (`offer…`).
@LoopActor
package final class Output {
  package struct Style: Sendable {
    /// What an error on stderr begins with.
    package var program = ""
    package var json = false
    package var quiet = false
    package var verbosity = 0
    package var color = ColorChoice.auto

    package init() {}
  }

  package nonisolated let style: Style
  package nonisolated let outIsTerminal: Bool
  package nonisolated let errIsTerminal: Bool
  /// Whether the locale says that terminals here show UTF-8; else they get ASCII.
  package nonisolated let isUTF8: Bool
  private nonisolated let colorOut: Bool
  private nonisolated let colorErr: Bool
  /// Escape sequences would only be litter there.
  private nonisolated let isDumb: Bool
  private let out: Sink
  /// The same when both go to the same pipe or terminal: their lines keep their order.
  private let err: Sink
  /// A line on the terminal that the next message has to replace (a progress bar or live table).
  private var eraseTransient: String?
  /// What stands at the bottom of stdout and is drawn again in place.
  var live: LiveView?
  /// Messages for which there was no room.
  private var lost = 0

  /// Octets that wait for a slow reader: some thousands of records.
  package nonisolated static let limit = 1 << 20
  /// Above the limit, for messages and for what cannot be told again.
  package nonisolated static let reserve = 1 << 16

  package nonisolated init(
    _ style: Style, out: Int32 = STDOUT_FILENO, err: Int32 = STDERR_FILENO, limit: Int = limit, environment: (String) -> String?
  ) {
    self.style = style
    outIsTerminal = isatty(out) == 1
    errIsTerminal = isatty(err) == 1
    let isDumb = environment("TERM") == "dumb"
    self.isDumb = isDumb
    // The first of these that is not empty decides (locale(7)).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
    // None at all says nothing about the terminal: containers and services have none.
    isUTF8 = locale.map { locale in ["utf-8", "utf8"].contains { locale.lowercased().contains($0) } } ?? true
    func allows(_ isTerminal: Bool) -> Bool {
      if style.json { return false }
      return switch style.color {
      case .always: true
      case .never: false
      case .auto: isTerminal && environment("NO_COLOR")?.isEmpty ?? true && !isDumb
      }
    }
    colorOut = allows(outIsTerminal)
    colorErr = allows(errIsTerminal)
    self.out = Sink(out, limit: limit)
    self.err = Self.isOne(out, err) ? self.out : Sink(err, limit: limit)
  }

  /// The same pipe, terminal or socket; two openings of one file are not, because each has a place of its own in it.
  private nonisolated static func isOne(_ one: Int32, _ other: Int32) -> Bool {
    var (a, b) = (stat(), stat())
    guard unsafe fstat(one, &a) == 0, unsafe fstat(other, &b) == 0, a.st_dev == b.st_dev, a.st_ino == b.st_ino else { return false }
    return [S_IFIFO, S_IFSOCK].contains(a.st_mode & S_IFMT) || isatty(one) == 1
  }

  /// Text whose lines, quotes and bars are our own, as the user's terminal has them. What came over the air stays as it is.
  package nonisolated func forEyes(_ text: String) -> String { isUTF8 ? text : DisplayText.asciiLines(text) }

  /// May escape sequences move the cursor on stdout (live views)?
  package nonisolated var canAnimateOut: Bool { outIsTerminal && !isDumb && !style.json && !style.quiet }
  package nonisolated var canAnimateErr: Bool { errIsTerminal && !isDumb && !style.json && !style.quiet }

  package nonisolated var width: Int { size.columns }
  package nonisolated var height: Int { size.rows }

  private nonisolated var size: (columns: Int, rows: Int) {
    var window = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return (80, 24) }
    return (Int(window.ws_col), Int(window.ws_row))
  }

  // MARK: Results

  /// One line of the result; waits for room.
  /// - Throws: OutputFailure; CancellationError. So do the others.
  package func line(_ text: String) async throws { try await write(Self.line(text)) }

  /// One JSON record; waits for room.
  package func record(_ build: (inout JSONLine) -> Void) async throws { try await write(Self.record(build)) }

  /// Octets as they are; waits for room.
  package func write(_ bytes: [UInt8]) async throws { try await out.write(bytes) }

  /// Returns when there is room: one `offer` of a line or record will be accepted then.
  package func untilRoom() async throws { try await out.untilRoom() }

  /// For sources that cannot wait: octets, taken whole or not at all.
  /// - Parameter reserve: octets above the limit that this may use.
  /// - Returns: false when there is no room.
  package func offer(_ bytes: @autoclosure () -> [UInt8], reserve: Int = 0) throws(OutputFailure) -> Bool {
    // What nobody takes need not be made.
    guard out.queued < out.limit + reserve || out.failure != nil else { return false }
    return try out.offer(bytes(), reserve: reserve)
  }

  package func offerLine(_ text: @autoclosure () -> String, reserve: Int = 0) throws(OutputFailure) -> Bool {
    try offer(Self.line(text()), reserve: reserve)
  }

  package func offerRecord(reserve: Int = 0, _ build: (inout JSONLine) -> Void) throws(OutputFailure) -> Bool {
    try offer(Self.record(build), reserve: reserve)
  }

  /// For live views: taken only when everything before was written.
  func offerFrame(_ bytes: [UInt8]) throws(OutputFailure) -> Bool {
    guard out.queued == 0 else { return false }
    return try out.offer(bytes)
  }

  package nonisolated static func line(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }

  package nonisolated static func record(_ build: (inout JSONLine) -> Void) -> [UInt8] {
    var json = JSONLine()
    build(&json)
    return json.finished()
  }

  /// Returns when everything was written, or at `deadline`.
  /// - Throws: why stdout could not be written; CancellationError.
  package func flush(until deadline: LoopClock.Instant?) async throws {
    var failure: (any Error)?
    do { try await out.flush(until: deadline) } catch { failure = error }
    do {
      try await err.flush(until: deadline)
      tellOfLoss()
      try await err.flush(until: deadline)
    } catch is OutputFailure {}
    if let failure { throw failure }
  }

  /// Writing to stdout has failed.
  package var isBroken: Bool { out.failure != nil }

  /// A record would not have to wait.
  package var hasRoom: Bool { out.hasRoom }

  /// Lines of the result that wait to be written.
  package var unwrittenLines: Int { out.queuedLines }

  /// Nothing waits to be written.
  package var isFlushed: Bool { out.queued == 0 && err.queued == 0 }

  package nonisolated func paint(_ text: String, _ paint: Paint) -> String { colorOut ? paint.apply(text) : text }

  // MARK: Messages

  /// Something that the user should know; not with `--quiet`.
  package func note(_ text: String) {
    guard !style.quiet else { return }
    say(text, (colorErr ? Paint.yellow.apply("note:") : "note:") + " " + text)
  }

  /// What is being done; on a terminal or when verbose.
  package func status(_ text: String) {
    guard !style.quiet, errIsTerminal && !style.json || style.verbosity > 0 else { return }
    say(text, colorErr ? Paint.dim.apply(text) : text)
  }

  package func verbose(_ level: Int, _ text: @autoclosure () -> String) {
    guard style.verbosity >= level else { return }
    let text = text()
    say(text, colorErr ? Paint.dim.apply(text) : text)
  }

  package func failure(_ text: String) {
    let name = style.program + ":"
    message((colorErr ? Paint.red.apply(name) : name) + " " + forEyes(text))
  }

  private func say(_ text: String, _ plain: String) {
    guard style.json else { return message(forEyes(plain)) }
    message(String(decoding: Self.record { $0.string("note", text) }.dropLast(), as: UTF8.self))
  }

  /// One line on stderr. A stderr that cannot be written is nobody's fault and nobody's to tell; one that nobody reads is told of later.
  package func message(_ text: String) {
    clearTransient()
    // It is drawn anew below the message. Where the two go to different terminals they do not meet.
    if out === err, let live { _ = emit(live.wipe(width: width)) }
    tellOfLoss()
    if !emit(text + "\n") { lost += 1 }
  }

  private func tellOfLoss() {
    guard lost > 0, err.hasRoom else { return }
    let count = lost
    lost = 0
    note("\(count) message(s) were lost here: nobody read them")
  }

  /// - Returns: false when there is no room.
  private func emit(_ text: String) -> Bool {
    // What was said before comes before, also where both lead to the same file.
    out.writeNow()
    defer { err.writeNow() }
    return (try? err.offer(Array(text.utf8), reserve: Self.reserve)) ?? true
  }

  // MARK: Progress

  /// Shows `text` on the last line of the terminal until the next message or progress replaces it.
  package func progress(_ text: String) {
    guard canAnimateErr, err.queued == 0, emit("\r\u{1B}[K" + forEyes(text)) else { return }
    eraseTransient = "\r\u{1B}[K"
  }

  package func clearTransient() {
    guard let erase = eraseTransient else { return }
    eraseTransient = nil
    _ = emit(erase)
  }

  /// Called before a live view is drawn in place: whoever has stopped the process meanwhile has written below it, and that must be known now.
  package var beforeFrame: (@LoopActor () -> Void)?

  /// The process was stopped and goes on (Ctrl-Z, fg): others have written to the terminal meanwhile, and nothing above is ours any more.
  package func resumed() {
    live?.forget()
    eraseTransient = nil
  }

  /// What follows begins on a line of its own, not behind the `^C` that the terminal shows. Bars and live views are wiped with it.
  package func breakLine() {
    guard errIsTerminal, eraseTransient == nil, live == nil else { return }
    _ = emit("\n")
  }

  // MARK: Before there is a loop

  package enum StandardStream: Sendable { case output, error }

  /// Writes and waits: for what is said before the loop runs.
  /// - Returns: false when it could not be written.
  @discardableResult
  package nonisolated static func writeWaiting(_ stream: StandardStream, _ text: String) -> Bool {
    let descriptor = stream == .output ? STDOUT_FILENO : STDERR_FILENO
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&poller, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
