/// Octets that do not follow their format. Says what was being read and where, so that a capture can be checked by hand.
package struct MalformedPacket: Error, Equatable, Sendable, CustomStringConvertible {
  /// What was wrong, in the specification's words ("Read By Type Response: length octet 0").
  package let reason: String
  /// Offset of the offending octet from the start of the packet.
  package let offset: Int

  package init(_ reason: String, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  package var description: String { "\(reason) (at byte \(offset))" }
}
