import BluetoothLE
// SPDX-License-Identifier: Apache-2.0
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
  package private(set) var active = 0
  /// Whether the running image goes away with the next start, because nothing confirmed it.
  package private(set) var isOnTrial = false
  /// The mark of the image in slot 1 for the next start.
  package private(set) var pending: Pending?
  /// The next page of a swap or copy, and whether its result is on trial.
  private var swap: (page: Int, isTrial: Bool)?
  /// Whether the bootloader has decided in this start.
  private var hasDecided = false
  private var parsed: [Int: ImageFile?] = [:]
  private let mode: BootMode

  init(_ settings: ManagementSettings) {
    mode = settings.mode
    slots = Array(repeating: [UInt8](repeating: 0xFF, count: settings.slotSize), count: mode.hasTwoSlots ? 2 : 1)
    write(Self.image(version: settings.version, size: settings.imageSize)[...], at: 0, slot: 0)
  }

  // MARK: Contents

  /// The image in a slot, whatever its hash. Nil without one.
  func image(_ slot: Int) -> ImageFile? {
    if let known = parsed[slot] { return known }
    let image = slots.indices.contains(slot) ? try? ImageFile(slots[slot]) : nil
    parsed[slot] = .some(image)
    return image
  }

  /// The image that runs. Nil if the device has none that its bootloader starts.
  package var running: ImageFile? { isBootable(active) ? image(active) : nil }

  func isBootable(_ slot: Int) -> Bool {
    guard let image = image(slot), !image.flags.contains(.nonBootable) else { return false }
    return image.hashCheck == .matches || image.hashCheck == .encrypted
  }

  /// The hash that the device reports for a slot. A compressed image has another one after the bootloader has unpacked it.
  func hash(_ slot: Int) -> [UInt8]? { slot == active ? image(slot)?.runningHash : image(slot)?.hash }

  func write(_ bytes: ArraySlice<UInt8>, at offset: Int, slot: Int) {
    parsed[slot] = nil
    let end = offset + bytes.count
    if offset >= 0, end <= slots[slot].count { slots[slot].replaceSubrange(offset..<end, with: bytes) }
  }

  func erase(page: Int, slot: Int) {
    let start = page * Self.pageSize
    write([UInt8](repeating: 0xFF, count: min(Self.pageSize, slots[slot].count - start))[...], at: start, slot: slot)
  }

  // MARK: Marks

  func mark(_ pending: Pending) { self.pending = pending }

  func confirm() { isOnTrial = false }

  // MARK: Bootloader

  package var isSwapping: Bool { swap != nil }

  func powerOff() { hasDecided = false }

  /// Decides once what the bootloader does at a start. A swap that lost power goes on.
  func begin() {
    guard !hasDecided else { return }
    hasDecided = true
    guard swap == nil else { return }
    if mode.startsHighest {
      let best = slots.indices.filter(isBootable).max { image($0).map(\.version) ?? .zero < image($1).map(\.version) ?? .zero }
      active = best ?? active
    } else if let pending {
      // An image with a wrong hash stays where it is.
      if isBootable(1) { swap = (0, pending == .test && mode.canRevert) }
      self.pending = nil
    } else if isOnTrial {
      if isBootable(1) { swap = (0, false) } else { isOnTrial = false }
    }
  }

  /// Swaps or copies one page. Returns false if nothing is left to do.
  func step() -> Bool {
    guard let swap else { return false }
    let range = swap.page * Self.pageSize..<(swap.page + 1) * Self.pageSize
    let old = Array(slots[0][range])
    write(slots[1][range], at: range.lowerBound, slot: 0)
    if mode.canRevert { write(old[...], at: range.lowerBound, slot: 1) }
    self.swap?.page += 1
    if range.upperBound == slots[0].count {
      isOnTrial = swap.isTrial
      if !mode.canRevert { erase(page: 0, slot: 1) }
      self.swap = nil
    }
    return true
  }

  /// Makes an unsigned image with the right hash, whose code has `size` bytes.
  package nonisolated static func image(version: ImageVersion, size: Int) -> [UInt8] {
    var image = ByteWriter(capacity: size + 72)
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

extension ImageVersion { fileprivate static let zero = Self(major: 0, minor: 0, revision: 0) }
