import Bluetooth
package import CommandLine
package import EventLoop
import GATT
import LinuxIO
import Operations
import Presentation
import Terminal
package import Text

/// A session that stays open: many commands on one radio. Those of one device run one after the other, those of several side by side.
@LoopActor
package final class Shell {
  package let process: ProcessContext
  package var settings = ShellSettings()
  /// The device that commands without one are about: the one that `connect` or `use` named last, connected or not.
  package var current: Lane?
  var lanes: [Lane] = []
  /// Something about the devices has changed: for prompts.
  var onChange: (@LoopActor () -> Void)?
  /// Runs after the aliases have changed.
  var onAliasChange: (@LoopActor () -> Void)?
  /// Takes the results of all commands: a script.
  package weak var observer: (any ResultObserver)?
  /// By somebody at a terminal.
  var isTyped = false
  /// Records go to a program: each says which device it is about.
  var isForPrograms = false {
    didSet { if isForPrograms { process.output.peer = { Self.write(nil, to: &$0) } } }
  }
  /// `exit` was said: what stands behind it is not run.
  private(set) var isOver = false

  /// Commands that are about no device.
  private let others = TurnQueue()
  private let inputEnd = Wait<Void>()
  /// Something about links has changed: for whoever waits for a device.
  private var change = Wait<Void>()
  private var nesting = 0
  private var parsed: [[String]: ShellLine] = [:]

  /// - Parameter timeout: as `set timeout`.
  package init(_ process: ProcessContext, timeout: Double? = nil) {
    self.process = process
    settings.timeout = timeout
    process.session.staysOpen = true
  }

  // MARK: Commands

  /// Looks at a command and puts it behind those that it has to wait for. Lines have to be given in their order, each when this has returned for the
  /// one before.
  /// - Parameter members: for each of its JSON records.
  /// - Throws: Failure for what is no command; OutputFailure.
  func start(_ words: [String], members: RecordWriter.Members = .none) async throws -> ShellJob {
    let words = try withFullName(words)
    let line: ShellLine
    do { line = try parse(words) } catch let help as HelpText {
      let output = Output(process.output.style, sharing: process.output)
      tag(output, nil, members)
      return ShellJob(nil, done: await result { try await help.show(output) })
    }
    let command = line.command
    try command.process.refuseSessionOptions()
    try process.checkFiles(of: command)
    let lane = try await lane(for: line)
    // One that only waits for its turn among those of a device is not about it.
    let subject = command.peerOptions == nil ? nil : lane
    let output = output(for: command, members, subject)
    process.noteUnused(by: command, output)
    let recorded = (process.recorder as? any LineRecorder)?.begin(line, words, lane, output)
    let follower = recorded ?? observer
    let links = SessionLinks(self, lane, members, LinkText(process, output, follower), Context.clientObserver(follower))
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
    let place = (lane?.queue ?? others).enter()
    links.turn = place
    return ShellJob(subject) {
      defer {
        if place.hasTurn, let lane = links.lane {
          lane.connection?.client.limit = nil
          if lane.destination != nil {
            lane.destination = nil
            self.changed()
          }
        }
        if traits.deviceChange == .connects, let lane = links.lane { self.connectEnded(lane) }
        place.leave()
        if let lane = links.lane { self.tidy(lane) }
      }
      return await self.result(recorded) {
        try await self.endingWithInput(command) {
          try await place.untilTurn()
          if traits.runsBesideOthers { place.leave() }
          if !traits.takesEarlierValues { links.lane?.forget(for: traits.deviceChange == .connects ? nil : line.name) }
          try await run()
        }
      }
    }
  }

  /// No more commands will come: what runs until it is stopped is stopped, as it was meant to be, and so is what comes yet.
  func endInput() { inputEnd.resume(returning: ()) }

  /// Ends the session as the end of its input does.
  func exit() {
    isOver = true
    endInput()
  }

  private func endingWithInput(
    _ command: any LoopCommand, _ body: @escaping @LoopActor () async throws -> Void
  ) async throws {
    if command.hasTimeLimit { return try await body() }
    try await race(body) {
      try await self.inputEnd.value()
      if let failure = command.failureAtInputEnd { throw failure }
    }
  }

  /// Runs one command to its end. - Throws: as `start`, and what the command threw.
  package func run(_ words: [String], members: RecordWriter.Members = .none) async throws {
    let job = try await start(words, members: members)
    if let error = await job.failureCancellingWithTask() { throw error }
  }

  /// - Throws: Failure when it is inside of so many of its kind already.
  func nested(atMost depth: Int, _ what: String, _ body: @LoopActor () async throws -> Void) async throws {
    guard nesting < depth else { throw Failure(.input, "\(what): files are nested deeper than \(depth) levels. Does a file run itself?") }
    nesting += 1
    defer { nesting -= 1 }
    try await body()
  }

  /// A line as people type it: commands, one after the other, or `!` and a command of their shell.
  /// - Throws: what failed first.
  func run(line: String) async throws {
    if let command = line.trimmed.after("!") {
      try await process.output.flush(until: nil)
      let status = try await ChildProcess.shell(command, signals: process.signals)
      if isTyped, status == 128 + SignalWatch.interrupt {
        // What the terminal shows of Ctrl-C stands in the line.
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
      // Also of one that knows how far it came, which is nowhere.
      return Failure(error) == .cancelled ? CancellationError() : process.commands.explained(error)
    }
  }

  package func parse(_ words: [String]) throws -> ShellLine {
    if let line = parsed[words] { return line }
    let line = try ShellLine(words, settings, process.commands)
    // A program that polls says the same again and again; long values it does not.
    guard words.reduce(0, { $0 + $1.utf8.count }) < 256 else { return line }
    if parsed.count > 256 { parsed = [:] }
    parsed[words] = line
    return line
  }

  package func change(_ settings: ShellSettings) {
    let wasReconnecting = self.settings.reconnect
    self.settings = settings
    parsed = [:]
    if settings.reconnect != wasReconnecting { reconnectIsSet() }
  }

  /// Links, or what is known of them, are not what they were.
  func changed() {
    change.resume(returning: ())
    change = Wait()
    onChange?()
  }

  /// - Throws: CancellationError.
  func untilChanged() async throws { try await change.value() }

  /// In the style of the session, or of the command's own options.
  private func output(for command: any LoopCommand, _ members: RecordWriter.Members, _ lane: Lane?) -> Output {
    let options = command.process
    var style = process.output.style
    style.json = style.json || options.json
    style.quiet = style.quiet || options.quiet
    style.verbosity = max(style.verbosity, options.verbose)
    if let color = options.color, color != .auto { style.color = color }
    style.isLive = isTyped
    let output = output(in: style, of: lane, members, isCommand: true)
    output.resultsNamePeer = isForPrograms && command.traits.recordsNamePeers
    return output
  }

  /// Every record says which device it is about: always for programs, else where there are several.
  func tag(_ output: Output, _ lane: Lane?, _ members: RecordWriter.Members = .none) {
    output.members = { [weak observer] in
      $0.members(members)
      if let others = observer?.members { $0.members(others) }
    }
    output.peer = { [weak self, weak lane] in
      guard let self else { return }
      let peer = lane?.present.peer
      if isForPrograms || peer.map(isOneOfSeveral) ?? false { Self.write(peer, to: &$0) }
    }
  }

  private static func write(_ peer: PeerAddress?, to json: inout RecordWriter) { json.string("peer", peer.map { "\($0)" }) }

  private func isOneOfSeveral(_ peer: PeerAddress) -> Bool { process.session.connections.contains { $0.isOpen && $0.peer != peer } }

  /// For what arrives unasked.
  func output(of lane: Lane) -> Output {
    var style = process.output.style
    style.isLive = isTyped
    return output(in: style, of: lane, isCommand: false)
  }

  private func output(in style: Output.Style, of lane: Lane?, _ members: RecordWriter.Members = .none, isCommand: Bool) -> Output {
    var style = style
    if observer != nil { style.json = true }
    let output = Output(style, sharing: process.output)
    tag(output, lane, members)
    if let observer {
      output.hidesResults = !observer.showsRecords
      output.onRecord = { [weak observer] in observer?.didRecord($0, isCommand: isCommand) }
      output.onMessage = { [weak observer] in observer?.didSay($0, isNote: $1) }
    }
    return output
  }

  /// Subscribes to a characteristic of the current device. Nil without a connection.
  func subscribe(to attribute: String) async throws -> Subscription? {
    guard let connection = current?.connection, connection.isOpen else { return nil }
    return try await connection.client.subscribe(
      try await connection.client.characteristic(try Selector(attribute)), keepingValues: false)
  }

  /// Returns the background subscriptions of a lane. Makes them at the first call.
  /// - Parameter observer: receives the values; used at the first call only.
  func backgroundValues(_ lane: Lane, _ connection: Connection, _ observer: (any CommandObserver)?) -> BackgroundValues {
    let output = output(of: lane)
    return lane.backgroundValues {
      BackgroundValues(connection) { count in
        if !output.isBroken { output.note("Dropped \(count) value(s): the output was not read in time.") }
      } onMissing: { [weak lane] missing in
        let device = lane.map { "\($0.title): " } ?? ""
        for (uuid, reason) in missing.map({ ($0.characteristic.uuid, $0.reason) }) {
          output.note(
            "\(device)The subscription to \(uuid) ended: \(reason.map { Failure($0).message } ?? "the characteristic no longer exists.")")
        }
      } show: { [weak self, weak lane, weak observer, memory = process.memory] event, uuid, format in
        // Also on the next link, and when the services have changed.
        if case .characteristic(let item, _)? = connection.client.table?.attribute(at: event.handle) {
          try? await connection.client.readDescription(of: item)
        }
        let device = self?.isOneOfSeveral(connection.peer) ?? false ? lane?.title : nil
        observer?.didReceive(event, uuid, connection.client)
        try await NotificationRecord.show(event, uuid, format, from: connection, of: device, memory, output)
      }
    }
  }
}
