// SPDX-License-Identifier: Apache-2.0
/// A trial of one mode, segment size, window and gap for sending to a characteristic.
package struct TransferTrial: Sendable, Equatable {
  package let mode: TransferOptions.Mode
  /// The number of bytes per segment.
  package let segment: Int
  /// The maximum number of segments in flight. Nil means the limit of the L2CAP channel.
  package let window: Int?
  /// The pause between segments. Nil lets the trial search for the shortest pause.
  package let gap: Duration?

  package struct Result: Sendable, Equatable {
    package let trial: TransferTrial
    package let sent: Int
    /// The number of bytes that arrived, according to the device.
    package let arrived: Int
    /// The seconds from the first segment to the device's report of the last byte, or after a loss, until the client sent the last byte.
    package let seconds: Double
    /// The pause between segments that the trial found. Nil if the trial did not search, or found none.
    package let gap: Duration?

    package var lost: Int { max(0, sent - arrived) }
    /// The rate of arrived bytes, in bytes per second.
    package var rate: Double { seconds > 0 ? Double(arrived) / seconds : 0 }
  }

  /// Returns the trials of all combinations. Requests use neither windows nor gaps, so each segment size has one trial.
  package static func all(modes: [TransferOptions.Mode], segments: [Int], windows: [Int?], gaps: [Duration?]) -> [TransferTrial] {
    var trials: [TransferTrial] = []
    for mode in modes {
      for segment in segments {
        guard mode == .command else {
          trials.append(TransferTrial(mode: mode, segment: segment, window: nil, gap: .zero))
          continue
        }
        for window in windows {
          // An adaptive pace has no window.
          for gap in gaps where gap != nil || window == nil {
            trials.append(TransferTrial(mode: mode, segment: segment, window: window, gap: gap))
          }
        }
      }
    }
    return trials
  }

  /// Returns the fastest result without loss. Returns nil if every result has a loss.
  package static func best(_ results: [Result]) -> Result? { results.filter { $0.lost == 0 && $0.arrived > 0 }.max { $0.rate < $1.rate } }

  /// Sends `count` test bytes, then asks the device how many bytes arrived.
  /// - Parameters:
  ///   - report: The characteristic that returns the byte count and CRC-32 when read.
  ///   - link: The known capacity of the link.
  /// - Throws: `TransferError.noCount`, the error of the link or of a write, or `CancellationError`.
  @LoopActor
  package func measure(_ count: Int, to handle: AttributeHandle, on client: Client, report: AttributeHandle, link: LinkCapacity)
    async throws
    -> Result
  {
    let before = try await Self.count(report, client)
    var options = TransferOptions()
    options.mode = mode
    options.pacing.window = window
    options.pacing.gap = gap ?? .zero
    var pacing = options.pacing(segment: segment, link: link)
    pacing.adapts = gap == nil && window == nil
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let question = ArrivalQuestion(.read(report)) { response in
      guard case .read(let value) = response, let now = ArrivalReport(value) else { return nil }
      return now.count - before
    }
    let transfer = Transfer(
      client, to: handle, mode: mode.writeMode, segment: segment, pacing: pacing, ByteArray(bytes), asking: question,
      pace: TransferPace().begin(on: link.interval))
    transfer.link = link
    let begin = EventLoop.shared.now
    // The time of the last byte sent, because a loss adds a wait.
    var end: LoopClock.Instant?
    do {
      try await transfer.run { if $0.sent == count, end == nil { end = EventLoop.shared.now } }
      end = EventLoop.shared.now
    } catch is SegmentsMissing {
      // Losses are part of the measurement.
    }
    let seconds = begin.duration(to: end ?? EventLoop.shared.now).inSeconds
    let arrived = try await Self.count(report, client) - before
    return Result(
      trial: self, sent: transfer.progress.sent, arrived: min(max(0, arrived), transfer.progress.sent), seconds: seconds,
      gap: gap == nil ? transfer.pace?.found : nil)
  }

  @LoopActor
  private static func count(_ report: AttributeHandle, _ client: Client) async throws -> Int {
    let value = try await client.read(report)
    guard let report = ArrivalReport(value) else { throw TransferError.noCount(value) }
    return report.count
  }
}
