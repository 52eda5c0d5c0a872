import Bluetooth
import EventLoop
import GATT
import LinuxIO
import Operations
import Terminal
import Text

/// A session that stays open: many commands on one radio. Those of one device run one after the other, those of several side by side.
@LoopActor
final class Shell {
  let process: ProcessContext
  var settings = ShellSettings()
  /// The device that commands without one are about: the one that `connect` or `use` named last, connected or not.
  private(set) var current: Lane?
  private(set) var lanes: [Lane] = []
  /// Something about the devices has changed: for prompts.
  var onChange: (@LoopActor () -> Void)?
  /// By somebody at a terminal.
  var isTyped = false

  /// Commands that are about no device.
  private let others = TurnQueue()
  private let inputEnd = Wait<Void>()
  private var losses: [Wait<Void>] = []
  private var nesting = 0
  private var parsed: [[String]: ShellLine] = [:]

  /// - Parameter timeout: as `set timeout`.
  init(_ process: ProcessContext, timeout: Double? = nil) {
    self.process = process
    settings.timeout = timeout
    process.session.staysOpen = true
    // Whoever types wants them completed.
    if StandardInput.isTerminal { process.seen = SeenDevices() }
    process.output.members = { [weak self] in self?.members(of: nil) ?? [] }
  }

  // MARK: Commands

  /// Looks at a command and puts it behind those that it has to wait for. Lines have to be given in their order, each when this has returned for the
  /// one before.
  /// - Parameter members: for each of its JSON records.
  /// - Throws: Failure for what is no command; OutputFailure.
  func start(_ words: [String], members: [UInt8] = []) async throws -> ShellJob {
    let line: ShellLine
    do { line = try parse(words) } catch let help as HelpText {
      let output = Output(process.output.style, sharing: process.output)
      output.members = { members }
      return ShellJob(nil, done: await result { try await help.show(output) })
    }
    let lane = try await lane(for: line)
    let command = line.command
    let output = try output(for: command, members, lane)
    var context = Context(process, command.step, output)
    context.shell = self
    context.lane = lane
    context.isAboutCurrent = line.isAboutCurrent
    context.members = members
    let turn = (command as? any SessionCommand).map { type(of: $0).turn }
    switch turn {
    case .atOnce?: return ShellJob(lane, done: await result { try await command.run(in: context) })
    case .beforeOthers?: return ShellJob(lane, holdsLines: true) { [context] in await self.result { try await command.run(in: context) } }
    case .ofDevice?, nil: break
    }
    let place = (lane?.queue ?? others).enter()
    return ShellJob(lane) { [context] in
      defer {
        place.leave()
        if let lane { self.tidy(lane) }
      }
      return await self.result {
        try await self.endingWithInput(command) {
          try await place.untilTurn()
          if command is any ListeningCommand { place.leave() }
          if !(command is WaitForValue) { lane?.forget() }
          try await command.run(in: context)
        }
      }
    }
  }

  /// No more commands will come: what runs until it is stopped is stopped, as it was meant to be, and so is what comes yet.
  func endInput() { inputEnd.resume(returning: ()) }

  private func endingWithInput(_ command: any LoopCommand, _ body: @escaping @LoopActor () async throws -> Void) async throws {
    guard command.runsUntilStopped else { return try await body() }
    try await race(body) { try await self.inputEnd.value() }
  }

  /// Runs one command to its end. - Throws: as `start`, and what the command threw.
  func run(_ words: [String], members: [UInt8] = []) async throws {
    let job = try await start(words, members: members)
    if let error = await job.failureCancellingWithTask() { throw error }
  }

  /// - Throws: Failure when it is inside of so many of its kind already.
  func nested(atMost depth: Int, _ what: String, _ body: @LoopActor () async throws -> Void) async throws {
    guard nesting < depth else { throw Failure(.input, "\(what): \(depth) files inside of each other are enough; does one name itself?") }
    nesting += 1
    defer { nesting -= 1 }
    try await body()
  }

  /// A line as people type it: commands, one after the other, or `!` and a command of their shell.
  /// - Throws: what failed first.
  func run(line: String) async throws {
    if let command = line.trimmed.after("!") {
      try await process.output.flush(until: nil)
      let status = try await ChildProcess.shell(command)
      if status != 0 { process.output.status("!\(DisplayText.escape(command)) ended with \(status)") }
      return
    }
    for words in try ShellWords.commands(in: line) { try await run(words) }
  }

  private func result(_ body: @LoopActor () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch { return error }
  }

  private func parse(_ words: [String]) throws -> ShellLine {
    if let line = parsed[words] { return line }
    let line = try ShellLine(words, settings)
    // A program that polls says the same again and again; long values it does not.
    guard words.reduce(0, { $0 + $1.utf8.count }) < 256 else { return line }
    if parsed.count > 256 { parsed = [:] }
    parsed[words] = line
    return line
  }

  func change(_ settings: ShellSettings) {
    self.settings = settings
    parsed = [:]
  }

  /// In the style of the session, or of the command's own options.
  private func output(for command: any LoopCommand, _ members: [UInt8], _ lane: Lane?) throws -> Output {
    let options = command.process
    if options.adapter != nil || options.trace != nil {
      throw Failure(
        .usage, "\(options.adapter != nil ? "--adapter" : "--trace") belongs to the session, which has one radio: give it when you start")
    }
    var style = process.output.style
    style.json = style.json || options.json
    style.quiet = style.quiet || options.quiet
    style.verbosity = max(style.verbosity, options.verbose)
    if options.color != .auto { style.color = options.color }
    let output = Output(style, sharing: process.output)
    output.members = { [weak self, weak lane] in members + (self?.members(of: lane) ?? []) }
    return output
  }

  /// With several devices every record says which it is about.
  func members(of lane: Lane?) -> [UInt8] {
    guard let lane, let peer = lane.connection?.peer ?? lane.lastPeer, isOneOfSeveral(lane) else { return [] }
    return Array(",\"peer\":\"\(peer)\"".utf8)
  }

  private func isOneOfSeveral(_ lane: Lane) -> Bool { lanes.contains { $0 !== lane && $0.isConnected } }

  /// For what arrives unasked.
  private func output(of lane: Lane) -> Output {
    let output = Output(process.output.style, sharing: process.output)
    output.members = { [weak self, weak lane] in self?.members(of: lane) ?? [] }
    return output
  }

  /// What is subscribed to in the background.
  func backgroundValues(_ lane: Lane, _ connection: Connection) -> BackgroundValues {
    let output = output(of: lane)
    let isTyped = isTyped
    return lane.backgroundValues {
      BackgroundValues(connection) { count in
        if !output.isBroken { output.note("\(count) value(s) were not shown, because nobody read the output") }
      } show: { [weak self, weak lane] event, uuid, format in
        let device = lane.flatMap { self?.isOneOfSeveral($0) ?? false ? $0.title : nil }
        let isBrief = isTyped && !output.style.json
        try await output.write(
          isBrief
            ? NotificationRecord.brief(event, uuid, format, of: device, output)
            : NotificationRecord.octets(event, uuid, format, from: connection, output))
      }
    }
  }

  // MARK: Devices

  private func lane(for line: ShellLine) async throws -> Lane? {
    guard let command = line.command as? any PeerCommand else {
      if let command = line.command as? any SessionCommand, type(of: command).turn == .ofDevice { return current }
      return nil
    }
    if line.isAboutCurrent || command.who.peer == .current {
      guard let current else {
        throw Failure(.notFound, "no device is connected: `connect PEER` first, or name the PEER behind \(line.name)")
      }
      // Now, and not when its turn has come: lines behind it may have connected another.
      if command is Disconnect { self.current = nil }
      return current
    }
    let known = try await lane(for: command.who.peer)
    let lane = if let known { known } else { add(try await process.configuration.resolve(command.who.peer)) }
    if command is Connect { current = lane }
    if command is Disconnect, lane === current { current = nil }
    return lane
  }

  /// The device that is meant; nil for one that the session does not know.
  func lane(for peer: PeerArgument) async throws -> Lane? {
    if peer == .current { return current }
    let selector = try await process.configuration.resolve(peer)
    return lanes.last { $0.isMeant(by: selector) }
  }

  private func add(_ selector: PeerSelector) -> Lane {
    let lane = Lane(selector)
    lanes.append(lane)
    return lane
  }

  func use(_ lane: Lane?) {
    current = lane
    onChange?()
  }

  /// A link that stays.
  func adopt(_ connection: Connection, as lane: Lane) {
    lane.attach(connection) { [weak self, weak lane] reason in
      if let self, let lane { lost(lane, reason) }
    }
    onChange?()
  }

  /// A link that was made before, and is the current one now.
  func adopt(_ connection: Connection, as selector: PeerSelector) -> Lane {
    let lane = add(selector)
    adopt(connection, as: lane)
    current = lane
    return lane
  }

  /// Returns never while the link is there, or may come back.
  /// - Throws: why it was lost; CancellationError.
  func untilLost(_ lane: Lane) async throws {
    while true {
      let wait = Wait<Void>()
      losses.append(wait)
      try await wait.value()
      if let problem = lane.problem, !lane.isConnected, !settings.reconnect { throw problem }
    }
  }

  func disconnect(_ lane: Lane) async {
    let connection = lane.connection
    await lane.background?.end()
    lane.detach()
    if let connection { await process.session.disconnect(connection) }
    onChange?()
  }

  private func lost(_ lane: Lane, _ reason: any Error) {
    tell(lane, "disconnected", Failure(reason).message) { json in
      json.object("error") { Failure(reason).write(&$0) }
    }
    for wait in losses { wait.resume(returning: ()) }
    losses = []
    if settings.reconnect, let connection = lane.connection { lane.restoration = restore(connection, of: lane) }
    onChange?()
  }

  private func restore(_ connection: Connection, of lane: Lane) -> Task<Void, Never> {
    EventLoop.shared.spawn { [weak self, weak lane] in
      guard let self, let lane else { return }
      do {
        let restoration = try await process.session.restore(connection) { [weak self] event in
          if case .trying(let number, let pause, let error?) = event, let self {
            process.output.status("\(connection.title): \(Failure(error).message); try \(number) in \(pause.secondsText) s")
          }
        }
        adopt(connection, as: lane)
        tell(restoration, lane)
      } catch {
        if !(error is CancellationError) { lane.fail(error) }
        lane.restoration = nil
      }
      onChange?()
    }
  }

  private func tell(_ restoration: Restoration, _ lane: Lane) {
    let missing = restoration.missing.map {
      "\($0.characteristic.uuid): \($0.reason.map { Failure($0).message } ?? "it is not there any more")"
    }
    let restored = "\(restoration.subscriptions) subscription(s) restored"
    let lost = missing.isEmpty ? "" : "; not restored: \(missing.joined(separator: ", "))"
    tell(lane, "reconnected", "back after \(restoration.time.secondsText) s, \(restored)\(lost)") { json in
      json.number("seconds", restoration.time.inSeconds)
      json.integer("tries", restoration.tries)
      json.integer("subscriptions", restoration.subscriptions)
      json.strings("missing", restoration.missing.map(\.characteristic.uuid.description))
    }
  }

  /// Of what happens without a command.
  private func tell(_ lane: Lane, _ event: String, _ text: String, _ members: (inout JSONLine) -> Void) {
    let output = output(of: lane)
    guard output.style.json else { return output.note(lane.connection.map { "\($0.title): \(text)" } ?? text) }
    _ = try? output.offerRecord(reserve: Output.reserve) {
      $0.string("event", event)
      $0.string("time", Timestamp.text(EventLoop.shared.wallClock))
      lane.connection?.identify(in: &$0)
      members(&$0)
    }
  }

  /// Devices that were named for one command only are not kept.
  private func tidy(_ lane: Lane) {
    guard lane !== current, lane.connection == nil, lane.queue.isEmpty else { return }
    lanes.removeAll { $0 === lane }
  }
}
