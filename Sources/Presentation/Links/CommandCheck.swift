package import BluetoothLE
package import Terminal

/// The check of a Write Command before blectl sends it. A device may drop Write Commands silently.
@LoopActor
package enum CommandCheck {
  /// Prints a note if the device refused to read the attribute on this link, and the link is still not secure enough for that.
  package static func note(_ target: Attribute, _ connection: Connection, _ output: Output) {
    let level = connection.security?.level
    guard let code = connection.client.refusedReads[target.handle],
      code == .insufficientEncryption ? level == nil : !(level?.isAuthenticated ?? false)
    else { return }
    output.note(
      "\(target.shortName) refused a read on this connection (\(code.tag)). The device may drop these commands silently. Try --pair.")
  }

  /// Checks that the client can send Write Commands. If `isForced`, prints a note for an attribute that does not permit Write Commands.
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
