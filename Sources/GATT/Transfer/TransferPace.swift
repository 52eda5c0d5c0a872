/// Estimates the pace at which a device accepts Write Commands: slow start, then backoff.
///
/// Such a device buffers commands, does not report how full its buffers are, and drops the commands that do not fit.
/// So it gets a few segments and a question after them, then more segments each time. An answer is in time if it arrives as soon as
/// the link can deliver it. If answers are late, the device gets one segment per `gap`, no faster than it accepted them so far.
///
///     probing ── in time ──► next probe … last probe ──► free
///        │  └── in time on a long interval ──► careful ── in time ──► more segments … as many as fill the link ──► free
///        │                                        │
///        └── late, repeated, late again ──────────┴──► paced ── in time ──► smaller gap … the air time of a segment ──► free
///                                                      paced ── late, repeated, late again ──► larger gap
///
/// An earlier pace starts as `paced`, or as the last probe if the device kept up.
package struct TransferPace: Sendable, Equatable {
  enum Stage: Sendable, Equatable {
    /// Sends the probe with this index, counted from 0. `isRepeated`: the previous answer was late, possibly because of the link.
    case probing(Int, isRepeated: Bool)
    /// Sends this many segments, and no more before the peer confirms them.
    case careful(Int, isRepeated: Bool)
    /// Sends one segment per `gap`, which changes in larger steps until it is settled.
    case paced(isSettled: Bool)
    /// Sends without limit, because the device is as fast as the link.
    case free
  }

  /// A number of segments, and the timing of the answer to the question after them.
  struct Burst: Sendable {
    let segments: Int
    /// The time from the first segment to the answer that confirmed all segments.
    let time: Duration
    /// The delay compared with an answer to a question without segments before it. Nil if the first answer did not confirm all segments.
    let lateness: Duration?
    /// The connection interval. Answers arrive at its multiples.
    let interval: Duration
    /// The round trip of a question without segments before it.
    let roundTrip: Duration
    /// The time that the link needs for a segment.
    let airTime: Duration
  }

  private(set) var stage: Stage
  /// The time between the starts of two segments. Zero if no pause is necessary.
  package private(set) var gap: Duration
  /// The smallest gap to try. Below it, the device recently fell behind.
  private var floor = Duration.zero
  /// The smallest safe gap. The device may have no buffer for faster segments.
  private var least = Duration.zero
  /// Whether the device's application confirms arrival. Answers of its ATT layer do not justify a smaller `least`.
  private var isCounted = true
  /// Whether the last answer at the current gap was late.
  private var wasLate = false
  /// Whether the device has shown that it keeps up.
  private var isKnown = false
  /// Whether the device kept up in an earlier transfer.
  private var keptUp = false
  /// The connection interval.
  private var interval = Duration.zero
  /// The shortest time to an answer after the segments before its question.
  private var quickest: Duration?

  /// The segments before a question, and those allowed while it is open (nil: unlimited). Common firmware can buffer the first probe.
  /// Each next one is twice as long. The question precedes the end, so that the link is not idle at its answer. The last probe decides.
  private static let probes: [(segments: Int, ahead: Int?)] = [(4, 0), (8, 4), (16, 8), (32, 16), (64, nil)]
  /// The probes on a long interval. An answer in the same event must find segments that remain to be sent in that event.
  private static let longProbes: [(segments: Int, ahead: Int?)] = [(3, 1)] + probes.dropFirst()

  private var probes: [(segments: Int, ahead: Int?)] { isLong ? Self.longProbes : Self.probes }

  /// The longest interval that counts as short. On longer ones, many segments and their answer arrive together, however fast the device is.
  private static let shortInterval = Duration.milliseconds(15)

  /// The tolerated lag of a paced device on short intervals, which two slow packets cause.
  private static let shortBacklog = Duration.milliseconds(12)

  private var isLong: Bool { interval > Self.shortInterval }

  /// Creates a pace.
  /// - Parameter gap: the result of an earlier transfer to this device. Zero if the device kept up.
  package init(gap: Duration? = nil) {
    self.gap = gap ?? .zero
    floor = self.gap
    keptUp = gap == .zero
    // A device that kept up may have new firmware, or smaller segments now: ask it, but do not make it wait.
    stage = gap.map { $0 > .zero ? .paced(isSettled: true) : .probing(4, isRepeated: false) } ?? .probing(0, isRepeated: false)
  }

  /// Returns the pace for a new link.
  /// - Parameters:
  ///   - interval: the connection interval, above 0. Nil if unknown, so that lateness is unknown too.
  ///   - isCounted: whether the device's application confirms arrival. Answers of its ATT layer do not disprove an earlier pause.
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

  /// Whether the device is slower than the link, as far as known.
  package var isSlower: Bool { gap > .zero }

  /// The gap that the transfer found. Nil before there is a result.
  package var found: Duration? {
    switch stage {
    case .free: isKnown ? .zero : nil
    case .paced: gap
    case .probing, .careful: nil
    }
  }

  /// The number of segments before the next question. Nil if the pace needs none.
  var burst: Int? {
    switch stage {
    case .probing(let probe, _): probes[probe].segments
    case .careful(let segments, _): segments
    case .paced(let isSettled): isSettled && !isLong ? 32 : 16
    case .free: nil
    }
  }

  /// The maximum number of segments before the next answer. Nil: unlimited. Devices that have kept up do not have to wait.
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

  /// Increases a burst in small steps, to detect a slow device before a few buffers are full.
  private static func more(_ segments: Int) -> Int { segments + max(2, segments / 3) }

  private mutating func setFree() {
    (stage, gap, isKnown) = (.free, .zero, true)
  }

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
  /// Returns whether the answer is in time.
  /// - Parameter part: the allowed lateness, as a fraction of the connection interval.
  fileprivate func isInTime(within part: Double) -> Bool { lateness.map { $0 <= interval * part } ?? false }

  /// Whether the answer arrived during the connection event, or soon after it.
  fileprivate var isQuick: Bool { lateness.map { $0 + roundTrip <= min(interval / 2, max(.milliseconds(7.5), airTime * 3)) } ?? false }

  /// The longest time per segment that the device may have taken.
  fileprivate var longest: Duration {
    (lateness.map { max(.zero, $0 + roundTrip) + airTime * segments } ?? time) / max(1, segments)
  }

  /// The likely time per segment, as far as the answer's connection event shows.
  fileprivate var likely: Duration { max(.zero, time - roundTrip - interval / 2) / max(1, segments) }

  /// Returns whether the device took as long as the gap. An application may always report a little late, which does not depend on the gap.
  fileprivate func tookAsLong(as gap: Duration) -> Bool {
    time - roundTrip - interval * 2 <= gap * Double(segments) * 1.1
  }
}
