import ArgumentParser
import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

/// A command of blectl. It runs on the event loop and may be cancelled at any wait.
/// Each states its `commandName`, deriving it from the type costs 40 % of the program's start, and its `_superCommandName`, without which
/// the parser first parses everything twice in search of `--generate-completion-script`.
protocol LoopCommand: ParsableCommand, Sendable {
  var process: ProcessOptions { get }
  /// Whether it shows or takes names of UUIDs or companies.
  var usesNames: Bool { get }
  /// Whether its time is the machine's, also where the simulated air would run faster.
  var isTimeReal: Bool { get }
  /// Whether it goes on until somebody stops it.
  var runsUntilStopped: Bool { get }
  /// Whether it uses the adapter that it has.
  var usesAdapter: Bool { get }
  /// Whether its time is limited. A session ends other commands with its input.
  var hasTimeLimit: Bool { get }
  /// The failure when the end of the input stops it; nil when it was to run until then.
  var failureAtInputEnd: Failure? { get }
  /// Adds the files that its own options and arguments name.
  @LoopActor func name(_ files: inout CommandFiles)
  @LoopActor func run(in context: Context) async throws
}

extension LoopCommand {
  var step: StepOptions { process.step }
  var runsUntilStopped: Bool { false }
  var hasTimeLimit: Bool { !runsUntilStopped }
  var failureAtInputEnd: Failure? { nil }
  var usesNames: Bool { true }
  var isTimeReal: Bool { false }
  var usesAdapter: Bool { true }
  @LoopActor func name(_ files: inout CommandFiles) {}

  /// Nil for what is no command of ours, as help.
  static func command(from arguments: [String]) throws -> (any LoopCommand)? {
    let parsed = try parseAsRoot(arguments)
    // Whether something is of a type is quickly known; whether it conforms to a protocol takes two per cent of a start.
    if let own = parsed as? Self { return own }
    return parsed as? any LoopCommand
  }
}

/// Runs one command to its exit code: signals, errors as sentences or JSON, clean-up on every path.
enum Program {
  static func run(_ command: any LoopCommand, environment: [String: String]) -> Int32 {
    let configuration = Configuration(environment: environment, adapter: command.process.adapter)
    let adapter = try? configuration.adapter()
    if !command.usesAdapter || adapter?.isKernel != true { Capabilities.drop() }
    LibraryEnvironment.restrict()
    let clock = environment["BLECTL_CLOCK"] ?? ""
    guard ["", "real", "virtual"].contains(clock) else {
      return reportUsage(
        ValidationError("BLECTL_CLOCK is virtual or real, not \(DisplayText.quote(clock))."),
        arguments: [type(of: command).configuration.commandName ?? ""] + (command.process.json ? ["--json"] : []))
    }
    if !command.isTimeReal {
      switch adapter {
      case .simulation where clock == "virtual": EventLoop.shared.useVirtualTime()
      // Nobody is there to wait for.
      case .replay where clock != "real": EventLoop.shared.useVirtualTime()
      default: break
      }
    }
    let status = try? EventLoop.shared.run {
      await run(
        command,
        ProcessContext(
          command.process,
          // Where the trace is, nothing else is.
          Output(
            command.process.outputStyle, out: command.process.trace == "-" ? 2 : 1, environment: configuration.variable), configuration))
    }
    return status ?? ExitStatus.internal.rawValue
  }

  /// - Parameter watch: how it learns of the first signal; tests make it up.
  @LoopActor
  static func run(
    _ command: any LoopCommand, _ process: ProcessContext,
    watch: (_ handler: @escaping @LoopActor (Int32) -> Void) -> SignalWatch = { SignalWatch(handler: $0) }
  ) async -> Int32 {
    let task = EventLoop.shared.spawn { () -> (any Error)? in
      do {
        if command.usesNames { try NamesFile.check() }
        try await process.run(command, in: Context(process, command.step))
        return nil
      } catch { return error }
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
    await process.session.close()
    process.memory.write()
    output.clearTransient()
    do { try await process.writeRecord(of: failure) } catch { if failure == nil { failure = error } }
    do { try await process.closeTrace() } catch { if failure == nil { failure = error } }
    do { try await flush(output, interrupted) } catch { if failure == nil { failure = error } }
    let unwritten = output.unwrittenLines
    if unwritten > 0 { output.note("\(unwritten) line(s) of the result were not written, because nobody read the output") }
    let status = finalStatus(failure, signal, process)
    try? await flush(output, interrupted)
    return status
  }

  /// Everything that was accepted is written, however slow the reader. After Ctrl-C it has a moment only.
  @LoopActor
  private static func flush(_ output: Output, _ interrupted: Wait<Void>) async throws {
    if !output.isFlushed, !interrupted.isSettled {
      // The work is done, and a terminal shows nothing of why the program does not end.
      let note = EventLoop.shared.schedule(after: .seconds(2)) {
        output.note("done; \(output.unwrittenLines) line(s) of the result wait for whoever reads standard output. Ctrl-C ends without them")
      }
      defer { note.cancel() }
      try await race({ try await output.flush(until: nil) }, { try await interrupted.value() })
    }
    try await output.flush(until: EventLoop.shared.now.advanced(by: .milliseconds(300)))
    if !output.isFlushed { throw CancellationError() }
  }

  @LoopActor
  private static func finalStatus(_ failure: (any Error)?, _ signal: Int32?, _ process: ProcessContext) -> Int32 {
    // Whoever read the trace has ended it.
    if process.isTraceUnread { return ExitStatus.output.rawValue }
    if let signal, failure != nil {
      // Silence is what a terminal expects after Ctrl-C, unless something was left half done.
      if let told = failure.map({ Failure($0) }), told.kind == .interrupted, told != .cancelled {
        _ = report(told, process.output)
      } else if process.output.style.json {
        reportJSON(Failure(.interrupted, "interrupted"), process.output)
      }
      return 128 + signal
    }
    return failure.map { report($0, process.output) } ?? ExitStatus.done.rawValue
  }

  /// - Returns: the exit code of `error`, after telling the user about it.
  @LoopActor
  static func report(_ error: any Error, _ output: Output) -> Int32 {
    if let status = error as? ExitStatus { return status.rawValue }
    if let code = error as? ExitCode { return code.rawValue }
    if let error = error as? OutputFailure, error.isClosedPipe { return ExitStatus.output.rawValue }
    let failure = Failure(error)
    if failure.isTold { return failure.exitStatus.rawValue }
    // Each mistake of a script is a line, as compilers write them.
    let mistakes = (error as? ScriptErrors)?.errors.map { Failure($0) } ?? [failure]
    for mistake in mistakes.prefix(mistakeLimit) + omitted(mistakes.count - mistakeLimit) {
      if output.style.json { reportJSON(mistake, output) } else { output.failure(mistake.message) }
    }
    return failure.exitStatus.rawValue
  }

  private static let mistakeLimit = 100

  private static func omitted(_ count: Int) -> [Failure] {
    count > 0 ? [Failure(.usage, "\(count) more mistakes are not shown. Correct these first.")] : []
  }

  @LoopActor
  private static func reportJSON(_ failure: Failure, _ output: Output) { output.messageRecord { write(failure, &$0) } }

  private static func write(_ failure: Failure, _ json: inout JSONLine) { json.object("error") { failure.write(&$0) } }

  private static func json(_ failure: Failure) -> String {
    String(decoding: Output.record { write(failure, &$0) }.dropLast(), as: UTF8.self)
  }

  /// Wrong use of the command line, help and version: what ArgumentParser says, in the form that was asked for.
  static func reportUsage(_ error: any Error, arguments: [String]) -> Int32 {
    let type: (any ParsableCommand.Type)? = arguments.first == Execute.word ? Execute.self : nil
    if (type ?? Blectl.self).exitCode(for: error) == .success {
      let text = CompletionScript.wanted(by: arguments) ?? (type ?? Blectl.self).fullMessage(for: error)
      return Output.writeWaiting(.output, text + "\n") ? 0 : ExitStatus.output.rawValue
    }
    // A name that was not found may be in the file that cannot be used.
    if let failure = NamesFile.failure {
      Output.writeWaiting(.error, (arguments.contains("--json") ? json(failure) : "blectl: \(failure.message)") + "\n")
      return failure.exitStatus.rawValue
    }
    let usage = UsageText(error, arguments, of: type)
    let text = arguments.contains("--json") ? json(Failure(.usage, usage.sentence)) : "blectl: \(usage.sentence)\n\(usage.usage)"
    Output.writeWaiting(.error, text + "\n")
    return ExitStatus.usage.rawValue
  }
}
