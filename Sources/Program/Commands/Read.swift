import CommandLine

package struct Read: ValueCommand {
  static let configuration = CommandConfiguration(
    named: "read", abstract: "Read characteristic or descriptor values.",
    discussion: """
      With one attribute, blectl prints the value. With several, it prints one line each: attribute, tab, value. The decoded meaning follows if it is known.

      An attribute that cannot be read does not stop the others. The exit status is that of the first failure. With --all and SERVICE/*, a refusal of the device does not change the exit status, unless blectl could read no value.

      With --every, blectl keeps the connection, reconnects if it is lost, and skips readings that are late.
      """)
  static let examples = [
    "blectl -i sim read Band-7 battery_level", "blectl -i sim read Band-7 2a00 2a19 --json", "blectl -i sim read Band-7 '180f/*'",
    "blectl -i sim read Band-7 battery_level --every 1m -d 1440m",
  ]
  static let traits = CommandTraits(attributeUse: .reading, printsRecords: true)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(
    help: ArgumentHelp(
      "Handle (0x0011), UUID (2a19), SERVICE/UUID, SERVICE/*, UUID[N], descriptor (fff6@2901) or name (battery_level)",
      valueName: "attribute"))
  var attributes: [String] = []

  @Flag(help: "Read all readable characteristics") var all = false
  @Option("Read again every SECONDS, 0.01-86400", value: "seconds", parsing: .unconditional, transform: TimeText.seconds) var every: Double?
  @Option("Stop after N readings (with --every)", value: "n", name: .short("n"), parsing: .unconditional) var count: Int?

  @Option(
    name: .short("d"), parsing: .unconditional,
    help: ArgumentHelp("Stop after SECONDS (with --every); 0 runs until Ctrl-C", valueName: "seconds"), transform: TimeText.seconds)
  var duration: Double?

  @Option(name: .customLong("as"), help: ValueFormat.help, completion: .list(ValueFormat.names)) var chosenFormat: ValueFormat?
  @Flag(help: ArgumentHelp("Write only the bytes of the values", discussion: "Excludes --as and --json.")) var raw = false

  func validate() throws {
    if all, !attributes.isEmpty { throw ValidationError("--all reads all characteristics. Leave out the attributes.") }
    if attributes.isEmpty, !all { throw ValidationError("Missing ATTRIBUTE. Name one, such as battery_level, or use --all.") }
    let name = attributes.joined(separator: "_").lowercased()
    if attributes.count > 1, (try? Selector(name, abbreviating: false)) != nil,
      let wrong = attributes.first(where: { (try? Selector($0)) == nil })
    {
      throw ValidationError("Unknown attribute \(DisplayText.quote(wrong)). Did you mean \(name)?")
    }
    if attributes == ["all"] || attributes == ["*"] {
      throw ValidationError("To read all values: \(who.peer == .current ? "read" : "blectl read \(who.peer)") --all")
    }
    if attributes.contains("as") { throw ValidationError("Use --as FORMAT. Only `let` and `expect` in scripts take the word as.") }
    if raw, format != .auto { throw ValidationError("--raw and --as exclude each other.") }
    if raw, process.json { throw ValidationError("--raw and --json exclude each other.") }
    try limit("--every", every, to: 0.01...86_400, "seconds", unitFirst: true)
    try limit("--count", count, to: 1...)
    try limit("--duration", seconds: duration)
    if every == nil, count != nil || duration != nil { throw ValidationError("--count and --duration need --every.") }
  }

  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {
    try PeerOptions.checkOrder(words, of: Self.self, attributes, isSession: isSession)
  }

  func checkForScript() throws { for attribute in attributes { _ = try Selector.service(inAllOf: attribute, abbreviating: false) } }
  var attributesInScript: [String] { attributes.filter { !$0.hasSuffix("/*") } }

  var isRaw: Bool { raw }
  var recordFields: RecordFields? { raw ? nil : .value }
  var runsUntilStopped: Bool { every != nil && count == nil && duration ?? 0 == 0 }

  var recordedForm: RecordedForm {
    if every != nil { return RecordedForm() }
    return RecordedForm(reads: (attributes, options: format == .auto ? [] : ["--as", format.name]), isExpected: true)
  }

  func run(in context: Context) async throws {
    let choices: [Choice]
    do { choices = try attributes.map { try Choice($0) } } catch { throw Failure(error, in: attributes) }
    if raw, context.output.style.json { throw Failure(.usage, "--raw and --json exclude each other.") }
    let isWide = all || choices.contains { $0.selector == nil }
    if every == nil, let interval = who.link.requested.interval, interval >= .seconds(1) {
      let time = interval.secondsText
      context.output.note("--interval \(time)s sets the connection interval. To read every \(time) s: --every \(time)")
    }
    if let every { return try await read(choices, isWide, ReadSchedule(every, count, duration), context) }
    try await context.withPeer(who, exchangingMTU: isWide, isRepeatable: true) { connection in
      let failures = ReadFailures(context, goesOn: isWide || attributes.count > 1, toleratesRefusals: isWide)
      try await read(choices, failures, on: connection, context)
      try failures.finish()
    }
  }

  /// Reads the attributes in each round of a schedule. Restores a lost connection.
  @LoopActor
  private func read(_ choices: [Choice], _ isWide: Bool, _ schedule: ReadSchedule, _ context: Context) async throws {
    let failures = ReadFailures(context, goesOn: isWide || attributes.count > 1, toleratesRefusals: isWide, isRepeated: true)
    var policy = ReconnectPolicy.forever
    while !schedule.isOver {
      do {
        try await context.withPeer(who, exchangingMTU: isWide, isRepeatable: true, restoring: schedule.rounds > 0) { connection in
          while try await schedule.wait(context.output) {
            if let closed = connection.client.closed { throw closed }
            try await read(choices, failures, on: connection, context)
            if !failures.hasRead { try failures.finish() }
            schedule.endRound()
          }
        }
      } catch  where schedule.rounds > 0 {
        // After a round that worked, the pauses start over.
        if schedule.interrupt() { policy.restart() }
        policy.deadline = schedule.end
        try await context.links.pause(after: error, &policy)
      }
    }
    try failures.finish()
    try schedule.checkCount()
  }

  /// Reads the attributes once.
  @LoopActor
  private func read(_ choices: [Choice], _ failures: ReadFailures, on connection: Connection, _ context: Context) async throws {
    let (client, output) = (connection.client, context.output)
    let format = raw ? .auto : context.format(chosenFormat, of: connection)
    let (names, selectors) = try await expand(choices, client)
    if selectors.count > 1, format == .auto, output.style.json, !output.style.form.isJSON, output.valueFields == nil {
      // The header of a table comes before the first value, so the types must be known.
      var types: [UUID] = []
      for selector in selectors {
        do {
          let type = if let uuid = selector.plainUUID { uuid } else { try await client.resolve(selector).uuid }
          if let type { types.append(type) }
        } catch is GATTError {}
      }
      output.takeValueFields(of: types)
    }
    try await client.read(selectors, onFailure: { try failures.add($1, of: names[$0], isLast: client.closed != nil) }) { index, found in
      if !raw {
        do { try ValueText.check(found.value, format) } catch {
          return try failures.add(error, of: names[index], isLast: !failures.toleratesRefusals)
        }
      }
      if every == nil { context.observer?.didRead(names[index], .success(found.value)) }
      try await show(found, names.count > 1 || failures.toleratesRefusals ? names[index] : nil, format, of: connection, context)
      failures.hasRead = true
    }
  }

  /// Replaces `--all` and each `SERVICE/*` by the handles of the readable characteristics, in ascending order.
  /// - Throws: `Failure(.notFound)` for a missing service, or if nothing is readable.
  @LoopActor private func expand(_ choices: [Choice], _ client: Client) async throws -> (names: [String], selectors: [Selector]) {
    var (names, selectors): ([String], [Selector]) = ([], [])
    for choice in all ? [Choice(typed: "--all")] : choices {
      if let selector = choice.selector {
        names.append(choice.typed)
        selectors.append(selector)
        continue
      }
      let table = try await client.discover()
      let services = try choice.services(in: table)
      let items = services.flatMap(\.characteristics).filter { $0.properties.contains(.read) }.sorted { $0.valueHandle < $1.valueHandle }
      if items.isEmpty {
        throw Failure(.notFound, "\(all ? "The device" : DisplayText.escape(choice.typed)) has no readable characteristic.")
      }
      names += items.map { table.name(at: $0.valueHandle) ?? "\($0.valueHandle)" }
      selectors += try items.map { try Selector("\($0.valueHandle)") }
    }
    return (names, selectors)
  }

  @LoopActor private func show(
    _ found: SelectedValue, _ attribute: String?, _ format: ValueFormat, of connection: Connection, _ context: Context
  ) async throws {
    let output = context.output
    if raw { return try await output.write(found.value) }
    await describe(found, on: connection, context)
    let event = ValueEvent(handle: found.handle, value: found.value, isIndication: false, wallClock: EventLoop.shared.wallClock)
    let record = NotificationRecord(event, found.uuid, format, from: connection, context.process.memory, isRead: true)
    if attribute == nil, format == .auto, output.valueFields == nil { output.takeValueFields(of: record.type.map { [$0] } ?? []) }
    if every != nil { return try await record.show(output) }
    try await output.show((attribute.map { "\($0)\t" } ?? "") + output.displayText(record.text)) { record.write(&$0) }
  }

  /// In a session or with `-v`, reads the descriptors of the characteristic, and ignores errors.
  @LoopActor private func describe(_ found: SelectedValue, on connection: Connection, _ context: Context) async {
    guard context.asksForDescriptions, let uuid = found.uuid else { return }
    let client = connection.client
    // If the Bluetooth SIG defines the value, the device's format adds nothing.
    if client.table == nil, CharacteristicDescription(uuid) == nil, context.process.discoverable?.contains(connection.peer) ?? true {
      client.readsDirectly = true
      _ = try? await client.discover()
    }
    if case .characteristic(let item, _)? = client.table?.attribute(at: found.handle) { await context.describe(item, on: connection) }
  }
}

/// The attributes that one word of `read` selects: one, those of a service (`180f/*`), or those of the device (`--all`).
private struct Choice: Sendable {
  let typed: String
  /// The attribute. Nil for all of a service or of the device.
  var selector: Selector?
  /// The service. Nil for an attribute and for all of the device.
  private var service: Selector.Part?

  /// Creates the choice of `--all`.
  init(typed: String) { self.typed = typed }

  /// - Throws: `GATTError.invalidSelector`.
  init(_ text: String) throws {
    typed = text
    service = try Selector.service(inAllOf: text)
    if service == nil { selector = try Selector(typed: text) }
  }

  /// Finds the services to read.
  /// - Throws: `Failure` if the device has no such service, or if an abbreviation matches different services.
  func services(in table: AttributeTable) throws -> [Service] {
    guard let service else { return table.services }
    let found = table.services(service)
    if found.isEmpty {
      throw Failure(.notFound, "The device has no service \(DisplayText.escape("\(service)")). To list its services, use services.")
    }
    guard Set(found.map(\.uuid)).count == 1 else {
      let names = found.map { "\($0.uuid)/*" }.joined(separator: ", ")
      throw Failure(.ambiguous, "\(found.count) services match \(DisplayText.escape(typed)): \(names). Use one of these names.")
    }
    return found
  }
}

/// The failures of a `read`. Reports each failure immediately if other reads follow. The first failure determines the exit status.
@LoopActor
private final class ReadFailures {
  private let context: Context
  private let goesOn: Bool
  /// Whether a refusal of the device changes the exit status only if no read has succeeded.
  let toleratesRefusals: Bool
  private let isRepeated: Bool
  /// Whether a read has succeeded.
  var hasRead = false
  private var first: Failure?
  private var refusal: Failure?

  /// - Parameters:
  ///   - goesOn: Whether other reads follow a failed one.
  ///   - isRepeated: Whether the command reads again, on a new connection if necessary.
  init(_ context: Context, goesOn: Bool, toleratesRefusals: Bool, isRepeated: Bool = false) {
    (self.context, self.goesOn, self.toleratesRefusals, self.isRepeated) = (context, goesOn, toleratesRefusals, isRepeated)
  }

  /// Adds the failure of an attribute. `isLast` is true if no further read is possible.
  /// - Throws: `error` if the command ends with it. The first added failure if `isLast` is true.
  func add(_ error: any Error, of attribute: String, isLast: Bool) throws {
    let failure = Failure(error)
    if !isRepeated { context.observer?.didRead(attribute, .failure(failure)) }
    let continues = goesOn || isRepeated && hasRead
    guard continues, !isLast || first != nil && !isRepeated else { throw error }
    if toleratesRefusals, case GATTError.errorResponse = error {
      if hasRead || refusal != nil || !isAnswered { tell(failure) }
      return refusal = refusal ?? failure
    }
    if first != nil || !isAnswered { tell(failure) }
    first = first ?? failure
    if isLast { try finish() }
  }

  /// Whether a script or a program receives the first failure as the command's result.
  private var isAnswered: Bool { context.caller == .script || context.caller == .program }

  private func tell(_ failure: Failure) {
    if context.caller == .script { context.output.note(failure.message) } else { _ = Program.report(failure, context.output) }
  }

  /// Throws the failure that determines the exit status. Does nothing if every read succeeded or was tolerated.
  func finish() throws {
    guard var first = first ?? (hasRead ? nil : refusal) else { return }
    first.isTold = !isAnswered
    throw first
  }
}
