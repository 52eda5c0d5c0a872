// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// An image on a device.
package struct ImageState: Hashable, Sendable {
  /// The number of the image: 0 on most devices. Devices with several processors have several images.
  package let image: Int
  /// The slot of the image: 0 or 1.
  package let slot: Int
  /// The version as imgtool writes it, such as `1.2.3+4`, although devices write `1.2.3.4`.
  package let version: String?
  /// The hash in the image's TLVs: 32, 48 or 64 bytes. Nil if the device does not report it.
  package let hash: [UInt8]?
  /// The flags of the slot. Devices may leave out flags that are not set.
  package let isBootable, isPending, isConfirmed, isActive, isPermanent: Bool

  /// Reads an entry. Returns nil without a slot number.
  fileprivate init?(_ entry: CBOR) {
    guard let slot = entry["slot"]?.integer, let image = (entry["image"] ?? .unsigned(0)).integer, min(slot, image) >= 0 else { return nil }
    func flag(_ key: String) -> Bool { entry[key]?.bool ?? false }
    (self.image, self.slot, hash) = (image, slot, entry["hash"]?.bytes)
    version = entry["version"]?.text.map { ImageVersion($0)?.description ?? $0 }
    (isBootable, isPending, isConfirmed) = (flag("bootable"), flag("pending"), flag("confirmed"))
    (isActive, isPermanent) = (flag("active"), flag("permanent"))
  }
}

package struct ImageList: Hashable, Sendable {
  package let images: [ImageState]
  /// The number of entries that have no valid numbers. They do not hide the others.
  package let unreadable: Int

  /// Reads an answer with the member `images`. Returns nil without one.
  init?(_ answer: CBOR) {
    guard let entries = answer["images"]?.array else { return nil }
    images = entries.compactMap { ImageState($0) }
    unreadable = entries.count - images.count
  }
}

package struct SlotInfo: Hashable, Sendable {
  /// The number of the image, and the slot of this image: 0 or 1.
  package let image, slot: Int
  /// The size in bytes.
  package let size: Int?
  /// The number to upload with, so that an image gets into this slot. Nil if the device does not take uploads for a certain slot.
  package let uploadImage: Int?
  /// The maximum size of an upload for this image, in bytes.
  package let maximumImageSize: Int?

  /// The number of the slot over all images, as `erase` counts.
  package var number: Int { 2 * image + slot }

  /// Reads an answer with the member `images`. Ignores entries without valid numbers. Returns nil without the member.
  static func list(_ answer: CBOR) -> [Self]? {
    func count(_ value: CBOR?) -> Int? { value?.integer.flatMap { (0...0xFFFF_FFFF).contains($0) ? $0 : nil } }
    return answer["images"]?.array?.flatMap { image in
      (image["slots"]?.array ?? []).compactMap { slot in
        guard let imageNumber = count(image["image"]), let slotNumber = count(slot["slot"]) else { return nil }
        return Self(
          image: imageNumber, slot: slotNumber, size: count(slot["size"]), uploadImage: count(slot["upload_image_id"]),
          maximumImageSize: count(image["max_image_size"]))
      }
    }
  }
}
