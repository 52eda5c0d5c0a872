import CommandLine

/// The command `-e`, which runs the commands in its argument.
package struct Execute: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "-e", abstract: "Run several commands over one connection.",
    discussion: """
      The first command that fails stops the run. Separate commands with ; or line feeds, and omit PEER. Session commands (wait, sleep, subscribe, ...) work, too. blectl subscribes for `wait` before it runs the preceding command.
      """)
  static let examples = ["blectl -i sim -e 'read 2a00; read 2a19' Band-7", "blectl -i sim -e 'write ff02 1b9901; wait ff01' Band-7"]
  static let traits = CommandTraits(completedWords: [.free, .peer], runsInSessions: false, isSession: true)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "The commands in quotes: 'read 2a19; write ffe1 01'") var commands: String
  @Argument(help: "The device for commands without PEER") var peer: PeerArgument?
  @Flag(name: .shortAndLong, help: "Continue after failures; exit with the status of the first failure") var keepGoing = false
  @OptionGroup var choice: ChoiceOptions
  @OptionGroup var link: LinkOptions

  func check(_ words: [String], _ set: CommandSet, isSession: Bool) throws {
    func isCommand(_ line: String) -> Bool {
      guard let words = try? ShellWords.words(of: line), let name = Arguments.leading(words, set).rest.first else { return false }
      return set.isInSessions(name)
    }
    guard let line = peer?.description.after("name:"), isCommand(line) else { return }
    if isCommand(commands) { throw ValidationError(Self.joined([commands, line], "PEER")) }
    throw ValidationError(
      "The commands come before the device: blectl -e \(ShellWords.quoteForShell(line)) \(ShellWords.quoteForShell(commands))")
  }

  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? {
    switch mistake {
    case .unexpectedArguments, .invalidValue(_, place: "<peer>", choices: _): break
    default: return nil
    }
    var words = CommandOptions(of: Self.self).arguments(in: Array(words.dropFirst()))
    guard words.count > 1 else { return nil }
    // The shell has split a single command, or a name with spaces. Otherwise each word but the last is a whole command.
    let isSplit = !words.contains { $0.contains(" ") }
    if !isSplit, !words.dropFirst().contains(where: { $0.contains(" ") }) {
      let name = ShellWords.quoteForShell(words.dropFirst().joined(separator: " "))
      return "Put a name with spaces in quotes: blectl -e \(ShellWords.quoteForShell(words[0])) \(name)"
    }
    let isDevice = { (word: String) in PeerArgument(argument: word) != nil && (try? Selector(word)) == nil && !word.contains(" ") }
    let place = words.indices.dropFirst().last {
      isDevice(words[$0]) && ($0 == words.count - 1 || words[$0].contains(where: \.isUppercase))
    }
    let device = place.map { ShellWords.quoteForShell(words.remove(at: $0)) } ?? "PEER"
    return joined(words, device, isSplit ? " " : "; ")
  }

  private static func joined(_ commands: [String], _ device: String, _ separator: String = "; ") -> String {
    "Put all commands in one pair of quotes: blectl -e \(ShellWords.quoteForShell(commands.joined(separator: separator))) \(device)"
  }

  func validate() throws {
    guard peer == nil, choice.first || choice.unique || link.areOfConnection || link.wait else { return }
    throw ValidationError("--first, --unique and the connection options need a PEER.")
  }

  var recordedDevice: PeerArgument? { peer }

  func run(in context: Context) async throws {
    let list: CommandList
    do { list = try CommandList(commands) } catch var failure as Failure {
      if let peer { failure.message = failure.message.replacing(" PEER ", with: " \(ShellWords.quoteForShell(peer.typed)) ") }
      throw failure
    }
    if list.isEmpty { throw Failure(.usage, "-e is empty. Give it commands, as in -e 'read 2a19'.") }
    let shell = Shell(context.process, timeout: step.timeout)
    // Report a wrong command before blectl connects to the device.
    try list.check(in: shell)
    if let peer {
      var who = PeerOptions(peer, choice, link)
      if try list.first.map({ try shell.parse($0).pairs }) ?? false { who.link.level = nil }
      let request = try await context.request(who)
      shell.use(shell.adopt(try await context.links.open(request), as: request.selector))
    }
    shell.settings.level = link.leastSecurity
    do { try await list.run(in: shell, keepGoing: keepGoing, context.output) } catch {
      await shell.end()
      throw error
    }
    await shell.end()
  }
}
