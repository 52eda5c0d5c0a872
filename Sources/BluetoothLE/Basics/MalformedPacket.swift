// SPDX-License-Identifier: Apache-2.0
/// An error in the format of a packet, with the field and its position, so that you can check a capture by hand.
package struct MalformedPacket: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error in the specification's words ("Read By Type Response: length byte 0").
  package let reason: String
  /// The offset of the invalid byte from the start of the packet, in bytes.
  package let offset: Int
  private let isOffsetInReason: Bool

  package init(_ reason: String, at offset: Int, isOffsetInReason: Bool = false) {
    (self.reason, self.offset, self.isOffsetInReason) = (reason, offset, isOffsetInReason)
  }

  package var description: String { isOffsetInReason ? reason : "\(reason) (at byte \(offset))" }
}
