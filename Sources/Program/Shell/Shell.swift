import BluetoothLELinux
package import CommandLine

/// A session that runs many commands on one radio. Commands of one device run in order. Commands of several devices run at the same time.
@LoopActor
package final class Shell {
  package let process: ProcessContext
  package var settings = ShellSettings()
  /// The device that the last `connect` or `use` named, connected or not. Nil if there is none.
  package var current: SessionDevice?
  var devices: [SessionDevice] = []
  /// The device that the session serves to centrals.
  package private(set) lazy var peripheral = SessionPeripheral(self)
  /// The function that the session calls after a change of its devices or connections. Nil to call none.
  var onChange: (@LoopActor () -> Void)?
  /// The function that the session calls after a change of the aliases. Nil to call none.
  var onAliasChange: (@LoopActor () -> Void)?
  /// The function that shows a long text in a pager. It returns false if the caller must write the text. Nil unless a user types.
  var pager: (@LoopActor (String) async throws -> Bool)?
  /// The script that receives the results of all commands. Nil without a script.
  package weak var observer: (any ResultObserver)?
  /// Whether a user types the commands on a terminal.
  var isTyped: Bool { pager != nil }
  /// Whether a program reads the records. Each record then contains the address of its device.
  var isForPrograms = false { didSet { if isForPrograms { process.output.peer = { Self.write(nil, to: &$0) } } } }
  /// Whether the session has ended with `exit`. Later commands do not run.
  private(set) var isOver = false

  /// The queue of the commands that have no device.
  private let others = TurnQueue()
  private let inputEnd = Wait<Void>()
  /// The wait that ends at the next change of a device or connection.
  private var change = Wait<Void>()
  private var nesting = 0
  private var parsed: [[String]: ShellLine] = [:]

  /// Creates a session without devices.
  /// - Parameter timeout: The default of `--timeout` in seconds, as in `set timeout`. Nil for the default of each command.
  package init(_ process: ProcessContext, timeout: Double? = nil) {
    self.process = process
    settings.timeout = timeout
    process.session.staysOpen = true
  }

  // MARK: Commands

  /// Parses a command and adds it to the queue of its device. If the words ask for help, shows the help.
  func start(_ words: [String], members: RecordWriter.Members = .none) async throws -> ShellJob {
    do { return try await start(parse(withFullName(words)), members: members) } catch let help as HelpText {
      let output = Output(process.output.style, sharing: process.output)
      tag(output, nil, members)
      return ShellJob(nil, done: await result { try await help.show(output, in: self) })
    }
  }

  /// Adds a command to the queue of its device. Call `start` for the next line only after this call has returned.
  /// - Parameter members: The members to add to each JSON record.
  /// - Throws: Failure for an invalid command; OutputFailure.
  func start(_ line: ShellLine, members: RecordWriter.Members = .none) async throws -> ShellJob {
    let command = line.command
    try command.process.refuseSessionOptions()
    try process.checkFiles(of: command)
    let device = try await device(for: line)
    // A command without PEER only waits for its turn at the current device.
    let subject = command.peerOptions == nil ? nil : device
    let output = output(for: command, members, subject)
    process.noteUnused(by: command, output)
    let recorded = (process.recorder as? any LineRecorder)?.begin(line, device, output)
    let follower = recorded ?? observer
    let links = SessionLinks(self, device, members, LinkText(process, output, follower), Context.clientObserver(follower))
    let caller: Context.Caller = observer != nil ? .script : members.isEmpty ? .person : .program
    let context = Context(process, command.step, output, caller, links, follower)
    let run: @LoopActor () async throws -> Void = {
      guard let command = command as? any SessionCommand else { return try await command.run(in: context) }
      try await command.run(in: context, links)
    }
    let traits = command.traits
    switch traits.turn {
    case .atOnce: return ShellJob(subject, done: await result(recorded, run))
    case .beforeOthers: return ShellJob(subject, holdsLines: true) { await self.result(recorded, run) }
    case .own, .ofCurrentDevice: break
    }
    let place = (device?.queue ?? others).enter()
    links.turn = place
    return ShellJob(subject) {
      defer {
        if place.hasTurn, let device = links.sessionDevice {
          device.connection?.client.limit = nil
          if device.destination != nil {
            device.destination = nil
            self.changed()
          }
        }
        if traits.deviceChange == .connects, let device = links.sessionDevice { self.connectEnded(device) }
        place.leave()
        if let device = links.sessionDevice { self.removeIfUnused(device) }
      }
      let error = await self.result(recorded) {
        try await self.endingWithInput(command) {
          try await place.untilTurn()
          if traits.runsBesideOthers { place.leave() }
          if !traits.takesEarlierValues { links.sessionDevice?.values.forget(for: traits.deviceChange == .connects ? nil : line.name) }
          try await run()
        }
      }
      if let error, Failure(error).kind == .linkLost { links.sessionDevice?.reportLoss(byCommand: true) }
      return error
    }
  }

  /// Ends the input of the session. Stops every command without a time limit, and every such command that starts later.
  func endInput() { inputEnd.resume(returning: ()) }

  /// Ends the session and its input.
  func exit() {
    isOver = true
    endInput()
  }

  private func endingWithInput(_ command: any LoopCommand, _ body: @escaping @LoopActor () async throws -> Void) async throws {
    if command.hasTimeLimit { return try await body() }
    try await race(body) {
      try await self.inputEnd.value()
      if let failure = command.failureAtInputEnd { throw failure }
    }
  }

  /// Parses a command and runs it to its end. Throws the errors of `start` and of the command.
  package func run(_ words: [String], members: RecordWriter.Members = .none) async throws {
    try await run(try await start(words, members: members))
  }

  /// Runs a parsed command to its end. Throws the errors of `start` and of the command.
  package func run(_ line: ShellLine) async throws { try await run(try await start(line)) }

  private func run(_ job: ShellJob) async throws { if let error = await job.failureCancellingWithTask() { throw error } }

  /// Calls `body`, which runs the commands of a `source` file. `what` names the file in an error message.
  /// - Throws: Failure if `depth` files already run inside each other; the errors of `body`.
  func nested(atMost depth: Int, _ what: String, _ body: @LoopActor () async throws -> Void) async throws {
    guard nesting < depth else { throw Failure(.input, "\(what): files are nested deeper than \(depth) levels. Does a file run itself?") }
    nesting += 1
    defer { nesting -= 1 }
    try await body()
  }

  /// Runs a typed line, which is a list of commands, or `!` and a command for the system's shell.
  /// - Throws: The first failure.
  func run(line: String) async throws {
    if let command = line.trimmed.after("!") {
      try await process.output.flush(until: nil)
      let status = try await ChildProcess.shell(command, signals: process.signals)
      if isTyped, status == 128 + SignalWatch.interrupt {
        // The terminal has printed ^C in the current line.
        try await process.output.write([0x0A])
        throw CancellationError()
      }
      if status != 0 { process.output.status("!\(DisplayText.escape(command)) exited with \(status)") }
      return
    }
    try await CommandList(line: line).run(in: self, keepGoing: false, process.output)
  }

  private func result(_ recorded: (any CommandObserver)?, _ body: @LoopActor () async throws -> Void) async -> (any Error)? {
    let error = await result(body)
    recorded?.didEnd(error)
    return error
  }

  private func result(_ body: @LoopActor () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch {
      // Also replace a cancellation that reports its progress.
      return Failure(error) == .cancelled ? CancellationError() : process.commands.explained(error)
    }
  }

  package func parse(_ words: [String]) throws -> ShellLine {
    if let line = parsed[words] { return line }
    let line = try ShellLine(words, settings, process.commands)
    // Programs that poll repeat short lines. Long values are not worth keeping.
    guard words.reduce(0, { $0 + $1.utf8.count }) < 256 else { return line }
    if parsed.count > 256 { parsed = [:] }
    parsed[words] = line
    return line
  }

  package func change(_ settings: ShellSettings) {
    let (wasReconnecting, level) = (self.settings.reconnect, self.settings.level)
    self.settings = settings
    // A link keeps what another command demanded of it.
    if let now = settings.level, now != level {
      for connection in devices.compactMap(\.connection) { connection.leastSecurity = max(connection.leastSecurity, now) }
    }
    parsed = [:]
    if settings.reconnect != wasReconnecting { reconnectIsSet() }
  }

  /// Resumes the tasks that wait for a change of a device or connection.
  func changed() {
    change.resume(returning: ())
    change = Wait()
    onChange?()
  }

  /// Waits for the next change of a device or connection.
  /// - Throws: CancellationError.
  func untilChanged() async throws { try await change.value() }

  /// Returns the output for a command, with the session's style and the command's own output options.
  private func output(for command: any LoopCommand, _ members: RecordWriter.Members, _ device: SessionDevice?) -> Output {
    let options = command.process
    var style = process.output.style
    let own = command.outputStyle
    style.json = style.json || own.json
    if own.json { style.form = own.form }
    style.times = own.times ?? style.times
    style.quiet = style.quiet || options.quiet
    style.verbosity = max(style.verbosity, options.verbose)
    if let color = options.color, color != .auto { style.color = color }
    style.isLive = isTyped
    let output = output(in: style, of: device, members, isCommand: true)
    output.resultsNamePeer = isForPrograms && command.traits.recordsNamePeers
    return output
  }

  /// Adds the address of the device to each record, if a program reads the records or several devices are connected.
  func tag(_ output: Output, _ device: SessionDevice?, _ members: RecordWriter.Members = .none) {
    output.members = { [weak observer] in
      $0.members(members)
      if let others = observer?.members { $0.members(others) }
    }
    output.peer = { [weak self, weak device] in
      guard let self else { return }
      let peer = device?.present.peer
      if isForPrograms || peer.map(isOneOfSeveral) ?? false { Self.write(peer, to: &$0) }
    }
  }

  private static func write(_ peer: PeerAddress?, to json: inout RecordWriter) { json.string("peer", peer.map { "\($0)" }) }

  private func isOneOfSeveral(_ peer: PeerAddress) -> Bool { process.session.connections.contains { $0.isOpen && $0.peer != peer } }

  /// Returns the output for a device's background values, and for events that no command caused. Nil stands for the served device.
  func output(of device: SessionDevice?) -> Output {
    var style = process.output.style
    style.isLive = isTyped
    return output(in: style, of: device, isCommand: false)
  }

  private func output(in style: Output.Style, of device: SessionDevice?, _ members: RecordWriter.Members = .none, isCommand: Bool) -> Output
  {
    var style = style
    if observer != nil { style.json = true }
    let output = Output(style, sharing: process.output)
    tag(output, device, members)
    if let observer {
      output.hidesResults = !observer.showsRecords
      output.onRecord = { [weak observer] in observer?.didRecord($0, isCommand: isCommand) }
      output.onMessage = { [weak observer] in observer?.didSay($0, isNote: $1) }
    }
    return output
  }

  /// Subscribes to a characteristic of the current device. Returns nil if no current device is connected.
  func subscribe(to attribute: String) async throws -> Subscription? {
    guard let connection = current?.connection, connection.isOpen else { return nil }
    return try await connection.client.subscribe(
      try await connection.client.characteristic(try Selector(typed: attribute)), keepingValues: false)
  }

  /// Returns the background subscriptions of a device. Creates them at the first call.
  /// - Parameter observer: The observer that receives the values, or nil for none. Later calls ignore this argument.
  func backgroundValues(_ device: SessionDevice, _ connection: Connection, _ observer: (any CommandObserver)?) -> BackgroundValues {
    let output = output(of: device)
    return device.backgroundValues {
      BackgroundValues(connection) { count in
        if !output.isBroken { output.note("Dropped \(count.counted("value")): the output was not read in time.") }
      } onMissing: { [weak device] missing in
        let device = device.map { "\($0.title): " } ?? ""
        for item in missing { output.note(device + item.text) }
      } show: { [weak self, weak device, weak observer, memory = process.memory] connection, event, uuid, format in
        // Read it again after a reconnect or a change of the services.
        if case .characteristic(let item, _)? = connection.client.table?.attribute(at: event.handle) {
          try? await connection.client.readDescription(of: item)
        }
        // After the loss of the current device, another one may be the only connected device.
        let isNamed = if let self { device !== current || isOneOfSeveral(connection.peer) } else { false }
        observer?.didReceive(event, uuid, connection.client)
        try await NotificationRecord(event, uuid, format, from: connection, memory).show(of: isNamed ? device?.title : nil, output)
      }
    }
  }
}
