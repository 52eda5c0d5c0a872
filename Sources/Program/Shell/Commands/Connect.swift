import BluetoothLELinux
import CommandLine

package struct Connect: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(
    named: "connect", abstract: "Connect to a device and report the connection.",
    discussion: """
      On a terminal, an interactive session follows (see repl). If standard input has commands, blectl runs them on this connection, one per line, and disconnects at their end. Otherwise it disconnects immediately.
      """)
  static let examples = ["blectl -i sim connect Band-7", "echo read battery_level | blectl -i sim connect Band-7 -"]
  static let traits = CommandTraits(usesNames: false, deviceChange: .connects)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: "Use - to read commands from standard input") var input: InputArgument?

  enum InputArgument: String, ExpressibleByArgument, Sendable {
    case standard = "-"
    static var allValueStrings: [String] { ["-"] }
  }

  func run(in context: Context) async throws {
    guard input != nil || StandardInput.isFed || StandardInput.isTerminal && context.output.outIsTerminal && !context.output.style.json
    else { return try await context.withPeer(who) { try await report($0, context.output) } }
    let shell = Shell(context.process, timeout: step.timeout)
    shell.isForPrograms = context.output.style.json
    let request = try await context.request(who)
    let connection = try await context.links.open(request)
    let device = shell.adopt(connection, as: request.selector)
    let output = Output(context.output.style, sharing: context.output)
    shell.tag(output, device)
    try await report(connection, output)
    try await Repl.converse(shell, endingWith: device)
  }

  /// Connects to the device. The session keeps the connection for later commands.
  func run(in context: Context, _ session: SessionLinks) async throws {
    if input != nil { throw Failure(.usage, "connect - is for the command line. In a session the connection stays open anyway.") }
    do {
      let request = try await context.request(who)
      try await reportShortly(try await session.lastingConnection(for: request).connection, context.output)
    } catch {
      if let device = session.sessionDevice, !device.isConnected, !(error is CancellationError) { device.fail(error) }
      throw error
    }
  }

  @LoopActor private func reportShortly(_ connection: Connection, _ output: Output) async throws {
    guard !output.style.json else { return try await report(connection, output) }
    let name = connection.name.map { $0.isEmpty ? "" : "\($0) " } ?? ""
    try await output.sentence(
      "Connected to \(name)\(name.isEmpty ? "\(connection.peer)" : "(\(connection.peer.address))"), \(try await LinkFacts(of: connection).short)"
    )
  }

  @LoopActor private func report(_ connection: Connection, _ output: Output) async throws {
    try await LinkFacts(of: connection).show("connected", "Connected to ", of: connection, output)
  }
}

package struct Disconnect: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(named: "disconnect", abstract: "Disconnect a device (default: the current one).")
  static let examples = ["connect Band-7; disconnect Band-7", "connect Panel; disconnect"]
  static let traits = CommandTraits(deviceChange: .disconnects)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  // The script may have a connection to end.
  var recordedForm: RecordedForm { RecordedForm(failsAgain: false) }

  func run(in context: Context, _ session: SessionLinks) async throws {
    guard let device = session.sessionDevice else { return }
    guard let connection = device.connection else { throw session.shell.notConnected(device, isLeaving: true) }
    let isOpen = connection.isOpen
    await session.shell.disconnect(device)
    try await context.output.show(
      isOpen
        ? "Disconnected from \(connection.title)" : "The connection to \(connection.title) was already lost. blectl does not restore it."
    ) {
      $0.string("event", "disconnected")
      $0.members(connection.identity)
    }
  }
}
