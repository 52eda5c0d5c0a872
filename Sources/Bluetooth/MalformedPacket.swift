/// An error in the format of a packet, with the field and its position, so that you can check a capture by hand.
package struct MalformedPacket: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error in the specification's words ("Read By Type Response: length octet 0").
  package let reason: String
  /// The offset of the invalid byte from the start of the packet, in bytes.
  package let offset: Int

  package init(_ reason: String, at offset: Int) { (self.reason, self.offset) = (reason, offset) }

  package var description: String { reason.contains(" at byte ") ? reason : "\(reason) (at byte \(offset))" }
}
