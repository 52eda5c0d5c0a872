import BluetoothLELinux
import Scripts

/// The main function of the program. Runs one command, reports errors and returns the exit code.
package enum Program {
  package static func run(_ command: any LoopCommand, _ commands: CommandSet, environment: [String: String]) -> Int32 {
    var command = command
    var configuration = Configuration(environment: environment, adapter: command.process.adapter, file: command.process.config)
    if command.usesConfiguration {
      configuration.readDefaults(isShared: command.isShared)
      command.process.take(
        configuration.defaults.general, usesColor: environment["NO_COLOR"]?.isEmpty ?? true,
        usesTimeout: !type(of: command).unusedOptions.contains("--timeout"))
    }
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
    if !command.traits.program.isTimeReal {
      switch adapter {
      case .simulation where clock == "virtual": EventLoop.shared.useVirtualTime()
      // A recording contains no device that needs real time.
      case .replay where clock != "real": EventLoop.shared.useVirtualTime()
      default: break
      }
    }
    let status = try? EventLoop.shared.run { [command, configuration] in
      // Standard output carries the trace only.
      let output = Output(command.outputStyle, out: command.process.trace == "-" ? 2 : 1, environment: configuration.variable)
      let context = ProcessContext(command.process, output, configuration, commands)
      guard let path = command.process.output, path != "-" else { return await run(command, context) }
      do {
        try context.checkFiles(of: command)
        let file = try OutputFile.open(path)
        let output = Output(command.outputStyle, out: file.rawValue, named: path, environment: configuration.variable)
        return await run(command, ProcessContext(command.process, output, configuration, commands))
      } catch { return report(error, output) }
    }
    return status ?? ExitStatus.internal.rawValue
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

  @LoopActor static func reportJSON(_ failure: Failure, _ output: Output) { output.messageRecord { write(failure, &$0) } }

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
