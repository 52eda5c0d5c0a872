import ArgumentParser
import CommandLine
import Operations
import Presentation
import Terminal
import Text

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
    guard let connection = device.connection else { throw Failure.notConnected(device) }
    let isOpen = connection.isOpen
    await session.shell.disconnect(device)
    try await context.output.show(
      isOpen
        ? "Disconnected from \(connection.title)" : "The connection to \(connection.title) was already lost. blectl does not restore it."
    ) {
      $0.string("event", "disconnected")
      connection.identify(in: &$0)
    }
  }
}
