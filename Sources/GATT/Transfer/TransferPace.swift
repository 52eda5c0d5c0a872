/// Estimates the pace at which a device accepts Write Commands: slow start, then backoff.
///
/// A device that is slower than the link keeps commands in buffers, does not report how full they are, and drops what they cannot hold.
/// So it gets a few segments and a question behind them, and then more segments each time. An answer is in time if it arrives as soon as
/// the link can bring it. A device whose answers are late gets one segment per `gap`, no faster than it took them so far.
///
///     probing ── in time ──► next probe … last probe ──► free
///        │  └── in time on a long interval ──► careful ── in time ──► more segments … as many as fill the link ──► free
///        │                                        │
///        └── late, repeated, late again ──────────┴──► paced ── in time ──► smaller gap … the air time of a segment ──► free
///                                                      paced ── late, repeated, late again ──► larger gap
///
/// A pace that was found before starts as `paced`, or as the last probe if the device kept up.
package struct TransferPace: Sendable, Equatable {
  enum Stage: Sendable, Equatable {
    /// One of the probes. `isRepeated`: the answer before was late, which the link may have been.
    case probing(Int, isRepeated: Bool)
    /// So many segments, and no more before they are known to have been taken.
    case careful(Int, isRepeated: Bool)
    /// At `gap`; until it is settled in larger steps.
    case paced(isSettled: Bool)
    /// The device is as fast as the link.
    case free
  }

  /// Segments that were sent, and when the question behind them was answered.
  struct Burst: Sendable {
    let segments: Int
    /// From the first segment to the answer that told of all.
    let time: Duration
    /// How much later the answer came than that of a question that nothing stands before; nil: the first one told of less than was sent.
    let lateness: Duration?
    /// Connection interval: answers come at its multiples.
    let interval: Duration
    /// Of a question that nothing stands before.
    let roundTrip: Duration
    /// What the link needs for a segment.
    let airTime: Duration
  }

  private(set) var stage: Stage
  /// Between the beginnings of two segments; zero: none is needed.
  package private(set) var gap: Duration
  /// Below it the device fell behind, lately.
  private var floor = Duration.zero
  /// It may have no room for what comes faster.
  private var least = Duration.zero
  /// What its ATT layer answers is no reason to forget that.
  private var isCounted = true
  /// The last answer was late, at this gap.
  private var wasLate = false
  /// The device has shown that it keeps up.
  private var isKnown = false
  /// It did so before.
  private var keptUp = false
  /// Connection interval.
  private var interval = Duration.zero
  /// The shortest time to an answer, behind what stood before its question.
  private var quickest: Duration?

  /// So many segments, then a question; and so many while it is open, nil: any number. What common firmware has room for comes first, then twice as
  /// much each time, with the question before its end, so that the answer does not find the link idle. One that keeps up with the last keeps up with the link.
  private static let probes: [(segments: Int, ahead: Int?)] = [(4, 0), (8, 4), (16, 8), (32, 16), (64, nil)]
  /// On a long interval an answer in the same event has to find something that is still to be sent in it.
  private static let longProbes: [(segments: Int, ahead: Int?)] = [(3, 1)] + probes.dropFirst()

  private var probes: [(segments: Int, ahead: Int?)] { isLong ? Self.longProbes : Self.probes }

  /// On a longer interval many segments arrive at once, and their answer comes at its end, however fast the device is.
  private static let shortInterval = Duration.milliseconds(15)

  /// What a device may be behind with, on shorter ones, while it is paced: two packets that take it long.
  private static let shortBacklog = Duration.milliseconds(12)

  private var isLong: Bool { interval > Self.shortInterval }

  /// - Parameter gap: what was found with this device before; zero: it keeps up.
  package init(gap: Duration? = nil) {
    self.gap = gap ?? .zero
    floor = self.gap
    keptUp = gap == .zero
    // One that kept up may have got new firmware, or gets smaller segments: it is asked, and not kept waiting.
    stage = gap.map { $0 > .zero ? .paced(isSettled: true) : .probing(4, isRepeated: false) } ?? .probing(0, isRepeated: false)
  }

  /// - Parameters:
  ///   - interval: connection interval, more than 0; nil: unknown, as is then when an answer is late.
  ///   - isCounted: the device's application is asked. What its ATT layer answers says nothing against a pause that was found before.
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

  /// The device is slower than the link, as far as is known.
  package var isSlower: Bool { gap > .zero }

  /// What was found; nil: nothing yet.
  package var found: Duration? {
    switch stage {
    case .free: isKnown ? .zero : nil
    case .paced: gap
    case .probing, .careful: nil
    }
  }

  /// After so many segments the device is asked; nil: no question is needed for this.
  var burst: Int? {
    switch stage {
    case .probing(let probe, _): probes[probe].segments
    case .careful(let segments, _): segments
    case .paced(let isSettled): isSettled && !isLong ? 32 : 16
    case .free: nil
    }
  }

  /// No more segments than these are sent until the answer is there; nil: any number. A device that has kept up with some is not kept waiting.
  var ahead: Int? {
    switch stage {
    // Not before it is known whether it was the link.
    case .probing(let probe, let isRepeated): isRepeated ? 0 : probes[probe].ahead
    case .careful, .paced: 0
    case .free: nil
    }
  }

  mutating func answered(_ burst: Burst) {
    interval = burst.interval
    // Where it is estimated from the link's rate, a link that is faster than that makes it negative.
    let delay = burst.lateness.map { max(.zero, $0 + burst.roundTrip) }
    quickest = min(quickest ?? delay ?? burst.roundTrip, delay ?? burst.roundTrip)
    // One that is only a little slower falls behind a little more with each probe, long before its answers miss an event.
    let isAsQuick = isLong || (delay ?? .zero) <= (quickest ?? .zero) + burst.airTime * 1.5
    let isInTime = isAsQuick && burst.isInTime(within: isLong ? 0.5 : 0.1)
    switch stage {
    case .free: break
    case .probing(let probe, let isRepeated) where isInTime && (!isLong || burst.isQuick || keptUp):
      // Whom a question has found behind gets no segments ahead of the next one.
      if probe + 1 < probes.count { stage = .probing(probe + 1, isRepeated: isRepeated && !isLong) } else { setFree() }
    case .probing where isInTime: stage = .careful(Self.more(burst.segments), isRepeated: false)
    case .careful where isInTime:
      // The next lot would fill the link.
      if burst.airTime * burst.segments > interval * 1.5 {
        setFree()
      } else {
        stage = .careful(burst.isQuick ? burst.segments * 2 : Self.more(burst.segments), isRepeated: false)
      }
    case .probing(let probe, isRepeated: false): stage = .probing(probe, isRepeated: true)
    case .careful(let segments, isRepeated: false): stage = .careful(segments, isRepeated: true)
    case .probing, .careful:
      // In one event fewer than it has taken at once; or what it fell behind by, as far as that is known.
      least =
        isLong
        ? interval * 1.5 / (burst.segments + (ahead ?? 0))
        : burst.airTime + max(.zero, (delay ?? .zero) - (quickest ?? .zero)) / burst.segments
      stage = .paced(isSettled: false)
      gap = max(burst.airTime, isLong ? max(least, burst.longest) : max(burst.likely, burst.longest / 2))
    case .paced(let isSettled): adapt(burst, isSettled, isAsQuick)
    }
  }

  /// As small a step as finds a slow device before a few buffers are full.
  private static func more(_ segments: Int) -> Int { segments + max(2, segments / 3) }

  private mutating func setFree() {
    (stage, gap, isKnown) = (.free, .zero, true)
  }

  private mutating func adapt(_ burst: Burst, _ isSettled: Bool, _ isAsQuick: Bool) {
    // The time is known to a connection interval only: whether it has kept up is better known than how long it took.
    if burst.isInTime(within: isLong ? 0.5 : isSettled ? max(1, Self.shortBacklog / interval) : 0.25) {
      // It was the link, if its answers are early again.
      if isAsQuick, isCounted, !isLong { least = least * 0.97 }
      gap = max(gap * (isSettled ? 0.95 : isLong ? 0.92 : 0.85), floor, least)
      floor = floor * 0.99
      wasLate = false
      if gap <= burst.airTime * 1.1 { setFree() }
    } else if burst.tookAsLong(as: gap), isLong || burst.lateness == nil {
      wasLate = false
    } else if !wasLate {
      // The link may have been: once more at this gap.
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
  /// - Parameter part: of a connection interval.
  fileprivate func isInTime(within part: Double) -> Bool { lateness.map { $0 <= interval * part } ?? false }

  /// While the event goes on, or soon after it.
  fileprivate var isQuick: Bool { lateness.map { $0 + roundTrip <= min(interval / 2, max(.milliseconds(7.5), airTime * 3)) } ?? false }

  /// How long the device took for each, at most.
  fileprivate var longest: Duration {
    (lateness.map { max(.zero, $0 + roundTrip) + airTime * segments } ?? time) / max(1, segments)
  }

  /// How long it took, as far as the answer's event tells.
  fileprivate var likely: Duration { max(.zero, time - roundTrip - interval / 2) / max(1, segments) }

  /// An application may always tell a little later of what it has got than it gets it: the gap has no part in that.
  fileprivate func tookAsLong(as gap: Duration) -> Bool {
    time - roundTrip - interval * 2 <= gap * Double(segments) * 1.1
  }
}
