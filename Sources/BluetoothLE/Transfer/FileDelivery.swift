// SPDX-License-Identifier: Apache-2.0
/// A delivery of a file to a characteristic. Resumes an earlier transfer, reconnects, verifies the result and remembers the progress.
@LoopActor
package final class FileDelivery {
  package struct Plan: Sendable {
    package let attribute: Selector
    package var transfer = TransferOptions()
    /// The zero-based position of the first byte of the file to send.
    package var offset = 0
    /// Whether to continue the last interrupted transfer of the same file.
    package var resumes = false
    /// The policy for reconnecting after the loss of an established link.
    package var reconnection = ReconnectPolicy.never
    package var verification: Verification?
    /// The longest wait for the final report.
    package var patience = Duration.seconds(30)
    /// The kind of air for `TransferMemory.Place`: `sim` or `replay`. Nil for a radio.
    package var air: String?

    package init(_ attribute: Selector) { self.attribute = attribute }
  }

  package enum Verification: Sendable {
    /// The delivery reads the characteristic's value and compares the value with the file.
    case readBack
    /// The delivery waits for a notification of this characteristic with an `ArrivalReport`.
    case notification(Selector)
  }

  package enum Verdict: Sendable, Equatable {
    case notAsked
    /// The device has the file from this byte to the end. Byte 0 means the whole file.
    case passed(from: Int)
    case failed(VerificationFailure)
  }

  package enum Event: Sendable {
    case transfer(FileTransfer.Event)
    /// The delivery knows no earlier transfer to this characteristic. The transfer starts at byte 0.
    case noEarlierTransfer
    /// The earlier transfer to this characteristic ended at this byte, but sent another file. The transfer starts at byte 0.
    case otherFile(endedAt: Int)
    /// The window has no effect. If `isRequest`, the writes are requests. Otherwise, the adapter does not report acknowledged packets.
    case windowIgnored(isRequest: Bool)
    /// The plan demands Write Commands, which the characteristic does not offer. The device may drop them silently.
    case commandsNotOffered(Attribute)
    /// A notification that is not a report of byte count and CRC-32.
    case ignored([UInt8])
  }

  private let plan: Plan
  private let source: any ByteSource
  private let store: any TransferStore
  private unowned let observer: any DeliveryObserver
  package let transfer: FileTransfer

  package init(_ plan: Plan, _ source: any ByteSource, _ store: any TransferStore, _ observer: any DeliveryObserver) {
    (self.plan, self.source, self.store, self.observer) = (plan, source, store, observer)
    let report: Selector? = if case .notification(let selector)? = plan.verification { selector } else { nil }
    transfer = FileTransfer(to: plan.attribute, plan.transfer, source, report: report)
    transfer.resumes = plan.resumes
    transfer.onEvent = { [unowned observer] in observer.delivery(.transfer($0)) }
    transfer.onProgress = { [unowned observer] in try observer.didProgress($0) }
  }

  /// Delivers the file. Reconnects after a lost link as the plan permits.
  /// - Throws: `TransferError` before the first link, `NothingLeft`, `InterruptedTransfer`, or the error of the link.
  package func run(_ links: any DeviceLinks, _ request: LinkRequest) async throws -> Verdict {
    if !plan.resumes { try await transfer.prepare(from: plan.offset) }
    var (request, policy) = (request, plan.reconnection)
    var wasThere = false
    while true {
      let reconnects = policy.attempts != 0
      do {
        return try await links.withLink(request) { [self] connection in
          wasThere = true
          return try await deliver(on: connection, reconnects: reconnects)
        }
      } catch  where wasThere {
        try await links.pause(after: error, &policy)
        request.restores = true
      }
    }
  }

  /// Delivers the remaining bytes of the file on one link.
  /// - Parameter reconnects: Whether a lost link leads to a reconnection.
  private func deliver(on connection: Connection, reconnects: Bool) async throws -> Verdict {
    let target = try await connection.client.attribute(plan.attribute, discovering: true)
    let place = TransferMemory.Place(connection.identityAddress, target.handle, air: plan.air)
    if transfer.use.count == 0 {
      let memory = store.transfers
      transfer.pace = memory.paces[place]
      if plan.resumes { try await resume(at: memory.points[place]) }
    }
    observer.willSend(on: connection)
    let verdict: Verdict
    do {
      defer { observer.didSend() }
      try await transfer.run(on: connection) { try await check($0, $1, connection) }
      observer.didSend()
      try source.checkUnchanged()
      verdict = try await verify(place, connection)
    } catch TransferError.nothingToSend(_, let total) {
      throw NothingLeft(bytes: total ?? transfer.offset)
    } catch {
      throw transfer.use.count > 0 ? await interruption(error, place, reconnects: reconnects) : error
    }
    if case .failed = verdict {} else { rememberSuccess(place) }
    try await observer.didDeliver(transfer, verdict)
    return verdict
  }

  // MARK: Resuming

  private func resume(at point: TransferMemory.Point?) async throws {
    if let point, try await transfer.prepare(from: plan.offset, remembered: point) { return }
    observer.delivery(point.map { .otherFile(endedAt: $0.offset) } ?? .noEarlierTransfer)
    try await transfer.prepare(from: plan.offset)
  }

  private func rememberSuccess(_ place: TransferMemory.Place) {
    let memory = store.transfers
    if memory.points[place] != nil { store.remember(.point(place, nil)) }
    if let pace = transfer.pace, memory.paces[place] != pace { store.remember(.pace(place, pace)) }
  }

  /// Remembers the progress of an interrupted transfer.
  /// - Returns: The error of the interruption, with the byte at which the transfer can resume.
  private func interruption(_ error: any Error, _ place: TransferMemory.Place, reconnects: Bool) async -> any Error {
    let cause = (error as? IncompleteWrite)?.cause ?? error
    var total = transfer.total ?? transfer.progress.sent
    if cause is any NoDeviceError || cause is TransferError { return cause }
    if let change = (cause as? any ByteSourceError)?.change {
      // A file that has only grown still starts with the bytes sent.
      guard change.now > change.before else { return error }
      total = change.now
    } else if let missing = cause as? SegmentsMissing {
      rememberPace(arrived: missing.arrived, place)
    }
    var isRemembered = false
    if let point = try? await transfer.point(transfer.progress.confirmed) {
      isRemembered = store.remember(.point(place, point))
    } else if transfer.offset == 0, store.transfers.points[place] != nil {
      // An earlier transfer's point does not apply to this one.
      store.remember(.point(place, nil))
    }
    let write = IncompleteWrite(
      mode: transfer.mode?.writeMode ?? .command, progress: transfer.progress, total: total, segments: .max, cause: cause,
      open: transfer.mode == .request ? transfer.segment ?? 0 : 0)
    return InterruptedTransfer(write: write, isRemembered: isRemembered, isResumedHere: reconnects && ReconnectPolicy.mayPass(cause))
  }

  /// The longest remembered pause between two segments, in microseconds. Requests are as fast for a slower device.
  private static let longestPause = 20_000.0

  /// Remembers a pace for a device that drops fast commands, computed from the rate at which bytes arrived.
  private func rememberPace(arrived: Int, _ place: TransferMemory.Place) {
    guard let segment = transfer.segment, arrived > transfer.offset else { return }
    let gap = transfer.use.seconds * 1e6 * Double(segment) / Double(arrived - transfer.offset)
    if let pace = transfer.pace(of: Int(min(gap * 1.1, Self.longestPause))) { store.remember(.pace(place, pace)) }
  }

  // MARK: Verification

  /// Checks before the first segment that the verification is possible.
  private func check(_ target: Attribute, _ mode: TransferOptions.Mode, _ connection: Connection) async throws {
    if case .readBack? = plan.verification {
      if let characteristic = target.characteristic, !characteristic.properties.contains(.read) {
        throw ImpossibleVerification.notReadable(characteristic.uuid)
      }
      let count = try await source.bytes(at: transfer.offset, atMost: WriteProcedure.largestValue + 1).count
      guard count <= WriteProcedure.largestValue else {
        throw ImpossibleVerification.tooLong(source.count.map { $0 - transfer.offset })
      }
    }
    if plan.transfer.pacing.window != nil, mode != .command || connection.client.bearer.unacknowledged == nil {
      observer.delivery(.windowIgnored(isRequest: mode != .command))
    }
    guard mode == .command else { return }
    if plan.transfer.mode == .command, target.properties?.contains(.writeWithoutResponse) == false {
      observer.delivery(.commandsNotOffered(target))
    }
    try await connection.client.checkCommands(to: target)
  }

  private func verify(_ place: TransferMemory.Place, _ connection: Connection) async throws -> Verdict {
    switch plan.verification {
    case nil: .notAsked
    case .readBack: try await compare(connection.client)
    case .notification: try await awaitReport(place)
    }
  }

  private func compare(_ client: Client) async throws -> Verdict {
    let target = try await client.attribute(plan.attribute, discovering: true)
    let value = try await client.read(target.handle)
    // At most one value, so the bytes sent are still in memory. Earlier bytes may not be.
    let sent = try await source.bytes(at: transfer.offset, atMost: WriteProcedure.largestValue)
    if value[...] == sent { return .passed(from: transfer.offset) }
    if value.count == transfer.progress.sent, value.suffix(sent.count) == sent,
      ArrivalReport(of: value) == (try await transfer.proof()).whole
    {
      return .passed(from: 0)
    }
    return .failed(.otherValue(target.uuid, count: value.count, sent: sent.count))
  }

  private func awaitReport(_ place: TransferMemory.Place) async throws -> Verdict {
    let outcome = try await transfer.verify(until: EventLoop.shared.now.advanced(by: plan.patience)) {
      self.observer.delivery(.ignored($0.value))
    }
    switch outcome {
    case nil: return .notAsked
    case .proven(let beginning): return .passed(from: beginning)
    case .contradicted(let report):
      if let report, transfer.mode == .command, report.count < transfer.progress.sent {
        rememberPace(arrived: transfer.offset + report.count, place)
      }
      var failure = VerificationFailure.Report(
        report: report, proof: try await transfer.proof(), offset: transfer.offset, sent: transfer.progress.sent,
        isCommand: transfer.mode == .command)
      // The device has the start of the file, so the transfer can resume.
      if let report, report.count > 0, let known = try? await transfer.place(of: report), let point = try? await transfer.point(known) {
        failure.resumption = .init(offset: known, isRemembered: store.remember(.point(place, point)))
      }
      return .failed(.otherReport(failure))
    }
  }
}

/// An observer that shows the progress and the result of a delivery.
@LoopActor
package protocol DeliveryObserver: AnyObject {
  func delivery(_ event: FileDelivery.Event)
  /// Tells the observer that the first segment on a new link follows.
  func willSend(on connection: Connection)
  /// Receives the progress after every segment. An error ends the transfer.
  func didProgress(_ transfer: FileTransfer) throws
  /// Tells the observer, once or twice, that no more segments follow on this link.
  func didSend()
  /// Receives the verdict after the last segment, while the link is still up.
  func didDeliver(_ transfer: FileTransfer, _ verdict: FileDelivery.Verdict) async throws
}

// MARK: Errors

/// The error of an interrupted transfer, with its progress and cause.
package struct InterruptedTransfer: Error, Sendable {
  package let write: IncompleteWrite
  /// Whether the store keeps the position, so that `FileDelivery.Plan.resumes` can continue this transfer.
  package let isRemembered: Bool
  /// Whether the delivery itself reconnects and resumes the transfer.
  package let isResumedHere: Bool
}

extension InterruptedTransfer: PassingError { package var mayPass: Bool { write.mayPass } }

/// The error for a transfer that has nothing left to send, because all bytes arrived earlier.
package struct NothingLeft: Error, Sendable, Equatable {
  package let bytes: Int
}

/// The reason why the delivery cannot verify a transfer.
package enum ImpossibleVerification: Error, Sendable, Equatable {
  case notReadable(UUID)
  /// The file has more bytes than the longest value, which has 512. The length is in bytes, or nil if unknown.
  case tooLong(Int?)
}

/// The difference between the file and the data on the device.
package enum VerificationFailure: Sendable, Equatable {
  /// The value of the characteristic differs from the file. `count` and `sent` are lengths in bytes.
  case otherValue(UUID?, count: Int, sent: Int)
  case otherReport(Report)

  package struct Report: Sendable, Equatable {
    /// The last report. Nil if no report arrived in time.
    package let report: ArrivalReport?
    package let proof: ArrivalProof
    /// The position of the first byte sent, from 0 at the start of the file.
    package let offset: Int
    /// The position after the last byte sent, from 0 at the start of the file.
    package let sent: Int
    package let isCommand: Bool
    /// The byte at which a later transfer can resume. Nil if the report does not match the start of the file.
    package internal(set) var resumption: Resumption?
  }

  package struct Resumption: Sendable, Equatable {
    package let offset: Int
    package let isRemembered: Bool
  }
}
