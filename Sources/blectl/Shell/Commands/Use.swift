import ArgumentParser
import Text

struct Use: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "use", _superCommandName: "blectl",
    abstract: "Say which of the connected devices commands without a PEER are about.")
  static let turn = ShellTurn.atOnce

  @OptionGroup var process: ProcessOptions

  @Argument(help: "A device that this session has connected.")
  var peer: PeerArgument

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    guard let shell = context.shell else { return }
    guard let lane = try await shell.lane(for: peer) else {
      let known = shell.lanes.compactMap { $0.connection?.title }
      throw Failure(
        .notFound,
        "\(peer) is not connected" + (known.isEmpty ? "" : "; connected: \(known.joined(separator: ", "))")
          + "; `connect \(ShellWords.quote("\(peer)"))` does")
    }
    shell.use(lane)
  }
}
