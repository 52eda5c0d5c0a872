// SPDX-License-Identifier: Apache-2.0
/// Estimates the pace at which a device accepts Write Commands: slow start, then backoff.
///
/// The device buffers commands, does not report how full its buffers are, and drops the commands that do not fit.
/// The transfer sends a few segments and then a request, later more segments at a time. A response is in time if it arrives as soon as
/// the link can deliver it. After late responses, the transfer sends one segment per `gap`, no faster than the device accepted them.
///
///     probing ── in time ──► next probe … last probe ──► free
///        │  └── in time on a long interval ──► careful ── in time ──► more segments … as many as fill the link ──► free
///        │                                        │
///        └── late, repeated, late again ──────────┴──► paced ── in time ──► smaller gap … the air time of a segment ──► free
///                                                      paced ── late, repeated, late again ──► larger gap
///
/// A pace from an earlier transfer starts as `paced`, or with the last probe if the device kept up.
package struct TransferPace: Sendable, Equatable {
  enum Stage: Sendable, Equatable {
    /// The transfer sends the probe with this index, counted from 0. `isRepeated` is true if the previous response was late.
    case probing(Int, isRepeated: Bool)
    /// The transfer sends this many segments, and no more before the peer confirms their arrival.
    case careful(Int, isRepeated: Bool)
    /// The transfer sends one segment per `gap`. `isSettled` is false while the gap changes in large steps.
    case paced(isSettled: Bool)
    /// The transfer sends without limit, because the device is as fast as the link.
    case free
  }

  /// The timing of a burst of segments, and of the response to the request after the burst.
  struct Burst: Sendable {
    let segments: Int
    /// The time from the first segment to the response that confirmed all segments.
    let time: Duration
    /// The delay of the response beyond `roundTrip`. Nil if the first response did not confirm all segments.
    let lateness: Duration?
    /// The connection interval. Responses arrive at multiples of it.
    let interval: Duration
    /// The time from a request to its response, without segments before the request.
    let roundTrip: Duration
    /// The time that the link needs for a segment.
    let airTime: Duration
  }

  private(set) var stage: Stage
  /// The time between the starts of two consecutive segments. Zero if the device needs no pause.
  package private(set) var gap: Duration
  /// The lower limit of the gap, below which the device recently fell behind.
  private var floor = Duration.zero
  /// The lower limit of the gap for a device that may have no buffer for faster segments.
  private var least = Duration.zero
  /// Whether the device's application confirms arrival. Responses of the ATT layer alone never reduce `least`.
  private var isCounted = true
  /// Whether the last response at the current gap was late.
  private var wasLate = false
  /// Whether the current transfer has shown that the device keeps up.
  private var isKnown = false
  /// Whether the device kept up in an earlier transfer.
  private var keptUp = false
  /// The connection interval of the link. Zero if unknown.
  private var interval = Duration.zero
  /// The shortest delay between a burst of segments and the response. Nil before the first response.
  private var quickest: Duration?

  /// The lengths of the probes. `segments` precede a request, and up to `ahead` follow before its response. Nil allows any number.
  /// Each probe is twice as long as the previous probe. Common firmware can buffer the first probe.
  private static let probes: [(segments: Int, ahead: Int?)] = [(4, 0), (8, 4), (16, 8), (32, 16), (64, nil)]
  /// The probes on a connection interval above 15 ms. The first probe is shorter, and allows a segment before its response.
  private static let longProbes: [(segments: Int, ahead: Int?)] = [(3, 1)] + probes.dropFirst()

  private var probes: [(segments: Int, ahead: Int?)] { isLong ? Self.longProbes : Self.probes }

  /// The longest connection interval that counts as short. On longer intervals, the delay of a response says little about the device.
  private static let shortInterval = Duration.milliseconds(15)

  /// The tolerated lateness of responses on short connection intervals, in the stage `paced(isSettled: true)`.
  private static let shortBacklog = Duration.milliseconds(12)

  private var isLong: Bool { interval > Self.shortInterval }

  /// Creates the pace at the start of a transfer.
  /// - Parameter gap: the gap of an earlier transfer to this device. Zero if the device kept up. Nil if there was no transfer.
  package init(gap: Duration? = nil) {
    self.gap = gap ?? .zero
    floor = self.gap
    keptUp = gap == .zero
    // A device that kept up may have new firmware, or smaller segments now: ask it, but do not make it wait.
    stage = gap.map { $0 > .zero ? .paced(isSettled: true) : .probing(4, isRepeated: false) } ?? .probing(0, isRepeated: false)
  }

  /// Returns a copy of the pace for a new link.
  /// - Parameters:
  ///   - interval: the connection interval, above 0. Nil if unknown, which makes lateness unknown too.
  ///   - isCounted: whether the device's application confirms arrival. Responses of its ATT layer alone do not shorten an earlier gap.
  package func begin(on interval: Duration?, isCounted: Bool = true) -> TransferPace {
    var pace = self
    pace.interval = interval ?? .zero
    pace.isCounted = isCounted
    if pace.isLong || !isCounted { pace.least = gap }
    if interval != nil {
      return pace
    } else if pace.found == nil {
      pace.stage = .free
    }
    return pace
  }

  /// Whether the device has shown that it is slower than the link.
  package var isSlower: Bool { gap > .zero }

  /// The gap that the transfer has found, zero if the device keeps up with the link. Nil while the transfer still searches.
  package var found: Duration? {
    switch stage {
    case .free: isKnown ? .zero : nil
    case .paced: gap
    case .probing, .careful: nil
    }
  }

  /// The number of segments before the next request that measures the pace. Nil if no request is necessary.
  var burst: Int? {
    switch stage {
    case .probing(let probe, _): probes[probe].segments
    case .careful(let segments, _): segments
    case .paced(let isSettled): isSettled && !isLong ? 32 : 16
    case .free: nil
    }
  }

  /// The maximum number of segments between a request and its response. Nil allows any number.
  var ahead: Int? {
    switch stage {
    // Wait until it is known whether the link caused the delay.
    case .probing(let probe, let isRepeated): isRepeated ? 0 : probes[probe].ahead
    case .careful, .paced: 0
    case .free: nil
    }
  }

  mutating func answered(_ burst: Burst) {
    interval = burst.interval
    // If the delay is estimated from the link's rate, a faster link makes it negative.
    let delay = burst.lateness.map { max(.zero, $0 + burst.roundTrip) }
    quickest = min(quickest ?? delay ?? burst.roundTrip, delay ?? burst.roundTrip)
    // A slightly slower device lags a little more with each probe, long before its answers miss an event.
    let isAsQuick = isLong || (delay ?? .zero) <= (quickest ?? .zero) + burst.airTime * 1.5
    let isInTime = isAsQuick && burst.isInTime(within: isLong ? 0.5 : 0.1)
    switch stage {
    case .free: break
    case .probing(let probe, let isRepeated) where isInTime && (!isLong || burst.isQuick || keptUp):
      // After a late answer, send no segments ahead of the next answer.
      if probe + 1 < probes.count { stage = .probing(probe + 1, isRepeated: isRepeated && !isLong) } else { setFree() }
    case .probing where isInTime: stage = .careful(Self.more(burst.segments), isRepeated: false)
    case .careful where isInTime:
      // The next burst would fill the link.
      if burst.airTime * burst.segments > interval * 1.5 {
        setFree()
      } else {
        stage = .careful(burst.isQuick ? burst.segments * 2 : Self.more(burst.segments), isRepeated: false)
      }
    case .probing(let probe, isRepeated: false): stage = .probing(probe, isRepeated: true)
    case .careful(let segments, isRepeated: false): stage = .careful(segments, isRepeated: true)
    case .probing, .careful:
      // On a long interval, send fewer per event than the device accepted at once. Otherwise, add the measured lag.
      least =
        isLong
        ? interval * 1.5 / (burst.segments + (ahead ?? 0))
        : burst.airTime + max(.zero, (delay ?? .zero) - (quickest ?? .zero)) / burst.segments
      stage = .paced(isSettled: false)
      gap = max(burst.airTime, isLong ? max(least, burst.longest) : max(burst.likely, burst.longest / 2))
    case .paced(let isSettled): adapt(burst, isSettled, isAsQuick)
    }
  }

  /// Returns the length of the next burst: a third longer, and at least 2 segments longer.
  private static func more(_ segments: Int) -> Int { segments + max(2, segments / 3) }

  private mutating func setFree() { (stage, gap, isKnown) = (.free, .zero, true) }

  private mutating func adapt(_ burst: Burst, _ isSettled: Bool, _ isAsQuick: Bool) {
    // The time is only known to one connection interval. Whether the device kept up is more certain than its speed.
    if burst.isInTime(within: isLong ? 0.5 : isSettled ? max(1, Self.shortBacklog / interval) : 0.25) {
      // If answers are early again, the link was the cause.
      if isAsQuick, isCounted, !isLong { least = least * 0.97 }
      gap = max(gap * (isSettled ? 0.95 : isLong ? 0.92 : 0.85), floor, least)
      floor = floor * 0.99
      wasLate = false
      if gap <= burst.airTime * 1.1 { setFree() }
    } else if burst.tookAsLong(as: gap), isLong || burst.lateness == nil {
      wasLate = false
    } else if !wasLate {
      // The link may be the cause: try once more at this gap.
      wasLate = true
    } else {
      wasLate = false
      gap = gap * (isSettled ? 1.08 : 1.2)
      floor = gap
      stage = .paced(isSettled: true)
    }
  }
}

extension TransferPace.Burst {
  /// Returns whether the response is in time.
  /// - Parameter part: the tolerated lateness, as a fraction of the connection interval.
  fileprivate func isInTime(within part: Double) -> Bool { lateness.map { $0 <= interval * part } ?? false }

  /// Whether the response's delay is at most half a connection interval, and at most 7.5 ms or three times `airTime`, whichever is longer.
  fileprivate var isQuick: Bool { lateness.map { $0 + roundTrip <= min(interval / 2, max(.milliseconds(7.5), airTime * 3)) } ?? false }

  /// The longest time that the device may have taken per segment.
  fileprivate var longest: Duration { (lateness.map { max(.zero, $0 + roundTrip) + airTime * segments } ?? time) / max(1, segments) }

  /// The likely time that the device took per segment.
  fileprivate var likely: Duration { max(.zero, time - roundTrip - interval / 2) / max(1, segments) }

  /// Returns whether the device took at most `gap` per segment, with a tolerance of 10 % and two connection intervals.
  fileprivate func tookAsLong(as gap: Duration) -> Bool { time - roundTrip - interval * 2 <= gap * Double(segments) * 1.1 }
}
