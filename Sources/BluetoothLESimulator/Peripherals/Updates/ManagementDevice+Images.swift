// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// The image group of MCUmgr: the list, marks, uploads and erasure of images (Zephyr, `img_mgmt.c`).
extension ManagementDevice {
  /// An upload to slot 1. The client may shorten the SHA-256 of its file.
  struct Upload {
    let size: Int
    let sha: [UInt8]
    var offset: Int
  }

  // MARK: List and marks

  var list: CBOR {
    let entries = images.slots.indices.compactMap { slot -> CBOR? in
      guard let image = images.image(slot), let hash = images.hash(slot) else { return nil }
      let (isActive, pending) = (slot == images.active, slot == 1 ? images.pending : nil)
      return .map([
        "slot": .integer(slot), "version": .text(image.version.description.replacing("+", with: ".")), "hash": .bytes(hash),
        "bootable": .bool(!image.flags.contains(.nonBootable)), "pending": .bool(pending != nil),
        // The image that a trial returns to is the confirmed one.
        "confirmed": .bool(isActive != images.isOnTrial), "active": .bool(isActive), "permanent": .bool(pending == .permanent),
      ])
    }
    return .map(["images": .array(entries), "splitStatus": .integer(0)])
  }

  func setState(_ body: CBOR) throws(Failure) -> CBOR {
    let confirms = body["confirm"]?.bool ?? false
    var slot = images.active
    if let hash = body["hash"]?.bytes, !hash.isEmpty {
      guard let found = images.slots.indices.first(where: { images.hash($0) == hash }) else { throw .groupCode(8) }
      slot = found
    } else if !confirms {
      throw .groupCode(24)
    }
    if slot == images.active {
      guard confirms else { throw .groupCode(33) }
      guard images.pending == nil else { throw .groupCode(28) }
      images.isOnTrial = false
    } else {
      guard !images.isOnTrial, images.pending != .permanent || confirms else { throw .groupCode(28) }
      images.pending = confirms ? .permanent : .test
    }
    return list
  }

  // MARK: Uploads

  private var largestImage: Int { settings.slotSize - ImageSlots.pageSize }

  func receive(_ body: CBOR, _ time: inout Duration) throws(Failure) -> CBOR {
    guard let offset = body["off"]?.integer, offset >= 0 else { throw .code(3) }
    let data = body["data"]?.bytes ?? []
    if offset == 0 { try begin(body, data, &time) }
    let isTaken = offset == upload?.offset
    if isTaken, let upload, data.count > upload.size - offset { throw .groupCode(31) }
    let kept = ledger.receive(data.count, at: offset, isTaken: isTaken)
    if isTaken { images.write(data.prefix(kept ?? data.count), at: offset, slot: 1) }
    if kept != nil { throw losePower() }
    if isTaken { upload?.offset += data.count }
    guard let upload, upload.offset == upload.size else { return .map(["off": .integer(upload?.offset ?? 0)]) }
    self.upload = nil
    time += settings.hashTime
    return .map(["off": .integer(upload.size), "match": .bool(hasImage(upload.size, upload.sha))])
  }

  /// Whether slot 1 begins with bytes of this SHA-256.
  private func hasImage(_ size: Int, _ sha: [UInt8]) -> Bool { SHA2.sha256.hash(images.slots[1][..<size]) == sha }

  /// Begins an upload, unless the client resumes this one. The slot may hold the whole file already.
  private func begin(_ body: CBOR, _ data: [UInt8], _ time: inout Duration) throws(Failure) {
    guard data.count >= 32 else { throw .groupCode(22) }
    guard let size = body["len"]?.integer, size >= data.count else { throw .groupCode(21) }
    guard ImageFile.isImage(data) else { throw .groupCode(23) }
    let sha = body["sha"]?.bytes ?? []
    if let upload, !sha.isEmpty, upload.sha == sha, upload.offset > 0 { return }
    guard body["image"]?.integer ?? 0 == 0, images.isFree else { throw .groupCode(9) }
    guard size <= largestImage else { throw .groupCode(30) }
    if upload?.sha != sha { ledger.beginImage() }
    let isThere = hasImage(size, sha)
    upload = Upload(size: size, sha: sha, offset: isThere ? size : 0)
    if !isThere { try erase(size, &time) }
  }

  private func erase(_ size: Int, _ time: inout Duration) throws(Failure) {
    for page in 0..<(size + ImageSlots.pageSize - 1) / ImageSlots.pageSize {
      time += settings.pageEraseTime
      images.erase(page: page)
      if ledger.page() { throw losePower() }
    }
  }

  func erase(_ body: CBOR, _ time: inout Duration) throws(Failure) -> CBOR {
    let slot = body["slot"]?.integer ?? 1
    guard images.slots.indices.contains(slot) else { throw .groupCode(14) }
    guard slot != images.active, images.isFree else { throw .groupCode(9) }
    upload = nil
    try erase(settings.slotSize, &time)
    return .map([:])
  }

  var slotInfo: CBOR {
    let slots = images.slots.indices.map { CBOR.map(["slot": .integer($0), "size": .integer(settings.slotSize)]) }
    let image = CBOR.map(["image": .integer(0), "slots": .array(slots), "max_image_size": .integer(largestImage)])
    return .map(["images": .array([image])])
  }
}
