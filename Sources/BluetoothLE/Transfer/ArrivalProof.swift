// SPDX-License-Identifier: Apache-2.0
/// A peer's report of the data that arrived: the number of bytes and their CRC-32 (as in Ethernet and zip), both u32le.
package struct ArrivalReport: Sendable, Equatable, CustomStringConvertible {
  package let count: Int
  package let crc: UInt32

  package init(of bytes: [UInt8]) {
    var crc = CRC32()
    crc.add(bytes)
    self.init(count: bytes.count, crc: crc.value)
  }

  package init(count: Int, crc: UInt32) { (self.count, self.crc) = (count, crc) }

  /// Parses a report. Nil unless the value has eight bytes.
  package init?(_ value: [UInt8]) {
    var reader = ByteReader(value)
    guard let count = try? reader.uint32("count"), let crc = try? reader.uint32("CRC-32"), reader.isAtEnd else { return nil }
    self.count = Int(count)
    self.crc = crc
  }

  package var description: String { "\(count) bytes with CRC-32 \(crcText)" }

  /// The CRC-32 as eight hex digits.
  package var crcText: String { Hex.encode(UInt64(crc), bytes: 4) }
}

/// The reports that prove the arrival of a transfer. After a resume, a device counts from the start of the file or from the resume point,
/// depending on whether the device kept its counter. A match with either report proves the arrival.
package struct ArrivalProof: Sendable, Equatable {
  /// The report for the data that this transfer sent.
  package let part: ArrivalReport
  /// The report for the whole file. Equals `part` if the transfer starts at the first byte of the file.
  package let whole: ArrivalReport

  package enum Outcome: Sendable, Equatable {
    /// The report covers the file from this byte to the end. Byte 0 means the whole file.
    case proven(from: Int)
    /// The last report differs from the file. Nil if no report arrived in time.
    case contradicted(ArrivalReport?)
  }

  /// Compares a report with the proof. Returns nil if the report shows fewer bytes than the file, so that later reports can still match.
  func evaluate(_ report: ArrivalReport) -> Outcome? {
    if report == whole { return .proven(from: 0) }
    // An empty report proves nothing.
    if report == part, part.count > 0 { return .proven(from: whole.count - part.count) }
    // A count at or above the final one never becomes right later.
    return report.count >= whole.count ? .contradicted(report) : nil
  }
}

extension Subscription {
  /// Waits for a report that proves or contradicts the arrival.
  /// - Parameter other: Receives the values that are not reports.
  /// - Throws: The error that ended the subscription, or CancellationError.
  package func arrival(
    of proof: ArrivalProof, until deadline: LoopClock.Instant, other: @LoopActor (ValueEvent) -> Void
  ) async throws -> ArrivalProof.Outcome {
    var last: ArrivalReport?
    while let event = try await next(until: deadline) {
      guard let report = ArrivalReport(event.value) else {
        other(event)
        continue
      }
      if let outcome = proof.evaluate(report) { return outcome }
      last = report
    }
    return .contradicted(last)
  }
}
