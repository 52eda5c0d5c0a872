import CommandLine

/// A list of commands from `-e`, a file or a typed line. The session runs one command after another.
struct CommandList {
  /// The words of each command. `place` is the file and line, or the command itself, for errors. Nil for a typed line.
  private let commands: [(place: String?, words: [String])]

  /// The words of the first command. Nil without commands.
  var first: [String]? { commands.first?.words }

  /// Splits a typed line into commands.
  /// - Throws: ShellWordsError for a missing quotation mark or another syntax error.
  init(line: String) throws(ShellWordsError) { commands = try ShellWords.commands(in: line).map { (nil, $0) } }

  /// Parses the commands of a text with one or more lines.
  /// - Parameter name: The file name for errors. Nil if the text is not from a file.
  /// - Throws: Failure(.usage) for a syntax error.
  init(_ text: String, name: String? = nil) throws {
    var commands: [(String?, [String])] = []
    var reading = ShellWordReading()
    var first: Int?
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, part) in lines.enumerated() {
      let line = first ?? index + 1
      for character in part { reading.take(character) }
      // A backslash at the end of a line escapes the line feed.
      if reading.goesOn, index < lines.count - 1 {
        reading.passOverEnd()
        first = line
        continue
      }
      let place = name.map { "\(DisplayText.escape($0)):\(line)" }
      do {
        commands += try reading.finished().map {
          (place ?? DisplayText.clip($0.map(ShellWords.quote).joined(separator: " "), to: 60), $0)
        }
      } catch {
        var failure = Failure(error)
        if let place { failure.message = "\(place): \(failure.message)" }
        throw failure
      }
      (reading, first) = (ShellWordReading(), nil)
    }
    self.commands = commands
  }

  /// Parses all commands without running them.
  /// - Throws: Failure(.usage) for an unknown or incomplete command.
  @LoopActor func check(in shell: Shell) throws {
    for command in commands {
      do { _ = try shell.parse(shell.withFullName(command.words)) } catch var failure as Failure {
        if let place = command.place { failure.message = "\(place): \(failure.message)" }
        throw failure
      } catch is HelpText {}
    }
  }

  var isEmpty: Bool { commands.isEmpty }

  /// Runs the commands in order. If `keepGoing` is true, reports each failure and continues.
  /// - Throws: The first failure with its place, or its ExitStatus if blectl already reported the failure.
  @LoopActor func run(in shell: Shell, keepGoing: Bool, members: RecordWriter.Members = .none, _ output: Output) async throws {
    var ahead: [Subscription] = []
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await runEach(in: shell, keepGoing: keepGoing, members, output, &ahead)) } catch {
      outcome = .failure(error)
    }
    let left = ahead
    await shielded { await Self.end(left) }
    try outcome.get()
  }

  @LoopActor private func runEach(
    in shell: Shell, keepGoing: Bool, _ members: RecordWriter.Members, _ output: Output, _ ahead: inout [Subscription]
  ) async throws {
    var first: ExitStatus?
    let traits = commands.map { shell.process.commands.type(of: $0.words)?.traits }
    for (index, command) in commands.enumerated() {
      do {
        if traits[index]?.takesEarlierValues != true {
          await Self.end(ahead)
          ahead = []
          if traits[index]?.deviceChange == DeviceChange.none { try await subscribeAhead(from: index + 1, traits, in: shell, &ahead) }
        }
        try await shell.run(command.words, members: members)
        if shell.isOver { break }
      } catch let error as ExitStatus {
        guard keepGoing else { throw error }
        first = first ?? error
      } catch {
        if error is CancellationError || error is OutputFailure { throw error }
        var failure = Failure(error)
        // Add the place only once, also if the file names itself.
        if !failure.isTold, let place = command.place, !failure.message.contains("\(place): ") {
          failure.message = "\(place): \(failure.message)"
        }
        guard keepGoing else { throw failure }
        _ = Program.report(failure, output)
        first = first ?? failure.exitStatus
      }
    }
    if let first { throw first }
  }

  /// Subscribes to the attributes of the consecutive `wait` commands from `index` on, so that no early value is lost. Ignores errors.
  @LoopActor private func subscribeAhead(
    from index: Int, _ traits: [CommandTraits?], in shell: Shell, _ subscriptions: inout [Subscription]
  ) async throws {
    for index in index..<commands.count {
      guard traits[index]?.takesEarlierValues == true, let line = try? shell.parse(commands[index].words), line.isAboutCurrent,
        let attribute = line.command.awaitedAttribute
      else { return }
      do {
        if let subscription = try await shell.subscribe(to: attribute) { subscriptions.append(subscription) }
      } catch { if error is CancellationError { throw error } }
    }
  }

  @LoopActor private static func end(_ subscriptions: [Subscription]) async {
    for subscription in subscriptions { try? await subscription.cancel() }
  }
}
