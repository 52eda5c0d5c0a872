import CommandLine

package struct Use: SessionCommand {
  static let configuration = CommandConfiguration(named: "use", abstract: "Choose the device for commands without a PEER.")
  static let examples = ["connect Band-7; use Band-7", "connect Panel; use Panel"]
  static let traits = CommandTraits(turn: .atOnce, deviceChange: .chooses)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "A connected device of this session") var peer: PeerArgument

  func run(in context: Context, _ session: SessionLinks) async throws {
    let shell = session.shell
    guard let device = try await shell.device(for: peer) else {
      throw shell.notConnected(try await context.configuration.resolve(peer))
    }
    shell.use(device)
  }
}
