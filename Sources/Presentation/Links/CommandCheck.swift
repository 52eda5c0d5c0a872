import ATT
import Bluetooth
package import EventLoop
package import GATT
package import Terminal

/// Before Write Commands, which a peer may drop without a word.
@LoopActor
package enum CommandCheck {
  /// - Parameter isForced: the user has asked for commands.
  /// - Throws: as `Client.checkCommands`.
  package static func check(_ target: Attribute, _ client: Client, isForced: Bool, _ output: Output) async throws {
    if isForced, let properties = target.properties, !properties.contains(.writeWithoutResponse) {
      output.note(
        "\(target.uuid?.description ?? target.handle.description) does not offer write_without_response. The device may drop these commands silently."
      )
    }
    try await client.checkCommands(to: target)
  }
}
