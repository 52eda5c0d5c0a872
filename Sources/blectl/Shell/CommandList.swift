import ArgumentParser
import EventLoop
import Terminal
import Text

/// Commands that run one after the other: of `-e`, or of a file.
struct CommandList {
  /// Where it stands, as in errors, and its words.
  private let commands: [(place: String, words: [String])]

  /// - Parameter name: of the file, whose lines errors name.
  /// - Throws: Failure(.usage).
  init(_ text: String, name: String? = nil) throws {
    var commands: [(String, [String])] = []
    var line = ""
    var first = 1
    for (index, part) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty { first = index + 1 }
      line += part
      // An odd number of them: the last one escapes the line feed.
      if part.reversed().prefix(while: { $0 == "\\" }).count % 2 == 1 {
        line.removeLast()
        continue
      }
      let place = name.map { "\(DisplayText.escape($0)):\(first)" }
      do { commands += try ShellWords.commands(in: line).map { (place ?? $0.map(ShellWords.quote).joined(separator: " "), $0) } } catch {
        var failure = Failure(error)
        if let place { failure.message = "\(place): \(failure.message)" }
        throw failure
      }
      line = ""
    }
    self.commands = commands
  }

  /// - Throws: Failure(.usage) for what is no command, or not complete.
  @LoopActor
  func check(_ settings: ShellSettings) throws {
    for command in commands {
      do { _ = try ShellLine(command.words, settings) } catch var failure as Failure {
        failure.message = "\(command.place): \(failure.message)"
        throw failure
      } catch is HelpText {}
    }
  }

  var isEmpty: Bool { commands.isEmpty }

  /// - Parameter keepGoing: after one that failed, which is told at once then.
  /// - Throws: what failed first, with its place; ExitStatus when it was told already.
  @LoopActor
  func run(in shell: Shell, keepGoing: Bool, members: [UInt8] = [], _ output: Output) async throws {
    var first: ExitStatus?
    for (index, command) in commands.enumerated() {
      do {
        try await subscribeAhead(from: index + 1, in: shell)
        try await shell.run(command.words, members: members)
      } catch let error as ExitStatus {
        guard keepGoing else { throw error }
        first = first ?? error
      } catch {
        if error is CancellationError || error is OutputFailure { throw error }
        var failure = Failure(error)
        failure.message = "\(command.place): \(failure.message)"
        guard keepGoing else { throw failure }
        _ = Program.report(failure, output)
        first = first ?? failure.exitStatus
      }
    }
    if let first { throw first }
  }

  /// What the next command waits for may come before that command is looked at.
  @LoopActor
  private func subscribeAhead(from index: Int, in shell: Shell) async throws {
    for command in commands[index...] {
      guard command.words.first == WaitForValue.configuration.commandName, let line = try? ShellLine(command.words, shell.settings),
        let wait = line.command as? WaitForValue, line.isAboutCurrent
      else { return }
      try await wait.subscribeAhead(in: shell)
    }
  }
}
