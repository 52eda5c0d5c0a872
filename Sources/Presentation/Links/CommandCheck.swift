import ATT
import Bluetooth
package import EventLoop
package import GATT
package import Terminal

/// The check before Write Commands, which a peer may drop silently.
@LoopActor
package enum CommandCheck {
  /// Prints a note if the attribute does not permit commands, then checks the client. `isForced` means that the user asked for commands.
  /// - Throws: The errors of `Client.checkCommands`.
  package static func check(_ target: Attribute, _ client: Client, isForced: Bool, _ output: Output) async throws {
    if isForced, let properties = target.properties, !properties.contains(.writeWithoutResponse) {
      output.note(
        "\(target.uuid?.description ?? target.handle.description) does not offer write_without_response. The device may drop these commands silently."
      )
    }
    try await client.checkCommands(to: target)
  }
}
