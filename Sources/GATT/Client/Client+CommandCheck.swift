import ATT

extension Client {
  /// Asks whether the peer takes Write Commands to an attribute, before one is sent: it drops what it does not take without a word (Vol 3 Part F
  /// §3.4.5.3), and tells its reason only to a request. This one is a Prepare Write of no octets, which is cancelled and changes nothing (§3.4.6).
  /// Once per link and attribute.
  /// - Throws: GATTError.errorResponse with 05, 08, 0C or 0F, which hold for commands too, and with 03 for what has no property to be written;
  ///   any other answer says nothing about commands. What ended the bearer; CancellationError.
  package func checkCommands(to attribute: Attribute) async throws {
    guard !commandsChecked.contains(attribute.handle) else { return }
    do {
      _ = try await answer(.prepareWrite(attribute.handle, offset: 0, value: []))
      // Nothing of it is to be there for the next Execute Write.
      _ = try await answer(.executeWrite(flags: 0))
    } catch let error as GATTError {
      guard case .errorResponse(let code, _, _) = error else { throw error }
      switch code {
      case .insufficientAuthentication, .insufficientAuthorization, .encryptionKeySizeTooShort, .insufficientEncryption: throw error
      // A server may refuse to prepare what it takes as a command.
      case .writeNotPermitted: if attribute.properties?.isDisjoint(with: [.write, .writeWithoutResponse]) ?? false { throw error }
      default: break
      }
    }
    commandsChecked.insert(attribute.handle)
  }
}
