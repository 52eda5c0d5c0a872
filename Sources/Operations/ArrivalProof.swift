import Bluetooth
package import EventLoop
package import GATT
import Text

/// What a peer says has arrived: the number of octets and their CRC-32 (as in Ethernet and zip), both u32le.
package struct ArrivalReport: Sendable, Equatable, CustomStringConvertible {
  package let count: Int
  package let crc: UInt32

  package init(of octets: [UInt8]) {
    var crc = CRC32()
    crc.add(octets)
    self.init(count: octets.count, crc: crc.value)
  }

  package init(count: Int, crc: UInt32) {
    self.count = count
    self.crc = crc
  }

  /// Nil for anything but eight octets.
  package init?(_ value: [UInt8]) {
    var reader = ByteReader(value)
    guard let count = try? reader.uint32("count"), let crc = try? reader.uint32("CRC-32"), reader.isAtEnd else { return nil }
    self.count = Int(count)
    self.crc = crc
  }

  package var description: String { "\(count) octets with CRC-32 \(crcText)" }

  /// Eight hex digits.
  package var crcText: String {
    let digits = String(crc, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

/// What a peer's reports are compared with. When a transfer goes on in the middle of a file, the peer may have counted from the beginning of the
/// file (its counter survived the link) or from where it went on (its counter began anew): both prove the arrival.
package struct ArrivalProof: Sendable, Equatable {
  /// Of what this transfer sends.
  package let part: ArrivalReport
  /// Of the whole file; the same when the transfer begins at its beginning.
  package let whole: ArrivalReport

  package enum Outcome: Sendable, Equatable {
    /// The report is of the file from this byte on; 0: of the whole file.
    case proven(from: Int)
    /// The peer reports something else for good, or nothing (nil) in time.
    case contradicted(ArrivalReport?)
  }

  /// Nil: wait for the next report, the peer has not seen all yet.
  func judge(_ report: ArrivalReport) -> Outcome? {
    if report == whole { return .proven(from: 0) }
    // A report of nothing proves nothing.
    if report == part, part.count > 0 { return .proven(from: whole.count - part.count) }
    // The peer has its final count, or more: waiting longer cannot make it right.
    return report.count >= whole.count ? .contradicted(report) : nil
  }
}

extension Subscription {
  /// Waits for a report that proves the arrival, or that contradicts it.
  /// - Parameter other: gets what is no report.
  /// - Throws: what the end of the subscription throws, CancellationError.
  package func arrival(
    of proof: ArrivalProof, until deadline: LoopClock.Instant, other: @LoopActor (ValueEvent) -> Void
  ) async throws -> ArrivalProof.Outcome {
    var last: ArrivalReport?
    while let event = try await next(until: deadline) {
      guard let report = ArrivalReport(event.value) else {
        other(event)
        continue
      }
      if let outcome = proof.judge(report) { return outcome }
      last = report
    }
    return .contradicted(last)
  }
}
