import BluetoothLELinux
import Scripts

/// The main function of the program. Runs one command, reacts to signals, reports errors and returns the exit code.
package enum Program {
  package static func run(_ command: any LoopCommand, _ commands: CommandSet, environment: [String: String]) -> Int32 {
    var command = command
    var configuration = Configuration(environment: environment, adapter: command.process.adapter, file: command.process.records.config)
    if command.usesConfiguration {
      configuration.readDefaults(isShared: command.isShared)
      command.process.take(
        configuration.defaults.general, usesColor: environment["NO_COLOR"]?.isEmpty ?? true,
        usesTimeout: !type(of: command).unusedOptions.contains("--timeout"))
    }
    return run(command, commands, environment, configuration)
  }

  private static func run(
    _ command: any LoopCommand, _ commands: CommandSet, _ environment: [String: String], _ configuration: Configuration
  ) -> Int32 {
    let adapter = try? configuration.adapter()
    if !command.usesAdapter || adapter?.isKernel != true { Capabilities.drop() }
    LibraryEnvironment.restrict()
    for (name, values) in [("BLECTL_CLOCK", ["virtual", "real"]), ("BLECTL_FOREIGN_SOCKETS", ["1"])] {
      guard let value = environment[name], !value.isEmpty, !values.contains(value) else { continue }
      return reportUsage(
        ValidationError("Invalid \(name) \(DisplayText.quote(value)). Use \(values.joined(separator: " or "))."),
        arguments: [command.commandName] + (command.process.json ? ["--json"] : []), commands)
    }
    let clock = environment["BLECTL_CLOCK"]
    if !command.isTimeReal {
      switch adapter {
      case .simulation where clock == "virtual": EventLoop.shared.useVirtualTime()
      // A recording contains no device that needs real time.
      case .replay where clock != "real": EventLoop.shared.useVirtualTime()
      default: break
      }
    }
    let status = try? EventLoop.shared.run {
      // Standard output carries the trace only.
      let output = Output(command.outputStyle, out: command.process.trace == "-" ? 2 : 1, environment: configuration.variable)
      let context = ProcessContext(command.process, output, configuration, commands)
      guard let path = command.process.records.output, path != "-" else { return await run(command, context) }
      do {
        try context.checkFiles(of: command)
        let file = try OutputFile.open(path)
        let output = Output(command.outputStyle, out: file.rawValue, named: path, environment: configuration.variable)
        return await run(command, ProcessContext(command.process, output, configuration, commands))
      } catch { return report(error, output) }
    }
    return status ?? ExitStatus.internal.rawValue
  }

  /// Runs a command and returns the exit code. `watch` starts the delivery of signals to its handler. Tests pass their own `watch`.
  @LoopActor static func run(
    _ command: any LoopCommand, _ process: ProcessContext,
    watch: (_ handler: @escaping @LoopActor (Int32) -> Void) -> SignalWatch = { SignalWatch(handler: $0) }
  ) async -> Int32 {
    let task = EventLoop.shared.spawn { () -> (any Error)? in
      do {
        if let problem = process.configuration.problem, !command.showsProblems { throw problem }
        if command.usesNames { try NamesFile.check() }
        try await process.run(command, in: Context(process, command.step))
        return nil
      } catch { return process.commands.explained(error) }
    }
    let output = process.output
    var signal: Int32?
    let interrupted = Wait<Void>()
    let watched = watch { number in
      if process.onSignal?(number) == true { return }
      if number == SignalWatch.resumed { return output.resumed() }
      signal = number
      if number == 2 { output.breakLine() }
      task.cancel()
      interrupted.resume(returning: ())
    }
    process.signals = watched
    process.endTraced = { task.cancel() }
    output.beforeFrame = { [weak watched] in watched?.deliver() }
    defer { watched.cancel() }
    var failure = await task.value
    if failure == nil { do { try output.finishRecords() } catch { failure = error } }
    await process.session.close()
    process.memory.write()
    output.clearTransient()
    do { try await process.writeRecord(of: failure) } catch { if failure == nil { failure = error } }
    do { try await process.closeTrace() } catch { if failure == nil { failure = error } }
    do { try await flush(output, interrupted) } catch { if failure == nil { failure = error } }
    let unwritten = output.unwrittenLines
    if unwritten > 0 { output.note("Discarded \(unwritten.counted("line")) of the result: the output was not read in time.") }
    let status = finalStatus(failure, signal, process)
    try? await flush(output, interrupted)
    return status
  }

  /// Writes all pending output and waits for its reader without a time limit. After Ctrl-C, waits at most 300 ms.
  @LoopActor private static func flush(_ output: Output, _ interrupted: Wait<Void>) async throws {
    if !output.isFlushed, !interrupted.isSettled {
      // Without a note, a user would not see why the program does not end.
      let note = EventLoop.shared.schedule(after: .seconds(2)) {
        output.note(
          "Waiting for the reader of standard output to take \(output.unwrittenLines.counted("line")). Press Ctrl-C to discard them.")
      }
      defer { note.cancel() }
      try await race({ try await output.flush(until: nil) }, { try await interrupted.value() })
    }
    try await output.flush(until: EventLoop.shared.now.advanced(by: .milliseconds(300)))
    if !output.isFlushed { throw CancellationError() }
  }

  @LoopActor private static func finalStatus(_ failure: (any Error)?, _ signal: Int32?, _ process: ProcessContext) -> Int32 {
    // The reader of the trace closed it.
    if process.isTraceUnread { return ExitStatus.output.rawValue }
    if let signal, failure != nil {
      // Print nothing after Ctrl-C, unless a change is incomplete.
      if let told = failure.map({ Failure($0) }), told.kind == .interrupted, told != .cancelled {
        _ = report(told, process.output)
      } else if process.output.style.writesMessagesAsJSON {
        reportJSON(Failure(.interrupted, "Interrupted"), process.output)
      }
      return 128 + signal
    }
    return failure.map { report($0, process.output) } ?? ExitStatus.done.rawValue
  }

  /// Reports an error to the user and returns the exit code.
  @LoopActor package static func report(_ error: any Error, _ output: Output) -> Int32 {
    if let status = error as? ExitStatus { return status.rawValue }
    if let code = error as? ExitCode { return code.rawValue }
    if let error = error as? OutputFailure, error.isClosedPipe { return ExitStatus.output.rawValue }
    let failure = Failure(error)
    if failure.isTold { return failure.exitStatus.rawValue }
    // Print a line for each error in a script, as compilers do.
    let mistakes = (error as? ScriptErrors)?.errors.map { Failure($0) } ?? [failure]
    let more = mistakes.count > ScriptErrors.limit ? [Failure(.usage, "More mistakes follow. Correct these first.")] : []
    for mistake in mistakes.prefix(ScriptErrors.limit) + more {
      if output.style.writesMessagesAsJSON { reportJSON(mistake, output) } else { output.failure(mistake.message) }
    }
    return failure.exitStatus.rawValue
  }

  @LoopActor private static func reportJSON(_ failure: Failure, _ output: Output) { output.messageRecord { write(failure, &$0) } }

  private static func write(_ failure: Failure, _ json: inout RecordWriter) { json.object("error") { failure.write(&$0) } }

  private static func json(_ failure: Failure) -> String {
    String(decoding: Output.record { write(failure, &$0) }.dropLast(), as: UTF8.self)
  }

  /// Returns the help requested by `read -h`, `read --help`, `help read`, `-h`, `--help` or `help`. Nil for other arguments.
  private static func help(_ arguments: [String], _ commands: CommandSet) -> String? {
    let words = arguments.prefix { $0 != "--" }
    let isShort = words.contains("-h") && !words.contains("--help")
    let isAsked = words.first == "help"
    guard isAsked || isShort || words.contains("--help") else { return nil }
    let name =
      isAsked
      ? words.dropFirst().first { !$0.hasPrefix("-") || $0 == commands.option.commandName }
      : Arguments.leading(arguments, commands).rest.first
    guard let name, name != "help" else { return ProgramHelp.text(commands, isShort: isShort) }
    return commands.type(named: name).map { HelpPage(of: $0, isSession: false).text(isShort: isShort) }
  }

  /// Prints help, the version, or a usage error, as text or JSON. Returns the exit code.
  package static func reportUsage(_ error: any Error, arguments: [String], _ commands: CommandSet) -> Int32 {
    let type = arguments.first == commands.option.commandName ? commands.option : nil
    if (type ?? commands.root).exitCode(for: error) == .success {
      let text =
        commands.completionScript(arguments) ?? help(arguments, commands) ?? VersionText.wanted(by: arguments, commands)
        ?? (type ?? commands.root).fullMessage(for: error)
      return Output.writeWaiting(.output, text + "\n") ? 0 : ExitStatus.output.rawValue
    }
    // An invalid `names.json` may define the unknown name.
    if let failure = NamesFile.failure {
      Output.writeWaiting(.error, (arguments.contains("--json") ? json(failure) : "blectl: \(failure.message)") + "\n")
      return failure.exitStatus.rawValue
    }
    let usage = UsageText(error, arguments, commands, of: type)
    let sentence = Output.fold("blectl: \(usage.sentence)", of: "blectl", to: Output.errorWidth ?? .max)
    let text = arguments.contains("--json") ? json(Failure(.usage, usage.sentence)) : "\(sentence)\n\(usage.usage)"
    Output.writeWaiting(.error, text + "\n")
    return ExitStatus.usage.rawValue
  }
}
