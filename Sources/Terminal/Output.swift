package import EventLoop
import Glibc
package import Text

/// The only writer to stdout (results) and stderr (everything else). Nothing here blocks. Output for a slow reader waits in a bounded
/// queue. When the queue is full, commands wait (`line`, `record`, `write`) and other sources get false (`offer…`).
/// Each command of a session has its own output and style over the same streams.
@LoopActor
package final class Output {
  package struct Style: Sendable {
    /// The prefix of errors on stderr.
    package var program = ""
    package var json = false
    package var quiet = false
    package var verbosity = 0
    package var color = ColorChoice.auto
    /// Whether a person reads the text, so that times are local.
    package var isLive = false

    package init() {}
  }

  package nonisolated let style: Style
  /// The function that adds members to each JSON record, after the record's own.
  package var members: (@LoopActor (inout RecordWriter) -> Void)?
  /// The function that adds the member with the name of a record's device.
  package var peer: (@LoopActor (inout RecordWriter) -> Void)?
  /// Whether each record of the result names its device without `peer`.
  package var resultsNamePeer = false
  /// The callback for each record of the result, as a value.
  package var onRecord: (@LoopActor (JSONTree) -> Void)?
  /// The callback for the lines written to stdout.
  package var onResult: (@LoopActor ([UInt8]) -> Void)?
  /// Whether output for stdout goes only to `onRecord` and `onResult`.
  package var hidesResults = false
  /// The function that receives notes and progress, instead of stderr.
  package var onMessage: (@LoopActor (_ text: String, _ isNote: Bool) -> Void)?
  private nonisolated let streams: StandardStreams
  private nonisolated let colorOut: Bool
  private nonisolated let colorErr: Bool

  /// The maximum number of bytes that wait for a slow reader, some thousands of records.
  package nonisolated static let limit = 1 << 20
  /// The number of bytes that messages and unrepeatable output may use above the limit.
  package nonisolated static let reserve = 1 << 16

  package nonisolated convenience init(
    _ style: Style, out: Int32 = STDOUT_FILENO, err: Int32 = STDERR_FILENO, limit: Int = limit, environment: (String) -> String?
  ) {
    self.init(style, StandardStreams(out: out, err: err, limit: limit, environment: environment))
  }

  /// Creates an output on the same streams in another style.
  package nonisolated convenience init(_ style: Style, sharing other: Output) { self.init(style, other.streams) }

  private nonisolated init(_ style: Style, _ streams: StandardStreams) {
    self.style = style
    self.streams = streams
    func allows(_ isTerminal: Bool) -> Bool {
      if style.json { return false }
      return switch style.color {
      case .always: true
      case .never: false
      case .auto: isTerminal && !streams.refusesColor && !streams.isDumb
      }
    }
    colorOut = allows(streams.outIsTerminal)
    colorErr = allows(streams.errIsTerminal)
  }

  package nonisolated var outIsTerminal: Bool { streams.outIsTerminal }
  package nonisolated var errIsTerminal: Bool { streams.errIsTerminal }
  /// Whether terminals show UTF-8 according to the locale. Other terminals get ASCII.
  package nonisolated var isUTF8: Bool { streams.isUTF8 }

  /// Adapts text with our own lines, quotes and bars to the user's terminal. Text from devices stays unchanged.
  package nonisolated func displayText(_ text: String) -> String { isUTF8 ? text : DisplayText.asciiLines(text) }

  /// Whether escape sequences may move the cursor on stdout (live views).
  package nonisolated var canAnimateOut: Bool { outIsTerminal && !streams.isDumb && !style.json && !style.quiet }
  package nonisolated var canAnimateErr: Bool { errIsTerminal && !streams.isDumb && !style.json && !style.quiet }

  package nonisolated var width: Int { streams.size.columns }
  package nonisolated var height: Int { streams.size.rows }

  // MARK: Results

  /// Writes a line of the result. Waits for room.
  /// - Throws: OutputFailure; CancellationError. The functions below throw the same.
  package func line(_ text: String) async throws { try await write(Self.line(text)) }

  /// Writes a JSON record. Waits for room.
  package func record(_ build: (inout RecordWriter) -> Void) async throws {
    if try recordWithoutWaiting(build) { return }
    try await untilTurn()
    try put(build)
  }

  /// Writes a JSON record if that needs no wait. An asynchronous call costs as much as a short record.
  /// - Returns: False if the record would have to wait. Then this function writes nothing.
  package func recordWithoutWaiting(_ build: (inout RecordWriter) -> Void) throws(OutputFailure) -> Bool {
    guard takesTurn() else { return false }
    try put(build)
    return true
  }

  /// Writes bytes unchanged. Waits for room.
  package func write(_ bytes: [UInt8]) async throws {
    if !takesTurn() { try await untilTurn() }
    try put(bytes)
  }

  /// Spends a step of the event loop's share for output without a wait. Returns false if the output has to wait.
  private func takesTurn() -> Bool {
    guard hidesResults ? !EventLoop.shared.isShareSpent : streams.out.takesAtOnce else { return false }
    EventLoop.shared.spendStep()
    return true
  }

  private func untilTurn() async throws {
    // Hidden output has no reader, but other tasks get their turn.
    if hidesResults { try await EventLoop.shared.waitForTurn() } else { try await streams.out.untilRoom() }
  }

  private func put(_ bytes: [UInt8]) throws(OutputFailure) {
    onResult?(bytes)
    if !hidesResults { try streams.out.take(bytes) }
  }

  private func put(_ build: (inout RecordWriter) -> Void) throws(OutputFailure) {
    observe(build)
    // Do not create output that is discarded.
    if !hidesResults || onResult != nil { try put(line(of: build)) }
  }

  private func observe(_ build: (inout RecordWriter) -> Void) { onRecord?(RecordWriter.value { complete(&$0, build) }) }

  private func line(of build: (inout RecordWriter) -> Void, isResult: Bool = true) -> [UInt8] {
    Self.record { complete(&$0, build, isResult: isResult) }
  }

  /// Writes a record with the members that all records have.
  private func complete(_ record: inout RecordWriter, _ build: (inout RecordWriter) -> Void, isResult: Bool = true) {
    build(&record)
    guard style.json else { return }
    members?(&record)
    if !isResult || !resultsNamePeer { peer?(&record) }
  }

  /// Waits for room. After that, one `offer` of a line or record succeeds.
  package func untilRoom() async throws { try await streams.out.untilRoom() }

  /// Writes a line for a source that cannot wait.
  /// - Returns: False if there is no room. Then this function writes nothing.
  package func offerLine(_ text: @autoclosure () -> String) throws(OutputFailure) -> Bool {
    guard hasRoom(for: 0) else { return false }
    return try offer(Self.line(text()), reserve: 0)
  }

  /// Writes a JSON record for a source that cannot wait.
  /// - Parameter reserve: The number of bytes that may exceed the limit.
  /// - Returns: False if there is no room. Then this function writes nothing.
  package func offerRecord(reserve: Int = 0, _ build: (inout RecordWriter) -> Void) throws(OutputFailure) -> Bool {
    guard hasRoom(for: reserve), try offer(line(of: build), reserve: reserve) else { return false }
    observe(build)
    return true
  }

  private func hasRoom(for reserve: Int) -> Bool {
    hidesResults || streams.out.queued < streams.out.limit + reserve || streams.out.failure != nil
  }

  private func offer(_ bytes: [UInt8], reserve: Int) throws(OutputFailure) -> Bool {
    if !hidesResults { guard try streams.out.offer(bytes, reserve: reserve) else { return false } }
    onResult?(bytes)
    return true
  }

  /// Writes a live view if no earlier output waits. Returns false otherwise.
  func offerFrame(_ bytes: [UInt8]) throws(OutputFailure) -> Bool {
    guard streams.out.queued == 0 else { return false }
    return try streams.out.offer(bytes)
  }

  package nonisolated static func line(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }

  package nonisolated static func record(_ build: (inout RecordWriter) -> Void) -> [UInt8] {
    var json = RecordWriter()
    build(&json)
    return json.finished()
  }

  /// Waits until the kernel has accepted all output, or until `deadline`.
  /// - Throws: OutputFailure if stdout could not be written; CancellationError.
  package func flush(until deadline: LoopClock.Instant?) async throws {
    var failure: (any Error)?
    do { try await streams.out.flush(until: deadline) } catch { failure = error }
    do {
      try await streams.err.flush(until: deadline)
      tellOfLoss()
      try await streams.err.flush(until: deadline)
    } catch is OutputFailure {}
    if let failure { throw failure }
  }

  /// Whether writing to stdout has failed.
  package var isBroken: Bool { streams.out.failure != nil }

  /// Whether the queue has room for a record.
  package var hasRoom: Bool { streams.out.hasRoom }

  /// The number of lines of the result that wait in the queue.
  package var unwrittenLines: Int { streams.out.queuedLines }

  /// Whether the kernel has accepted all output.
  package var isFlushed: Bool { streams.out.queued == 0 && streams.err.queued == 0 }

  /// The stream that shows the typed line: stdout if it is a terminal, or else stderr. Nil if neither is a terminal.
  var promptSink: Sink? { outIsTerminal ? streams.out : errIsTerminal ? streams.err : nil }
  var resultSink: Sink { streams.out }
  nonisolated var paintsPrompt: Bool { outIsTerminal ? colorOut : colorErr }

  package nonisolated func paint(_ text: String, _ paint: TerminalStyle) -> String { colorOut ? paint.apply(text) : text }

  // MARK: Messages

  // Messages contain user input and file names. Their control characters must not reach the terminal.

  /// Writes a note for the user, unless the user gave `--quiet`.
  package func note(_ text: String) {
    guard !style.quiet || onMessage != nil else { return }
    let text = DisplayText.visible(text)
    say(text, isNote: true, (colorErr ? TerminalStyle.yellow.apply("note:") : "note:") + folded(" " + text, after: "note:"))
  }

  /// Shows progress on a terminal, or anywhere if the output is verbose.
  package func status(_ text: String) {
    guard !style.quiet, errIsTerminal && !style.json || style.verbosity > 0 else { return }
    let text = DisplayText.visible(text)
    say(text, isNote: false, colorErr ? TerminalStyle.dim.apply(text) : text)
  }

  package func verbose(_ level: Int, _ text: @autoclosure () -> String) {
    guard style.verbosity >= level else { return }
    let text = DisplayText.visible(text())
    say(text, isNote: false, colorErr ? TerminalStyle.dim.apply(text) : text)
  }

  package func failure(_ text: String) {
    let name = style.program + ":"
    put(message: (colorErr ? TerminalStyle.red.apply(name) : name) + folded(" " + displayText(DisplayText.visible(text)), after: name))
  }

  private func folded(_ text: String, after name: String) -> String {
    errIsTerminal && !style.json ? String(Self.fold(name + text, of: style.program, to: width).dropFirst(name.count)) : text
  }

  private func say(_ text: String, isNote: Bool, _ plain: String) {
    if let onMessage { return onMessage(text, isNote) }
    if let screen = streams.fullScreen { return screen.message(text) }
    guard style.json else { return put(message: displayText(plain)) }
    messageRecord { $0.string("note", text) }
  }

  /// Writes a JSON record to stderr.
  package func messageRecord(_ build: (inout RecordWriter) -> Void) {
    put(message: String(decoding: line(of: build, isResult: false).dropLast(), as: UTF8.self))
  }

  /// Writes a line to stderr.
  package func message(_ text: String) { put(message: DisplayText.visible(text)) }

  private func put(message text: String) {
    tellOfLoss()
    streams.message(text)
  }

  private func tellOfLoss() {
    guard streams.lost > 0, streams.err.hasRoom else { return }
    let count = streams.lost
    streams.lost = 0
    note("Lost \(count) message(s) here: standard error was not read in time.")
  }

  // MARK: Progress

  /// Shows `text` on the last line of the terminal until the next message or progress replaces it.
  package func progress(_ text: String) {
    let isFree = streams.err.queued == 0 && streams.err.bottomLine?.isActive != true
    guard canAnimateErr, isFree, streams.emit("\r\u{1B}[K" + displayText(text)) else { return }
    streams.eraseTransient = "\r\u{1B}[K"
  }

  package func clearTransient() { streams.clearTransient() }

  /// The callback that runs before the program draws a live view. During a stop, another program may have written below the view.
  package var beforeFrame: (@LoopActor () -> Void)? {
    get { streams.beforeFrame }
    set { streams.beforeFrame = newValue }
  }

  /// The full-screen program that shows the messages itself. Nil if no such program runs.
  package var fullScreen: FullScreen? {
    get { streams.fullScreen }
    set { streams.fullScreen = newValue }
  }

  package struct FullScreen {
    let message: @LoopActor (String) -> Void
    let resumed: @LoopActor () -> Void

    /// Creates a full-screen program.
    /// - Parameter message: Receives messages for stderr.
    /// - Parameter resumed: Called when the process continues after a stop.
    package init(message: @escaping @LoopActor (String) -> Void, resumed: @escaping @LoopActor () -> Void) {
      self.message = message
      self.resumed = resumed
    }
  }

  /// The block at the bottom of stdout that the program redraws in place.
  var live: LiveView? {
    get { streams.live }
    set { streams.live = newValue }
  }

  /// Handles a continued process (Ctrl-Z, fg). Other programs have written to the terminal, so nothing above is ours.
  package func resumed() {
    if let screen = streams.fullScreen { return screen.resumed() }
    live?.forget()
    streams.eraseTransient = nil
  }

  /// Starts a new line, so that output does not follow the terminal's `^C`. Does nothing after bars and live views, which erase the `^C`.
  package func breakLine() {
    guard errIsTerminal, streams.eraseTransient == nil, live == nil, streams.fullScreen == nil else { return }
    _ = streams.emit("\n")
  }
}

/// Writes output before the event loop runs: usage errors and help.
extension Output {
  /// The width of the terminal on standard error, in columns. Nil if standard error is not a terminal.
  package nonisolated static var errorWidth: Int? {
    var window = winsize()
    guard isatty(STDERR_FILENO) == 1 else { return nil }
    return unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0 ? Int(window.ws_col) : 80
  }

  /// Folds a line at its words. A command of the program at the end of the line stays on one line, so that users can copy it.
  package nonisolated static func fold(_ line: String, of program: String, to width: Int) -> String {
    guard DisplayText.width(line) > width else { return line }
    let start = line.ranges(of: ": \(program) ").last?.lowerBound ?? line.endIndex
    let command = line[start...].dropFirst(2).replacing(" ", with: "\u{A0}")
    let words = line[..<start] + (command.isEmpty ? "" : ": \(command)")
    return DisplayText.wrap(String(words), to: width).joined(separator: "\n").replacing("\u{A0}", with: " ")
  }

  package enum StandardStream: Sendable { case output, error }

  /// Writes a text synchronously, for messages before the loop runs.
  /// - Returns: False if the write failed.
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

/// The user's choice of when to use color. `auto` means on a terminal that supports color, unless NO_COLOR is set.
package enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

/// ANSI text styles, used sparingly: for names of things, not for whole lines.
package enum TerminalStyle: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// Encloses a text in the escape sequences that start the style and reset it.
  package func apply(_ text: String) -> String { begin + text + Self.end }

  var begin: String { "\u{1B}[\(rawValue)m" }
  static let end = "\u{1B}[0m"
}
