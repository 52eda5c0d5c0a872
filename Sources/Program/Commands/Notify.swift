import BluetoothLELinux
import CommandLine

package struct Notify: ValueCommand {
  static let configuration = CommandConfiguration(
    named: "notify", abstract: "Show notifications and indications as they arrive.",
    discussion: """
      Runs until Ctrl-C, --count or --duration. Exits 4 if fewer than --count values arrive in time.

      Without --duration, --timeout limits the wait for each value (default: 30 seconds with --count, otherwise unlimited).
      """)
  static let examples = [
    "blectl -i sim notify Band-7 heart_rate_measurement -d 60m --csv > hour.csv",
    "blectl -i sim notify Band-7 2a37 -n 2 --format '{time} {heart_rate}'",
    "blectl -i sim notify Band-7 2a37 -d 60m --svg hour.svg > values.txt",
    "blectl -i sim notify Band-7 ff01 --write ff02=1b9902 -d 2",
  ]
  static let traits = CommandTraits(attributeUse: .listening, printsRecords: true)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("Characteristics (default: all that notify or indicate)", valueName: "attribute"))
  var attributes: [String] = []

  @Option("Stop after N values", value: "n", name: .short("n"), parsing: .unconditional) var count: Int?

  @Option(
    "Stop after SECONDS; 0 runs until Ctrl-C", value: "seconds", name: .short("d"), parsing: .unconditional, transform: TimeText.seconds)
  var duration: Double?

  @Option("Write this value after subscribing; repeatable", value: "attr=hex") var write: [AssignmentArgument] = []
  @Flag(help: "Reconnect and continue after a lost connection") var reconnect = false
  @Flag(help: "Subscribe to indications (0200) where both are possible") var indicate = false
  @Flag(help: "Plot the numbers live on a terminal") var plot = false
  @Option("At the end, draw the numbers as SVG", value: "file", completion: .file()) var svg: String?
  @Option(name: .customLong("as"), help: ValueFormat.help, completion: .list(ValueFormat.names)) var chosenFormat: ValueFormat?

  func validate() throws {
    try limit("--count", count, to: 1...)
    try limit("--duration", seconds: duration)
    if svg == "-" { throw ValidationError("--svg takes the name of a file, because standard output has the values.") }
  }

  var runsUntilStopped: Bool { count == nil && duration ?? 0 == 0 && step.timeout == nil }
  /// Whether `--duration` or `--count` ends the command.
  var hasTimeLimit: Bool { duration.map { $0 > 0 } ?? (count != nil) }
  var failureAtInputEnd: Failure? { count.map { Failure(.timeout, "The input ended before \($0.counted("value")) arrived.") } }

  static func hint(_ value: String, for place: String) -> String? { place.hasPrefix("--write ") ? AssignmentArgument.hint(value) : nil }

  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {
    try PeerOptions.checkOrder(words, of: Self.self, attributes, isSession: isSession)
  }

  func checkForScript() throws { if plot { throw Failure(.usage, "Scripts cannot show a plot. Use --svg FILE") } }

  var attributesInScript: [String] { attributes }

  @LoopActor func name(_ files: inout CommandFiles) { files.writes(svg, as: "--svg") }
  var recordedForm: RecordedForm { RecordedForm(isExpected: true) }
  var recordFields: RecordFields? { .value }
  var limitInScript: Duration? { duration ?? 0 == 0 && step.timeout == nil ? .seconds(60) : nil }

  func run(in context: Context) async throws {
    let senders = try ValueSenders(attributes, indicates: indicate)
    for value in write { try value.check() }
    if plot, process.json || form != nil || outputStyle.times != nil {
      throw Failure(.usage, "--plot excludes --json, --csv, --format and --time. Beside them, --svg FILE draws the numbers into a file.")
    }
    if plot, !context.output.canAnimateOut {
      throw Failure(.usage, "--plot needs a terminal and no --quiet. To draw the numbers into a file, use --svg FILE")
    }
    if let svg { try OutputFile.check(svg) }
    let hasSparks = process.verbose > 0 && context.output.canAnimateOut
    let drawn = plot || svg != nil || hasSparks ? NotifyPlots(isLive: plot, svg: svg, context) : nil
    do { try await run(senders, drawn, in: context) } catch {
      // Also after Ctrl-C, which would otherwise stop the output.
      await shielded {
        do { try await drawn?.finish() } catch let second { context.output.note(Failure(second).message) }
      }
      throw error
    }
    try await drawn?.finish()
  }

  @LoopActor private func run(_ senders: ValueSenders, _ plots: NotifyPlots?, in context: Context) async throws {
    let state = State()
    while true {
      do {
        let outcome = try await context.withPeer(who, restoring: state.hasStarted) {
          try await listen($0, senders, state, plots, context)
        }
        return try finish(outcome, state)
      } catch  where reconnect && state.hasStarted && !state.isOver {
        try await state.pause(after: error, context.links)
        if let end = state.reconnection.deadline, EventLoop.shared.now >= end { return try finish(.end, state) }
      }
    }
  }

  /// The state that the command keeps when its connection is lost.
  @LoopActor private final class State {
    var values = 0
    /// The policy for lost connections. Its deadline is the end of `--duration`.
    var reconnection = ReconnectPolicy.forever
    var hasStarted = false
    /// Whether the current connection has subscriptions.
    var isListening = false
    /// Whether the command has reached `--count` or the end of `--duration`.
    var isOver = false

    /// Waits before a reconnection.
    /// - Throws: `error` if a new connection cannot help.
    func pause(after error: any Error, _ links: any DeviceLinks) async throws {
      // After a link that worked, the pauses start over.
      if isListening { reconnection.restart() }
      isListening = false
      var policy = reconnection
      defer { reconnection = policy }
      try await links.pause(after: error, &policy)
    }
  }

  /// The time limit for each value. It is `--timeout`, or 30 s with only `--count`. Nil for no limit, as with `--duration`.
  private var patience: Duration? {
    if duration != nil { return nil }
    if let limit = step.timeout { return .limited(seconds: limit) }
    return count == nil ? nil : .seconds(30)
  }

  @LoopActor
  private func listen(_ connection: Connection, _ senders: ValueSenders, _ state: State, _ plots: NotifyPlots?, _ context: Context)
    async throws -> FollowOutcome
  {
    // A local copy, because each access to an argument is a lookup.
    let format = context.format(chosenFormat, of: connection)
    let client = connection.client
    let outcome = try await client.follow { values in
      values.onRenewed = { [output = context.output] missing in for item in missing { output.note(item.text) } }
      var types: [UUID] = []
      // Later commands of a session use the discovered attributes.
      try await senders.subscribe(on: client, discovering: context.isInSession, context.output) {
        await context.describe($0, on: connection)
        types.append($0.uuid)
        try await values.add($0, kind: $1)
      }
      if format == .auto { context.output.takeValueFields(of: types) }
    } limits: {
      if !state.hasStarted, let duration, duration > 0 {
        state.reconnection.deadline = EventLoop.shared.now.advanced(by: .limited(seconds: duration))
      }
      state.hasStarted = true
      state.isListening = true
      context.output.status("Subscribed. Press Ctrl-C to stop.")
      for value in write { try await send(value, client, context.output) }
      return FollowLimits(count: count.map { $0 - state.values }, end: state.reconnection.deadline, patience: patience)
    } take: { event, uuid in
      if let plots {
        try await plots.show(event, uuid, format, from: connection)
      } else {
        // `subscribe` shows the value too, unless this command has a format of its own.
        let isShown = chosenFormat == nil && !context.output.style.json && context.isShownBeside(event)
        if !isShown { try await NotificationRecord.show(event, uuid, format, from: connection, context) }
      }
      state.values += 1
    } onDrop: {
      if !context.output.isBroken { context.output.note("Dropped \($0.counted("value")): the output was not read in time.") }
    }
    state.isOver = true
    return outcome
  }

  @LoopActor private func send(_ value: AssignmentArgument, _ client: Client, _ output: Output) async throws {
    let target = try await client.attribute(try Selector(typed: value.attribute), discovering: true)
    let plan = try WriteProcedure(value: value.bytes.count, properties: target.properties, mtu: client.mtu, mode: .auto, chunk: nil)
    try await client.send(value.bytes, to: target.handle, plan: plan)
    output.status("Wrote \(Quantity.bytes(value.bytes.count)) to \(target.uuid?.description ?? target.handle.description)")
  }

  @LoopActor private func finish(_ outcome: FollowOutcome, _ state: State) throws {
    switch outcome {
    case .count: return
    case .end:
      guard let count, state.values < count else { return }
      throw Failure(
        .timeout,
        "Received \(state.values) of \(count.counted("value")) in \(Duration.limited(seconds: duration ?? 0).secondsText) s. To wait longer, use --duration."
      )
    case .silence:
      throw Failure(
        .timeout,
        "Received \(count.map { "\(state.values) of \($0.counted("value"))" } ?? state.values.counted("value")), then none for \((patience ?? .zero).secondsText) s. "
          + "To wait longer, use --duration SECONDS (0: no limit)")
    }
  }
}
