import ArgumentParser
import Operations
import Terminal
import Text

struct Disconnect: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "disconnect", _superCommandName: "blectl",
    abstract: "Take the link down. After that of the current device there is no current one.")
  static let turn = ShellTurn.ofDevice

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    guard let shell = context.shell, let lane = context.lane else { return }
    guard let connection = lane.connection else { throw Failure.notConnected(lane) }
    let isOpen = connection.isOpen
    await shell.disconnect(lane)
    if context.output.style.json {
      try await context.output.record {
        $0.string("event", "disconnected")
        connection.identify(in: &$0)
      }
    } else {
      try await context.output.line(
        isOpen ? "disconnected from \(connection.title)" : "the link to \(connection.title) was lost before; it is not made again")
    }
  }
}
