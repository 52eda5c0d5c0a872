import ATT

extension Client {
  /// Asks whether the peer accepts Write Commands to an attribute, once per link and attribute. The peer drops a rejected command silently
  /// (Vol 3 Part F §3.4.5.3). So the client sends a Prepare Write without bytes, then cancels it, which changes nothing (§3.4.6).
  /// - Throws: GATTError.errorResponse with 05, 08, 0C or 0F, which apply to commands too, or with 03 without a write property.
  ///   Other error codes say nothing about commands. Also throws the error that closed the bearer, and CancellationError.
  package func checkCommands(to attribute: Attribute) async throws {
    guard !commandsChecked.contains(attribute.handle) else { return }
    do {
      _ = try await answer(.prepareWrite(attribute.handle, offset: 0, value: []))
      // Empty the queue, or the next Execute Write would include this part.
      _ = try await answer(.executeWrite(flags: 0))
    } catch let error as GATTError {
      guard case .errorResponse(let code, _, _) = error else { throw error }
      switch code {
      case .insufficientAuthentication, .insufficientAuthorization, .encryptionKeySizeTooShort, .insufficientEncryption: throw error
      // A server may refuse to prepare a value that it accepts as a command.
      case .writeNotPermitted: if attribute.properties?.isDisjoint(with: [.write, .writeWithoutResponse]) ?? false { throw error }
      default: break
      }
    }
    commandsChecked.insert(attribute.handle)
  }
}
