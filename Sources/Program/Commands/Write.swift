import CommandLine

package struct Write: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "write", abstract: "Write a value and optionally wait for an answer.",
    discussion: """
      In mode auto, a characteristic with the write property gets a Write Request, or a long write if the value exceeds the MTU. A characteristic that only permits writes without response gets Write Commands, in segments if necessary. With any other --mode, blectl uses exactly that mode.
      """)
  static let examples = ["blectl -i sim write Panel fff8 00", "blectl -i sim write Band-7 ff02 1b9902 --expect ff01 --expect-count 3"]
  static let traits = CommandTraits(takesValue: true, attributeUse: .writing)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: "Handle, UUID, SERVICE/UUID, UUID[N], UUID@2902 or name") var attribute: String
  @Argument(help: "Hex (1b9902), @FILE, - for stdin, or the format of --as") var value: String

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "Format of VALUE: hex, utf8, u8, i16le, ... (default: hex)",
      discussion: "Without --as, blectl sends @FILE and - unchanged. All: \(ValueFormat.choices).", valueName: "format"),
    completion: .list(ValueFormat.names))
  var format: ValueFormat?

  @Option("auto, request, command, long or reliable (default: auto)", value: "mode", name: .customLong("mode")) var chosenMode: WriteMode?
  @Option("Bytes per segment, 1-512 (default: auto)", value: "n") var chunk: ChunkArgument = .auto

  @Option("Pause between segments, 0-60000 (default: 0)", value: "ms", parsing: .unconditional, transform: TimeText.milliseconds)
  var gap: Double = 0

  @Flag(help: ArgumentHelp("Allow an empty value", discussion: "Without --empty, it is an error, because a variable may be unset."))
  var empty = false

  @Flag(help: ArgumentHelp("Read the value back and compare", discussion: "Exit 7 if it differs.")) var readBack = false

  @Flag(
    help: ArgumentHelp(
      "Send only Write Commands, no request before or after them",
      discussion: "Needs a handle. blectl then cannot know whether the device accepts the commands."))
  var noProbe = false

  @OptionGroup var answers: AnswerOptions

  func validate() throws {
    try limit("--gap", gap, to: 0...60_000, "milliseconds", unitFirst: true)
    guard noProbe else { return }
    if let mode = chosenMode, mode != .auto, mode != .command {
      throw ValidationError("--no-probe sends Write Commands. It excludes --mode \(mode.rawValue).")
    }
    if readBack { throw ValidationError("--no-probe and --read-back exclude each other.") }
    if !answers.areEmpty { throw ValidationError("--no-probe excludes --expect and --collect, which subscribe first.") }
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.readsValue(value, as: "VALUE") }

  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? {
    guard case .unexpectedArguments(let extra, _) = mistake else { return nil }
    if let index = words.firstIndex(of: "--wait"), index + 1 < words.count, extra.contains(words[index + 1]) {
      let answer = DisplayText.clip(ShellWords.quoteForShell(words[index + 1]), to: 60)
      return "--wait waits for the device and takes no value. To wait for an answer: --expect \(answer)"
    }
    // A pattern in two words.
    if let index = words.firstIndex(where: { $0 == "--expect" || $0 == "--fail-on" }), words.count > index + 2,
      extra.first == words[index + 2]
    {
      let pattern = ShellWords.quoteForShell("\(words[index + 1])=\(words[index + 2])")
      return "Put = between the attribute and its first bytes: \(words[index]) \(DisplayText.clip(pattern, to: 60))"
    }
    if let name = AssignedNumbers.snakeName(in: words) { return "The attribute is one word: \(name)" }
    // An unquoted VALUE of several words.
    guard let begin = words.indices.last(where: { words[$0...].starts(with: extra) }), begin > 0, !words[begin - 1].hasPrefix("-") else {
      return nil
    }
    if words[begin - 1] == "=" { return nil }
    let text = ([words[begin - 1]] + extra).joined(separator: " ")
    let value = DisplayText.clip(ShellWords.quoteForShell(text), to: 60)
    let isDecimal = text.split(separator: " ").allSatisfy { UInt8($0) != nil }
    let format = isDecimal ? " --as u8 (decimal), or without --as (hex)" : Hex.decode(text) == nil ? " --as utf8" : ""
    return "write takes one VALUE. Put it in quotes: \(value)\(words.contains("--as") ? "" : format)"
  }

  static func hint(_ value: String, for place: String) -> String? {
    place.hasPrefix("--expect ") || place.hasPrefix("--fail-on ") ? PatternArgument.hint(value) : nil
  }

  func checkForScript() throws {
    if value == "-" { throw Failure(.usage, "A script cannot read standard input (-). Use a file: @FILE") }
    guard !value.hasPrefix("@"), try (format ?? .hex).parse(value).isEmpty, !empty else { return }
    throw Failure(.usage, "The value is empty. To write an empty value, add --empty.")
  }

  var attributesInScript: [String] { [attribute] }
  var recordedForm: RecordedForm { RecordedForm(isExpected: true) }

  func run(in context: Context) async throws {
    let selector = try Selector(typed: attribute)
    try answers.check()
    if value == "-" { try context.refuseInput() }
    let bytes = try await ValueArgument.bytes(value, format, allowingEmpty: empty, context.output)
    context.observer?.willWrite(bytes)
    if noProbe, !context.isInSession, selector.plainHandle == nil { throw unknownHandle }
    try await context.withPeer(who, exchangingMTU: !noProbe) { connection in
      try await AnswerWait.wait(answers, to: { try await write(bytes, to: selector, on: connection, context, $0) }, on: connection, context)
    }
  }

  /// The refusal to discover the handle of the attribute.
  private var unknownHandle: Failure {
    let command = who.peer == .current ? "services" : "blectl services \(ShellWords.quoteForShell("\(who.peer)"))"
    return Failure(.usage, "--no-probe needs a handle, such as 0x0012, because it does not ask the device. To list the handles: \(command)")
  }

  @LoopActor private func write(
    _ bytes: [UInt8], to selector: Selector, on connection: Connection, _ context: Context, _ showArrived: AnswerWait.ShowArrived
  ) async throws {
    let (client, output) = (connection.client, context.output)
    let (target, plan) = try await client.followingChanges(of: [selector]) { try await send(bytes, to: selector, on: connection, context) }
    if let note = unheard(bytes, target, client, context) { output.note(note) }
    let now = readBack ? try await client.read(target.handle) : nil
    try await showArrived()
    try await report(target, plan, bytes.count, verified: now.map { $0 == bytes }, connection, output)
    if let now, now != bytes {
      throw Failure(.expectation, "Wrote \(Hex.encode(bytes)), but \(target.handle) now reads \(Hex.encode(now)).")
    }
  }

  /// Finds the attribute and writes the value. Returns how the value was written.
  @LoopActor private func send(
    _ bytes: [UInt8], to selector: Selector, on connection: Connection, _ context: Context
  ) async throws -> (target: Attribute, plan: WriteProcedure) {
    let (client, output) = (connection.client, context.output)
    let mode = noProbe ? .command : chosenMode ?? context.options(for: connection).mode ?? .auto
    // A plain handle with an explicit mode needs no discovery.
    if noProbe, selector.plainHandle == nil, client.table == nil { throw unknownHandle }
    let target: Attribute
    do { target = try await client.attribute(selector, discovering: mode == .auto || readBack) } catch let error as GATTError {
      guard case .notFound = error, let other = try? Selector(value), (try? client.table?.resolve(other)) != nil else { throw error }
      var failure = Failure(error)
      let command = context.isInSession ? "write" : "blectl write"
      let peer = who.peer == .current ? "" : " " + ShellWords.quoteForShell("\(who.peer)")
      failure.add("The attribute comes before the value: \(command)\(peer) \(value) \(attribute)")
      throw failure
    }
    if readBack, let characteristic = target.characteristic, !characteristic.properties.contains(.read) {
      throw Failure(.usage, "Cannot read back \(characteristic.uuid): it is not readable. Nothing was written.")
    }
    let plan = try WriteProcedure(value: bytes.count, properties: target.properties, mtu: client.mtu, mode: mode, chunk: chunk.number)
    if plan.mode == .command {
      if let note = refusedRead(of: target, connection) { output.note(note) }
      if !noProbe {
        if mode == .command, target.properties?.contains(.writeWithoutResponse) == false { output.note(target.unofferedCommandsNote) }
        try await client.checkCommands(to: target)
      }
    }
    var pacing = WritePacing(gap: .limited(seconds: gap / 1000))
    pacing.provesArrival = !noProbe
    try await client.send(bytes, to: target.handle, plan: plan, pacing: pacing)
    // A disconnection would discard commands that the controller has not sent.
    if noProbe { try await client.bearer.waitUntilUnacknowledged(below: 1) }
    return (target, plan)
  }

  /// Returns a note if the device refused to read the attribute on this link, and the link is still not secure enough for that. Nil otherwise.
  @LoopActor private func refusedRead(of target: Attribute, _ connection: Connection) -> String? {
    let level = connection.security?.level
    guard let code = connection.client.refusedReads[target.handle],
      code == .insufficientEncryption ? level == nil : !(level?.isAuthenticated ?? false)
    else { return nil }
    return target.refusedReadNote(code)
  }

  /// Returns advice if the write has enabled notifications or indications that no command shows. Nil for any other write.
  @LoopActor private func unheard(_ bytes: [UInt8], _ target: Attribute, _ client: Client, _ context: Context) -> String? {
    guard case .descriptor(let descriptor, of: let item, _) = target, descriptor.uuid == .clientCharacteristicConfiguration,
      bytes.count == 2, (1...3).contains(bytes[0]), bytes[1] == 0, !client.isSubscribed(to: item)
    else { return nil }
    let name = ShellWords.quoteForShell(client.table?.name(at: item.valueHandle) ?? "\(item.valueHandle)")
    let command = context.isInSession ? "subscribe \(name)" : "blectl notify \(ShellWords.quoteForShell("\(who.peer)")) \(name)"
    return "The device now sends values of \(name), but nothing shows them. To see them: \(command)"
  }

  @LoopActor
  private func report(
    _ target: Attribute, _ plan: WriteProcedure, _ count: Int, verified: Bool?, _ connection: Connection, _ output: Output
  ) async throws {
    if output.style.json {
      try await output.record {
        $0.string("event", "written")
        $0.uuid("uuid", target.uuid)
        $0.integer("handle", target.handle.number)
        $0.integer("bytes", count)
        $0.string("mode", plan.mode.rawValue)
        $0.integer("segments", plan.segments.count)
        // A request after Write Commands proves their arrival.
        $0.integer("acknowledged", noProbe ? 0 : count)
        $0.bool("verified", verified)
        $0.members(connection.identity)
      }
    } else {
      // The ATT layer's confirmation does not show that the application accepted the value.
      let isBelieved = plan.mode == .command && verified == nil && answers.expect.isEmpty
      output.status(
        "Wrote \(Quantity.bytes(count)) to \(target.uuid?.description ?? target.handle.description) (\(plan.mode.rawValue), "
          + Quantity.segments(plan.segments.count) + (noProbe ? ", not confirmed)" : isBelieved ? ", not verified)" : ")"))
    }
  }
}

extension WriteMode: ExpressibleByArgument {}
