import ArgumentParser
import EventLoop
import GATT
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
    var place: String?
    func words(of line: String) throws -> [(String, [String])] {
      do { return try ShellWords.commands(in: line).map { (place ?? $0.map(ShellWords.quote).joined(separator: " "), $0) } } catch {
        var failure = Failure(error)
        if let place { failure.message = "\(place): \(failure.message)" }
        throw failure
      }
    }
    for (index, part) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      if line.isEmpty { first = index + 1 }
      place = name.map { "\(DisplayText.escape($0)):\(first)" }
      line += part
      // An odd number of them: the last one escapes the line feed. A comment ends with its line.
      let goesOn = part.reversed().prefix { $0 == "\\" }.count % 2 == 1 && part.drop { " \t".contains($0) }.first != "#"
      if goesOn {
        line.removeLast()
        continue
      }
      commands += try words(of: line)
      line = ""
    }
    // Nothing follows what the last line said would.
    if !line.isEmpty { commands += try words(of: line + "\\") }
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
    var ahead: [Subscription] = []
    for (index, command) in commands.enumerated() {
      do {
        if command.words.first != WaitForValue.configuration.commandName {
          await Self.end(&ahead)
          try await subscribeAhead(from: index, in: shell, &ahead)
        }
        try await shell.run(command.words, members: members)
        if shell.isOver { break }
      } catch let error as ExitStatus {
        guard keepGoing else { throw error }
        first = first ?? error
      } catch {
        if error is CancellationError || error is OutputFailure { throw error }
        var failure = Failure(error)
        // Once, also where a file names itself.
        if !failure.message.contains("\(command.place): ") { failure.message = "\(command.place): \(failure.message)" }
        guard keepGoing else { throw failure }
        _ = Program.report(failure, output)
        first = first ?? failure.exitStatus
      }
    }
    await Self.end(&ahead)
    if let first { throw first }
  }

  /// Those that change which device is the current one, or may.
  private static let changing = ["connect", "use", "disconnect", "source"]

  /// What the commands behind wait for may come before they are looked at. What is wrong with them they say themselves.
  @LoopActor
  private func subscribeAhead(from index: Int, in shell: Shell, _ subscriptions: inout [Subscription]) async throws {
    guard let name = commands[index].words.first, !Self.changing.contains(name) else { return }
    for command in commands[(index + 1)...] {
      guard command.words.first == WaitForValue.configuration.commandName, let line = try? ShellLine(command.words, shell.settings),
        let wait = line.command as? WaitForValue, line.isAboutCurrent
      else { return }
      do {
        if let subscription = try await wait.subscribeAhead(in: shell) { subscriptions.append(subscription) }
      } catch { if error is CancellationError { throw error } }
    }
  }

  @LoopActor
  private static func end(_ subscriptions: inout [Subscription]) async {
    for subscription in subscriptions { try? await subscription.cancel() }
    subscriptions = []
  }
}
