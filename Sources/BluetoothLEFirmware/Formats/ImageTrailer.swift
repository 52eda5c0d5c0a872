// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The state of the bootloader in the last bytes of a padded image. A device that gets them swaps at the next reset, although
/// no command marked the image for it.
package struct ImageTrailer: Hashable, Sendable {
  /// The distance of the fields, in bytes: 8, 16 or 32.
  package let alignment: Int
  /// The fields as stored: 1 is set, and 0xFF is not set.
  package let imageOK, copyDone, swapInfo: UInt8
  /// The number of bytes to swap. 0xFFFFFFFF before a swap.
  package let swapSize: UInt32

  /// Whether the image stays without a confirmation, so that the device cannot revert it.
  package var isConfirmed: Bool { imageOK == 1 }

  private static let magic: [UInt8] = [
    0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F, 0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80,
  ]
  /// The last 14 bytes of the magic number of a trailer with a greater alignment. The first two bytes are the alignment.
  private static let alignedMagic: [UInt8] = [0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D, 0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A]

  /// Reads the trailer at the end of the padding after an image. Returns nil without one.
  init?(inPadding padding: ArraySlice<UInt8>) {
    let magic = padding.suffix(16)
    if magic.elementsEqual(Self.magic) {
      alignment = 8
    } else if magic.count == 16, magic.dropFirst(2).elementsEqual(Self.alignedMagic) {
      alignment = Int(ByteOrder.little.number(magic.prefix(2)))
    } else {
      return nil
    }
    // The magic number takes a whole unit of the alignment.
    let fields = magic.endIndex - max(16, alignment)
    guard [8, 16, 32].contains(alignment), fields - 4 * alignment >= padding.startIndex else { return nil }
    (imageOK, copyDone, swapInfo) = (padding[fields - alignment], padding[fields - 2 * alignment], padding[fields - 3 * alignment])
    swapSize = UInt32(truncatingIfNeeded: ByteOrder.little.number(padding[(fields - 4 * alignment)...].prefix(4)))
  }
}
