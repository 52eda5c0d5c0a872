// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLEFirmware

/// The flash of a device with MCUboot: one or two slots, and the decisions of the bootloader, which survive a power cut.
@LoopActor
package final class ImageSlots {
  package enum Pending: Sendable { case test, permanent }

  package nonisolated static let pageSize = 4096
  /// The bytes of header and TLVs of an image that `image` makes.
  nonisolated static let overhead = 72
  /// The contents of the slots. Erased bytes are 0xFF.
  package private(set) var slots: [[UInt8]]
  /// The slot that runs. The other one takes uploads.
  package let active = 0
  /// Whether the running image goes away with the next start, because nothing confirmed it.
  package internal(set) var isOnTrial = false
  /// The mark of the image in slot 1 for the next start.
  package internal(set) var pending: Pending?
  /// The next page of a swap or copy, and whether its result is on trial.
  private var swap: (page: Int, isTrial: Bool)?
  private let canRevert: Bool

  init(_ settings: ManagementSettings) {
    canRevert = settings.mode.canRevert
    slots = Array(repeating: [UInt8](repeating: 0xFF, count: settings.slotSize), count: settings.mode == .singleApplication ? 1 : 2)
    write(Self.image(version: settings.version, size: settings.imageSize)[...], at: 0, slot: active)
  }

  // MARK: Contents

  /// The image in a slot, whatever its hash. Nil without one.
  func image(_ slot: Int) -> ImageFile? { try? ImageFile(slots[slot]) }

  /// The image that runs. Nil if the device has none that its bootloader starts.
  package var running: ImageFile? { isBootable(active) ? image(active) : nil }

  private func isBootable(_ slot: Int) -> Bool {
    guard let image = image(slot), !image.flags.contains(.nonBootable) else { return false }
    return image.hashCheck == .matches || image.hashCheck == .encrypted
  }

  /// The hash that the device reports for a slot. A compressed image has another one after the bootloader has unpacked it.
  func hash(_ slot: Int) -> [UInt8]? { slot == active ? image(slot)?.runningHash : image(slot)?.hash }

  /// Whether there is a slot 1 that takes uploads.
  var isFree: Bool { slots.count > 1 && pending == nil && !isOnTrial }

  /// Writes bytes that end in the slot.
  func write(_ bytes: ArraySlice<UInt8>, at offset: Int, slot: Int) {
    slots[slot].replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  /// Erases a page of slot 1.
  func erase(page: Int) { write([UInt8](repeating: 0xFF, count: Self.pageSize)[...], at: page * Self.pageSize, slot: 1) }

  // MARK: Bootloader

  package var isSwapping: Bool { swap != nil }

  /// Decides what the bootloader does at the next start. A swap that lost power goes on.
  func decide() {
    guard swap == nil, pending != nil || isOnTrial else { return }
    // An image with a wrong hash stays where it is.
    if isBootable(1) { swap = (0, pending == .test && canRevert) }
    (pending, isOnTrial) = (nil, false)
  }

  /// Swaps or copies one page, if one is left.
  func step() {
    guard let swap else { return }
    let range = swap.page * Self.pageSize..<(swap.page + 1) * Self.pageSize
    let old = Array(slots[0][range])
    write(slots[1][range], at: range.lowerBound, slot: 0)
    if canRevert { write(old[...], at: range.lowerBound, slot: 1) }
    self.swap?.page += 1
    guard range.upperBound == slots[0].count else { return }
    if !canRevert { erase(page: 0) }
    (self.swap, isOnTrial) = (nil, swap.isTrial)
  }

  /// Makes an unsigned image with the right hash, whose code has `size` bytes.
  package nonisolated static func image(version: ImageVersion, size: Int) -> [UInt8] {
    var image = ByteWriter(capacity: size + overhead)
    for number in [0x96F3_B83D, 0, 32, UInt32(clamping: size), 0] { image.uint32(number) }
    image.append([version.major, version.minor])
    image.uint16(version.revision)
    for number in [version.build, 0] { image.uint32(number) }
    image.append((0..<size).lazy.map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8 &+ Int(version.major)) })
    let hash = SHA2.sha256.hash(image.bytes)
    for number in [0x6907, 40, 0x10, 32] as [UInt16] { image.uint16(number) }
    image.append(hash)
    return image.bytes
  }
}
