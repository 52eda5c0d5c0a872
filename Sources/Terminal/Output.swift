package import BluetoothLE
import Glibc

/// Writes results to stdout and everything else to stderr, without blocking. Output for a slow reader waits in a bounded queue.
/// When the queue is full, `line`, `record` and `write` wait, and the `offer` functions return false.
/// Each command of a session has its own output and style over the same streams.
@LoopActor
package final class Output {
  package struct Style: Sendable {
    /// The prefix of errors on stderr.
    package var program = ""
    /// Whether results are records.
    package var json = false
    /// The form of the records.
    package var form = RecordForm.json
    /// The form of times in records and lines. Nil for UTC.
    package var times: RecordTimes?
    package var quiet = false
    package var verbosity = 0
    package var color = ColorChoice.auto
    /// Whether a person reads the text. Times are then without a date.
    package var isLive = false
    /// Whether messages are JSON records.
    package var writesMessagesAsJSON: Bool { json && form.isJSON }

    package init() {}
  }

  package nonisolated let style: Style
  /// The function that adds members to each JSON record, after the members of the record itself.
  package var members: (@LoopActor (inout RecordWriter) -> Void)?
  /// The function that adds the member with the name of a record's device.
  package var peer: (@LoopActor (inout RecordWriter) -> Void)?
  /// Whether each record of the result already names its device, so that the output does not call `peer`.
  package var resultsNamePeer = false
  /// The callback for each JSON record of the result.
  package var onRecord: (@LoopActor (JSONTree) -> Void)?
  /// The callback for the bytes of the result.
  package var onResult: (@LoopActor ([UInt8]) -> Void)?
  /// Whether output for stdout goes only to `onRecord` and `onResult`.
  package var hidesResults = false
  /// The names of the decoded values that the command's records may have, for the columns of a table. Nil if they are unknown.
  package var valueFields: [String]? {
    get { rows.valueFields }
    set { rows.valueFields = newValue }
  }
  private var rows: RecordRows
  private var times: RecordTimes
  private var hasNotedOmission = false
  /// The function that receives notes and progress, which then do not go to stderr. Nil writes them to stderr.
  package var onMessage: (@LoopActor (_ text: String, _ isNote: Bool) -> Void)?
  nonisolated let streams: StandardStreams
  private nonisolated let colorOut: Bool
  nonisolated let colorErr: Bool

  /// The maximum number of queued bytes for a slow reader.
  package nonisolated static let limit = 1 << 20
  /// The number of bytes above `limit` that the queue accepts for messages and output that the program cannot repeat.
  package nonisolated static let reserve = 1 << 16

  /// Creates an output. `file` is the name of a file in place of standard output, for errors.
  package nonisolated convenience init(
    _ style: Style, out: Int32 = STDOUT_FILENO, named file: String? = nil, err: Int32 = STDERR_FILENO, limit: Int = limit,
    environment: (String) -> String?
  ) {
    self.init(style, StandardStreams(out: out, file: file, err: err, limit: limit, environment: environment))
  }

  /// Creates an output with another style on the streams of an existing output.
  package nonisolated convenience init(_ style: Style, sharing other: Output) { self.init(style, other.streams) }

  private nonisolated init(_ style: Style, _ streams: StandardStreams) {
    self.style = style
    self.streams = streams
    rows = RecordRows(style.form)
    times = style.times ?? .utc
    func allows(_ isTerminal: Bool) -> Bool {
      if style.writesMessagesAsJSON { return false }
      return switch style.color {
      case .always: true
      case .never: false
      case .auto: isTerminal && !streams.refusesColor && !streams.isDumb
      }
    }
    colorOut = !style.json && allows(streams.outIsTerminal)
    colorErr = allows(streams.errIsTerminal)
  }

  package nonisolated var outIsTerminal: Bool { streams.outIsTerminal }
  package nonisolated var errIsTerminal: Bool { streams.errIsTerminal }
  /// Whether the locale uses UTF-8. If not, the output writes its own symbols in ASCII.
  package nonisolated var isUTF8: Bool { streams.isUTF8 }

  /// Replaces lines, quotes and bars in blectl's text by ASCII if the terminal does not show UTF-8.
  package nonisolated func displayText(_ text: String) -> String { isUTF8 ? text : DisplayText.asciiLines(text) }

  /// Whether the program may move the cursor on stdout with escape sequences, as live views do.
  package nonisolated var canAnimateOut: Bool { outIsTerminal && !streams.isDumb && !style.json && !style.quiet }
  package nonisolated var canAnimateErr: Bool { errIsTerminal && !streams.isDumb && !style.writesMessagesAsJSON && !style.quiet }

  package nonisolated var width: Int { streams.size.columns }
  package nonisolated var height: Int { streams.size.rows }

  // MARK: Results

  /// Writes a line of the result. Waits until the queue has room.
  /// - Throws: OutputFailure or CancellationError.
  package func line(_ text: String) async throws { try await write(Self.line(text)) }

  /// Writes a sentence of the result. On a terminal, breaks it between words.
  package func sentence(_ text: String) async throws {
    try await line(outIsTerminal ? Self.fold(text, of: style.program, to: width) : text)
  }

  /// Writes a record of the result. Waits until the queue has room.
  /// - Throws: OutputFailure, CancellationError, or UnknownRecordField for a template with a field that the record lacks.
  package func record(_ build: (inout RecordWriter) -> Void) async throws {
    if try recordWithoutWaiting(build) { return }
    try await untilTurn()
    try put(build)
  }

  /// Writes a record of the result if the queue has room and the event loop's turn has time left.
  /// - Returns: False if the caller must use `record`. Then this function writes nothing.
  package func recordWithoutWaiting(_ build: (inout RecordWriter) -> Void) throws -> Bool {
    guard takesTurn() else { return false }
    try put(build)
    return true
  }

  /// Writes bytes of the result unchanged. Waits until the queue has room.
  package func write(_ bytes: [UInt8]) async throws {
    if !takesTurn() { try await untilTurn() }
    try put(bytes)
  }

  /// Spends a step of the running job. Spends no step and returns false if output has to wait for room or for the next turn.
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
    if hidesResults { return }
    try streams.makeWay()
    try streams.out.take(bytes)
  }

  private func put(_ build: (inout RecordWriter) -> Void) throws {
    observe(build)
    // Do not create output that is discarded.
    if !hidesResults || onResult != nil { try put(result(of: build)) }
  }

  /// Returns a record of the result in the form of the output.
  private func result(of build: (inout RecordWriter) -> Void) throws(UnknownRecordField) -> [UInt8] {
    if style.form.isJSON, style.times == nil { return line(of: build) }
    var form = times
    defer { times = form }
    guard !style.form.isJSON else {
      var json = RecordWriter()
      json.times = form
      complete(&json, build)
      form = json.times
      return json.finished()
    }
    let text = try rows.text(of: RecordWriter.value(&form) { complete(&$0, build) })
    if let omitted = rows.omitted.first, !hasNotedOmission {
      hasNotedOmission = true
      note("The table has no column for \(omitted), which the first record lacked. Records in JSON have all values.")
    }
    return Array(text.utf8)
  }

  /// Writes the header of a table that has no rows.
  package func finishRecords() throws(OutputFailure) {
    if style.json, !hidesResults, let header = rows.headerWithoutRows() { try put(Array(header.utf8)) }
  }

  /// Returns a time of a line in the user's form, or in UTC. Returns nil if the user wants no times.
  /// - Parameter nanoseconds: Nanoseconds since 1970-01-01T00:00:00Z.
  package func timeText(_ nanoseconds: Int64) -> String? { times.text(nanoseconds) }

  private func observe(_ build: (inout RecordWriter) -> Void) { onRecord?(RecordWriter.value { complete(&$0, build) }) }

  func line(of build: (inout RecordWriter) -> Void, isResult: Bool = true) -> [UInt8] {
    Self.record { complete(&$0, build, isResult: isResult) }
  }

  /// Writes a record with the additional members of this output.
  private func complete(_ record: inout RecordWriter, _ build: (inout RecordWriter) -> Void, isResult: Bool = true) {
    build(&record)
    guard style.json else { return }
    members?(&record)
    if !isResult || !resultsNamePeer { peer?(&record) }
  }

  /// Writes a line of the result for a source that cannot wait.
  /// - Returns: False if the queue has no room. Then this function writes nothing.
  package func offerLine(_ text: @autoclosure () -> String) throws(OutputFailure) -> Bool {
    guard hasRoom(for: 0) else { return false }
    return try offer(Self.line(text()), reserve: 0)
  }

  /// Writes a record of the result for a source that cannot wait.
  /// - Parameter reserve: The number of bytes by which the queue may exceed its limit.
  /// - Returns: False if the queue has no room. Then this function writes nothing.
  package func offerRecord(reserve: Int = 0, _ build: (inout RecordWriter) -> Void) throws -> Bool {
    guard hasRoom(for: reserve), try offer(result(of: build), reserve: reserve) else { return false }
    observe(build)
    return true
  }

  private func hasRoom(for reserve: Int) -> Bool {
    hidesResults || streams.out.queued < streams.out.limit + reserve || streams.out.failure != nil
  }

  private func offer(_ bytes: [UInt8], reserve: Int) throws(OutputFailure) -> Bool {
    if !hidesResults {
      try streams.makeWay()
      guard try streams.out.offer(bytes, reserve: reserve) else { return false }
    }
    onResult?(bytes)
    return true
  }

  /// Writes a live view to stdout if no earlier output waits in the queue. Returns whether the output accepted the view.
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

  /// Waits until the kernel has accepted all output, or until `deadline`. Nil means no time limit.
  /// - Throws: OutputFailure if writing to stdout failed, or CancellationError.
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

  /// The error that ended writing to stdout. Nil while it works.
  package var resultFailure: OutputFailure? { streams.out.failure }

  /// Whether a write to stdout has failed.
  package var isBroken: Bool { resultFailure != nil }

  /// Whether the queue of stdout is below its limit.
  package var hasRoom: Bool { streams.out.hasRoom }

  /// The number of result lines in the queue of stdout.
  package var unwrittenLines: Int { streams.out.queuedLines }

  /// Whether the kernel has accepted all output.
  package var isFlushed: Bool { streams.out.queued == 0 && streams.err.queued == 0 }

  /// The stream that shows the typed line: stdout if it is a terminal, or else stderr if it is a terminal. Nil if neither is a terminal.
  var promptSink: Sink? { outIsTerminal ? streams.out : errIsTerminal ? streams.err : nil }
  var resultSink: Sink { streams.out }
  nonisolated var paintsPrompt: Bool { outIsTerminal ? colorOut : colorErr }

  package nonisolated func paint(_ text: String, _ paint: TerminalStyle) -> String { colorOut ? paint.apply(text) : text }
}

/// The user's choice of when to use color. `auto` uses color on a terminal that supports it, unless NO_COLOR is set.
package enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

/// An ANSI text style for words of a line. The raw value is the SGR parameter.
package enum TerminalStyle: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// Returns the text between the escape sequences that start and reset the style.
  package func apply(_ text: String) -> String { begin + text + Self.end }

  var begin: String { "\u{1B}[\(rawValue)m" }
  static let end = "\u{1B}[0m"
}
