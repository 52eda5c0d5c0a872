// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// The image group of MCUmgr: the list, marks, uploads and erasure of images (Zephyr, `img_mgmt.c`).
extension ManagementDevice {
  typealias Answer = ManagementMessage.Answer

  /// What a request asks of the device: to erase pages of a slot, to wait, and to answer. Without an answer, the device lost power.
  struct Outcome {
    var slot = 0
    var pages = 0..<0
    var pause = Duration.zero
    var answer: @LoopActor () -> Answer?
  }

  /// An upload. The client may shorten the SHA-256 of its file.
  struct Upload {
    let slot, size: Int
    let sha: [UInt8]
    var offset = 0
  }

  func imageGroup(_ command: UInt8, isWrite: Bool, _ body: CBOR) -> Outcome {
    switch (command, isWrite) {
    case (0, false): return Outcome { self.list }
    case (0, true): return Outcome { self.setState(body) }
    case (1, true): return receive(body)
    case (5, true): return erase(body["slot"]?.integer ?? 1)
    case (6, false): return Outcome { self.slotInfo }
    default: return Outcome { .unsupported }
    }
  }

  // MARK: List and marks

  private var list: Answer {
    let entries = images.slots.indices.compactMap { slot -> CBOR? in
      guard let image = images.image(slot), let hash = images.hash(slot) else { return nil }
      let (isActive, pending) = (slot == images.active && !isLoader, slot == 1 ? images.pending : nil)
      // The image that a trial returns to is the confirmed one.
      let isConfirmed = isActive != images.isOnTrial && slot < 2
      return .map([
        "slot": .integer(slot), "version": .text(image.version.description.replacing("+", with: ".")), "hash": .bytes(hash),
        "bootable": .bool(!image.flags.contains(.nonBootable)), "pending": .bool(pending != nil), "confirmed": .bool(isConfirmed),
        "active": .bool(isActive), "permanent": .bool(pending == .permanent),
      ])
    }
    return .map(["images": .array(entries), "splitStatus": .integer(0)])
  }

  private func setState(_ body: CBOR) -> Answer {
    guard settings.mode.hasTwoSlots, !settings.mode.startsHighest else { return .unsupported }
    let confirms = body["confirm"]?.bool ?? false
    var slot = images.active
    if let hash = body["hash"]?.bytes, !hash.isEmpty {
      guard let found = images.slots.indices.first(where: { images.hash($0) == hash }) else { return .groupFailure(8) }
      slot = found
    } else if !confirms {
      return .groupFailure(24)
    }
    if slot == images.active {
      guard confirms else { return .groupFailure(33) }
      guard images.pending == nil else { return .groupFailure(28) }
      images.confirm()
      return list
    }
    guard !confirms || settings.confirmsOthers else { return .groupFailure(32) }
    guard !images.isOnTrial, images.pending != .permanent || confirms else { return .groupFailure(28) }
    images.mark(confirms ? .permanent : .test)
    return list
  }

  // MARK: Uploads

  /// The slot that takes uploads of an image number. Nil if it is in use.
  private func freeSlot(_ number: Int) -> Int? {
    if isLoader { return number == 0 ? 0 : nil }
    let slot = settings.allowsDirectUpload && number > 0 ? number - 1 : number == 0 ? 1 - images.active : 2
    return images.slots.indices.contains(slot) && slot != images.active && images.pending == nil && !images.isOnTrial ? slot : nil
  }

  private var largestImage: Int { settings.slotSize - ImageSlots.pageSize }

  private func receive(_ body: CBOR) -> Outcome {
    guard let offset = body["off"]?.integer, offset >= 0 else { return Outcome { .invalid } }
    let data = body["data"]?.bytes ?? []
    if offset == 0 { return begin(body, data) }
    guard let upload, offset == upload.offset else { return refuse(data, at: offset) }
    guard offset + data.count <= upload.size else { return Outcome { .groupFailure(31) } }
    var outcome = Outcome { self.take(data) }
    if offset + data.count == upload.size { outcome.pause = settings.hashTime }
    return outcome
  }

  /// Answers with the offset that the device waits for, and drops the data.
  private func refuse(_ data: [UInt8], at offset: Int) -> Outcome {
    Outcome {
      if self.ledger.receive(data.count, at: offset, isTaken: false) != nil {
        self.host?.restart(.outOfRange)
        return nil
      }
      return .map(["off": .integer(self.upload?.offset ?? 0)])
    }
  }

  private func begin(_ body: CBOR, _ data: [UInt8]) -> Outcome {
    func failure(_ code: Int) -> Outcome { Outcome { .groupFailure(code) } }
    guard data.count >= 32 else { return failure(22) }
    guard let size = body["len"]?.integer, size >= data.count else { return failure(21) }
    guard data.starts(with: [0x3D, 0xB8, 0xF3, 0x96]) else { return failure(23) }
    let sha = body["sha"]?.bytes ?? []
    guard sha.count <= 32 else { return failure(24) }
    if let upload, !sha.isEmpty, upload.sha == sha, upload.offset > 0 { return refuse(data, at: 0) }
    guard let slot = freeSlot(body["image"]?.integer ?? 0) else { return failure(9) }
    guard size <= largestImage else { return failure(30) }
    if body["upgrade"]?.bool ?? false, let running = images.running?.version, ImageVersion(inHeader: data) <= running { return failure(27) }
    if upload?.sha != sha { ledger.beginImage() }
    upload = Upload(slot: slot, size: size, sha: sha)
    // The slot may hold the whole file already.
    if sha.count == 32, SHA2.sha256.hash(images.slots[slot][..<size]) == sha {
      upload = nil
      var outcome = Outcome { .map(["off": .integer(size), "match": .bool(true)]) }
      outcome.pause = settings.hashTime
      return outcome
    }
    var outcome = Outcome { self.take(data) }
    (outcome.slot, outcome.pages) = (slot, 0..<(size + ImageSlots.pageSize - 1) / ImageSlots.pageSize)
    if data.count == size { outcome.pause = settings.hashTime }
    return outcome
  }

  private func take(_ data: [UInt8]) -> Answer? {
    guard let upload else { return .failure(1) }
    let kept = ledger.receive(data.count, at: upload.offset)
    images.write(data.prefix(kept ?? data.count), at: upload.offset, slot: upload.slot)
    if kept != nil {
      host?.restart(.outOfRange)
      return nil
    }
    let offset = upload.offset + data.count
    self.upload?.offset = offset
    guard offset == upload.size else { return .map(["off": .integer(offset)]) }
    self.upload = nil
    guard !upload.sha.isEmpty else { return .map(["off": .integer(offset)]) }
    return .map(["off": .integer(offset), "match": .bool(SHA2.sha256.hash(images.slots[upload.slot][..<offset]) == upload.sha)])
  }

  private func erase(_ slot: Int) -> Outcome {
    guard images.slots.indices.contains(slot) else { return Outcome { .groupFailure(14) } }
    guard slot != images.active, images.pending == nil, !images.isOnTrial else { return Outcome { .groupFailure(9) } }
    upload = nil
    var outcome = Outcome { .map([:]) }
    (outcome.slot, outcome.pages) = (slot, 0..<settings.slotSize / ImageSlots.pageSize)
    return outcome
  }

  private var slotInfo: Answer {
    let slots = images.slots.indices.map { slot -> CBOR in
      let size: CBOR = .integer(settings.slotSize)
      guard settings.allowsDirectUpload else { return .map(["slot": .integer(slot), "size": size]) }
      return .map(["slot": .integer(slot), "size": size, "upload_image_id": .integer(slot + 1)])
    }
    return .map([
      "images": .array([.map(["image": .integer(0), "slots": .array(slots), "max_image_size": .integer(largestImage)])])
    ])
  }
}

extension ImageVersion {
  /// Reads the version in the first 32 bytes of an image.
  fileprivate init(inHeader bytes: [UInt8]) {
    self.init(
      major: bytes[20], minor: bytes[21], revision: bytes.uint16(at: 22),
      build: UInt32(truncatingIfNeeded: ByteOrder.little.number(bytes[24..<28])))
  }
}
