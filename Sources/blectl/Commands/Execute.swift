import ArgumentParser

/// `-e`: no name among the commands, because it is how `sed` and `perl` take theirs.
struct Execute: LoopCommand {
  static let word = "-e"

  static let configuration = CommandConfiguration(
    commandName: word, _superCommandName: "blectl",
    abstract: "Several commands on one link; stops at the first that fails.",
    discussion: """
      Commands are those of the command line without PEER, and those of a session (wait, sleep, subscribe, …), separated by ; or line feeds. \
      What wait waits for is subscribed to before the command in front of it.
      """)

  @OptionGroup var process: ProcessOptions

  @Argument(help: "The commands, in one word: 'read 2a19; write ffe1 01'.")
  var commands: String

  @Argument(help: "The device that they are about.")
  var peer: PeerArgument?

  @Flag(name: .shortAndLong, help: "Go on after a command that failed; the exit code is that of the first that did.")
  var keepGoing = false

  @OptionGroup var choice: ChoiceOptions

  @OptionGroup var link: LinkOptions

  func validate() throws {
    guard peer == nil, choice.first || choice.unique || link.isGiven else { return }
    throw ValidationError("--first, --unique and options of the link need a PEER.")
  }

  func run(in context: Context) async throws {
    let list = try CommandList(commands)
    if list.isEmpty { throw Failure(.usage, "-e has no command in it") }
    let shell = Shell(context.process, timeout: step.timeout)
    // What is no command is said before a device is bothered.
    try list.check(shell.settings)
    if let peer {
      let target = Target(peer: peer, takesFirst: choice.first, demandsOne: choice.unique, link: link)
      let selector = try await context.configuration.resolve(peer)
      shell.use(shell.adopt(try await context.open(selector, target), as: selector))
    }
    do { try await list.run(in: shell, keepGoing: keepGoing, context.output) } catch {
      await shell.end()
      throw error
    }
    await shell.end()
  }
}
