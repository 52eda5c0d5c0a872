// SPDX-License-Identifier: Apache-2.0
/// The reason why a packet does not fit its frame.
package enum PacketFault: Error, Sendable, Equatable {
  /// The first constant bytes of the packet belong to another frame.
  case foreign
  /// The packet has too few bytes. The numbers are its length and the required length in bytes.
  case cut(Int, needs: Int)
  /// The packet has too many bytes. The numbers are its length and the maximum length in bytes.
  case tooLong(Int, allowed: Int)
  case checksum(expected: [UInt8], found: [UInt8])
  /// The packet has wrong constant bytes at `offset`, in bytes from the start of the packet.
  case bytes(offset: Int, expected: [UInt8], found: [UInt8])
  /// The bytes of the named field are not UTF-8, or are not one of its allowed texts.
  case text(field: String, [UInt8])
  /// A size field holds a size that is negative, too large, or not a multiple of the item size.
  case size(Int128)
}
