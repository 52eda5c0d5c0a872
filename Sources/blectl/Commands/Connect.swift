import ArgumentParser
import Bluetooth
import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

struct Connect: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect", _superCommandName: "blectl", abstract: "Connect to a device and report the connection.",
    discussion: """
      On a terminal, an interactive session follows (see repl). If standard input has commands, blectl runs them on this connection, one per line, and disconnects at their end. Otherwise it disconnects immediately.
      """)
  static let examples = ["blectl -i sim connect Band-7", "echo read battery_level | blectl -i sim connect Band-7 -"]

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "Use - to read commands from standard input")
  var input: InputArgument?

  enum InputArgument: String, ExpressibleByArgument, Sendable {
    case standard = "-"
    static var allValueStrings: [String] { ["-"] }
  }

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    if let shell = context.shell { return try await run(in: context, shell) }
    guard input != nil || StandardInput.isFed || StandardInput.isTerminal && context.output.outIsTerminal && !context.output.style.json
    else {
      return try await context.withPeer(who.target) { try await report($0, context.output) }
    }
    let shell = Shell(context.process, timeout: step.timeout)
    shell.isForPrograms = context.output.style.json
    let selector = try await context.configuration.resolve(who.peer)
    let connection = try await context.open(selector, who.target)
    let lane = shell.adopt(connection, as: selector)
    let output = Output(context.output.style, sharing: context.output)
    shell.tag(output, lane)
    try await report(connection, output)
    try await Repl.converse(shell, endingWith: lane)
  }

  /// The link stays for the commands that follow.
  @LoopActor
  private func run(in context: Context, _ shell: Shell) async throws {
    if input != nil { throw Failure(.usage, "connect - is for the command line. In a session the connection stays open anyway.") }
    guard let lane = context.lane else { return }
    do {
      let selector = who.peer == .current ? lane.selector : try await context.configuration.resolve(who.peer)
      try await reportShortly(try await context.lastingLink(selector, who.target).connection, context.output)
    } catch {
      if let lane = context.lane, !lane.isConnected, !(error is CancellationError) { lane.fail(error) }
      throw error
    }
  }

  @LoopActor
  private func reportShortly(_ connection: Connection, _ output: Output) async throws {
    guard !output.style.json else { return try await report(connection, output) }
    let name = connection.name.map { $0.isEmpty ? "" : "\($0) " } ?? ""
    try await output.line(
      "Connected to \(name)\(name.isEmpty ? "\(connection.peer)" : "(\(connection.peer.address))"), \(try await LinkFacts(of: connection).short)"
    )
  }

  @LoopActor
  private func report(_ connection: Connection, _ output: Output) async throws {
    try await LinkFacts(of: connection).show("connected", "Connected to ", of: connection, output)
  }
}
