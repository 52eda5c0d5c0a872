// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEText

extension ManagementClient {
  /// Uploads bytes, usually an image up to the end of its TLVs.
  ///
  /// The bound for messages of B bytes is D bytes in the time that their p = ⌈B / (MTU − 3)⌉ writes and the answer of 18 bytes take in
  /// connection events of whole packets, with D = B − 26 bytes of data (after the header, and a map with `off` and `data`). A device that
  /// answers while the central still sends other requests allows it, because the next request follows each answer in the same event.
  /// If each answer comes in the event after the last write, and the next request in the one after, the bound is W × D / ((⌈p / e⌉ + 1) × i)
  /// at most, with W requests at a time, one less than the device's buffers, e writes in an event, and the interval i.
  /// - Parameters:
  ///   - image: The number of the image, or of a slot from `uploadImage(forSlot:)`.
  ///   - resumes: Whether to continue with the bytes that the device has.
  ///   - onProgress: Receives the offsets after the last byte sent and after the last confirmed one, first where the upload begins.
  /// - Throws: ManagementError; the errors of Write Commands and of `onProgress`.
  package func upload(
    _ bytes: ArraySlice<UInt8>, image: Int = 0, resumes: Bool = true,
    _ onProgress: @LoopActor (_ sent: Int, _ confirmed: Int) throws -> Void = { _, _ in }
  ) async throws {
    var fields = try await prepareUpload(bytes, image: image)
    var upload = ImageUpload(total: fields.bytes.count, window: try await parameters()?.window ?? 1)
    var (isBegun, silences, busyEnd): (Bool, Int, LoopClock.Instant?) = (false, 0, nil)
    defer { forgetOpen() }
    while !upload.isComplete {
      while upload.canSend {
        let (body, count) = fields.request(at: upload.next)
        // The device erases the slot in the first request, and computes the hash in the last one.
        let limit = upload.next == 0 || upload.next + count == upload.total ? Self.longLimit : .seconds(10)
        upload.sent(try await send(.upload, body), count, within: limit)
        if isBegun { try onProgress(upload.next, upload.confirmed) }
      }
      guard let request = upload.open.first else { throw ManagementError.uploadStuck(at: upload.next, tries: 1) }
      guard let answer = try await answer(until: request.deadline) else {
        silences += 1
        guard silences < 3 else { throw ManagementError.noAnswer(.upload, after: request.limit * silences, tries: silences) }
        try await clearServer()
        upload.restart(at: upload.confirmed)
        continue
      }
      silences = 0
      if answer.refusal == .busy, busyEnd.map({ EventLoop.shared.now < $0 }) ?? true {
        busyEnd = busyEnd ?? EventLoop.shared.now.advanced(by: Self.busyLimit)
        forgetOpen()
        upload.restart(at: upload.confirmed)
        try await EventLoop.shared.sleep(for: Self.busyPause)
        continue
      }
      let values = try answer.result.get()
      guard let offset = values["off"]?.integer else { throw ManagementError.invalidAnswer(.upload) }
      // Only the device's hash proves that it has the whole image already.
      if !isBegun, !resumes, offset > request.bytes.upperBound, values["match"]?.bool != true {
        guard fields.hash != nil else { throw ManagementError.uploadStuck(at: offset, tries: 1) }
        // Without the hash, the device cannot find bytes to continue with.
        fields.hash = nil
        upload.restart(at: 0)
        continue
      }
      try upload.answered(answer.sequence, offset: offset)
      if upload.confirmed == request.bytes.upperBound { busyEnd = nil }
      if upload.isComplete, fields.hash != nil, values["match"]?.bool == false { throw ManagementError.uploadMismatch }
      // Some servers write only whole words, and ask again for the rest.
      if !isBegun { try upload.confirmed <= request.bytes.upperBound ? onProgress(0, 0) : onProgress(upload.confirmed, upload.confirmed) }
      isBegun = true
      try onProgress(upload.next, upload.confirmed)
    }
  }
}

/// The bytes of an upload, and the fields of its requests with offset 0. Each restart of the upload sends all of them again.
package struct UploadFields: Sendable {
  let bytes: [UInt8]
  /// The maximum length of a request, in bytes.
  let limit: Int
  private let image: Int
  /// The SHA-256 of all bytes, by which the device recognizes an upload that it has begun. Nil if the first request has no room for it.
  var hash: [UInt8]?

  /// Returns nil if the first request has no room for 32 bytes of data: the header of an image, which devices check.
  init?(_ bytes: ArraySlice<UInt8>, image: Int, limit: Int) {
    (self.bytes, self.image, self.limit, hash) = (Array(bytes), image, limit, SHA2.sha256.hash(bytes))
    if room(at: 0) < 32 { hash = nil }
    guard room(at: 0) >= 32 else { return nil }
  }

  private func body(_ offset: Int, _ data: ArraySlice<UInt8>) -> CBOR {
    let isFirst = offset == 0
    return .present([
      ("off", .integer(offset)), ("data", .bytes(Array(data))), ("len", isFirst ? .integer(bytes.count) : nil),
      ("sha", isFirst ? hash.map { .bytes($0) } : nil), ("image", isFirst && image != 0 ? .integer(image) : nil),
    ])
  }

  /// The maximum number of data bytes in a request. Their length takes one more byte from 24 on, and two more from 256 on.
  private func room(at offset: Int) -> Int {
    let room = limit - ManagementMessage.headerSize - body(offset, []).encoded.count
    return max(min(23, room), min(0xFF, room - 1), min(0xFFFF, room - 2))
  }

  /// Returns the request that fills a message, and the number of its data bytes.
  func request(at offset: Int) -> (body: CBOR, count: Int) {
    let count = min(max(1, room(at: offset)), bytes.count - offset)
    return (body(offset, bytes[offset..<offset + count]), count)
  }
}
