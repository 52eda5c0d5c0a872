import ArgumentParser
import Bluetooth
import EventLoop
import Glibc
import LinuxIO
import Terminal
import Text

/// A command of blectl. It runs on the event loop and may be cancelled at any wait.
/// Each states its `commandName`, deriving it from the type costs 40 % of the program's start, and its `_superCommandName`, without which
/// the parser first parses everything twice in search of `--generate-completion-script`.
protocol LoopCommand: ParsableCommand, Sendable {
  var options: GlobalOptions { get }
  @LoopActor func run(in context: Context) async throws
}

/// Runs one command to its exit code: signals, errors as sentences or JSON, clean-up on every path.
enum Program {
  static func run(_ command: any LoopCommand, environment: [String: String]) -> Int32 {
    let configuration = Configuration(environment: environment)
    if environment["BLECTL_CLOCK"] == "virtual", case .simulation? = try? configuration.adapter(command.options) {
      EventLoop.shared.useVirtualTime()
    }
    let status = try? EventLoop.shared.run {
      await run(command, Context(command.options, Output(command.options.outputStyle, environment: configuration.variable), configuration))
    }
    return status ?? ExitStatus.internal.rawValue
  }

  @LoopActor
  private static func run(_ command: any LoopCommand, _ context: Context) async -> Int32 {
    let task = EventLoop.shared.spawn { () -> (any Error)? in
      do {
        try await command.run(in: context)
        return nil
      } catch { return error }
    }
    var signal: Int32?
    let signals = SignalWatch { number in
      signal = number
      task.cancel()
    }
    var failure = await task.value
    await context.close()
    signals.cancel()
    context.output.clearTransient()
    if let signal, failure != nil {
      // Silence is what a terminal expects after Ctrl-C, unless something was left half done.
      if let told = failure.map({ Failure($0) }), told.kind == .interrupted {
        _ = report(told, context.output)
      } else if context.options.json {
        reportJSON(Failure(.interrupted, "interrupted"), context.output)
      }
      return 128 + signal
    }
    if failure == nil { do { try context.closeTrace() } catch { failure = error } }
    return failure.map { report($0, context.output) } ?? ExitStatus.done.rawValue
  }

  /// - Returns: the exit code of `error`, after telling the user about it.
  private static func report(_ error: any Error, _ output: Output) -> Int32 {
    if let status = error as? ExitStatus { return status.rawValue }
    if let error = error as? OutputFailure, error.isClosedPipe { return ExitStatus.output.rawValue }
    let failure = Failure(error)
    if output.style.json { reportJSON(failure, output) } else { output.failure(failure.message) }
    return failure.exitStatus.rawValue
  }

  private static func reportJSON(_ failure: Failure, _ output: Output) {
    var json = JSONLine()
    json.object("error") {
      $0.string("kind", failure.kind.rawValue)
      $0.integer("code", failure.code)
      $0.string("name", failure.name)
      $0.string("message", failure.message)
    }
    output.message(String(decoding: json.finished().dropLast(), as: UTF8.self))
  }

  /// Wrong use of the command line, help and version: what ArgumentParser says, in the form that was asked for.
  static func reportUsage(_ error: any Error, arguments: [String]) -> Int32 {
    let code = Blectl.exitCode(for: error)
    let message = Blectl.fullMessage(for: error)
    var style = Output.Style()
    style.json = code != .success && arguments.contains("--json")
    let output = Output(style) { _ in nil }
    if code == .success {
      do { try output.line(message) } catch { return ExitStatus.output.rawValue }
      return 0
    }
    if style.json {
      // With the parser's hint, which says what the option or argument takes.
      let hint = message.split(separator: "\n").first { $0.hasPrefix("Help:") }.map { "; " + String($0.dropFirst(5)).trimmed } ?? ""
      reportJSON(Failure(.usage, Blectl.message(for: error) + hint), output)
    } else {
      output.message(message)
    }
    return ExitStatus.usage.rawValue
  }
}
