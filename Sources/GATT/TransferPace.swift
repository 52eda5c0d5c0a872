/// How fast a device takes commands, found while they are sent. One that is slower than the link keeps them in buffers, of which it tells nothing, and
/// drops what they do not hold. So it gets a few at a time until it has shown that it keeps up, by answering what stands behind them as soon as the
/// link can bring the answer; one that does not is sent commands no faster than it has taken them.
package struct TransferPace: Sendable, Equatable {
  enum Stage: Sendable, Equatable {
    /// One of the probes. `isRepeated`: the answer before was late, which the link may have been.
    case probing(Int, isRepeated: Bool)
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
  /// Below it the device fell behind, lately.
  private var floor = Duration.zero
  /// The last answer was, at this gap.
  private var wasLate = false
  /// The device has shown that it keeps up.
  private var isKnown = false
  /// Between the beginnings of two segments; zero: none is needed.
  package private(set) var gap: Duration

  /// So many segments, then a question; and so many while it is open, nil: any number. What common firmware has room for comes first, then as much
  /// again, with the question in its middle, so that the answer does not find the link idle. One that keeps up with the last keeps up with the link.
  private static let probes: [(segments: Int, ahead: Int?)] = [(4, 0), (4, 4), (24, nil), (64, nil)]

  /// - Parameter gap: what was found with this device before; zero: it keeps up.
  package init(gap: Duration? = nil) {
    self.gap = gap ?? .zero
    floor = self.gap
    stage = gap.map { $0 > .zero ? .paced(isSettled: true) : .free } ?? .probing(0, isRepeated: false)
  }

  /// On a longer interval a few segments arrive at once and their answer comes at its end, however fast the device is: nothing can be found before
  /// something is lost.
  private static let longestInterval = Duration.milliseconds(15)

  /// - Parameter interval: connection interval; nil: unknown.
  package func begin(on interval: Duration?) -> TransferPace {
    guard case .probing = stage, interval.map({ $0 > Self.longestInterval }) ?? true else { return self }
    var pace = self
    pace.stage = .free
    return pace
  }

  /// What was found; nil: nothing yet.
  package var found: Duration? {
    switch stage {
    case .free: isKnown ? .zero : nil
    case .paced: gap
    case .probing: nil
    }
  }

  /// After so many segments the device is asked; nil: no question is needed for this.
  var burst: Int? {
    switch stage {
    case .probing(let probe, _): Self.probes[probe].segments
    case .paced(let isSettled): isSettled ? 32 : 16
    case .free: nil
    }
  }

  /// No more segments than these are sent until the answer is there; nil: any number. A device that has kept up with some is not kept waiting.
  var ahead: Int? {
    switch stage {
    case .probing(let probe, _): Self.probes[probe].ahead
    case .paced: 0
    case .free: nil
    }
  }

  mutating func answered(_ burst: Burst) {
    switch stage {
    case .free: break
    case .probing(let probe, _) where burst.isInTime(within: 0.5):
      stage = probe + 1 < Self.probes.count ? .probing(probe + 1, isRepeated: false) : .free
      isKnown = stage == .free
    case .probing(let probe, isRepeated: false): stage = .probing(probe, isRepeated: true)
    case .probing:
      stage = .paced(isSettled: false)
      gap = max(burst.airTime, estimate(burst))
    case .paced(let isSettled):
      // The time is known to a connection interval only: whether it has kept up is better known than how long it took.
      if burst.isInTime(within: 1) {
        gap = max(gap * (isSettled ? 0.95 : 0.85), floor)
        floor = floor * 0.98
        wasLate = false
        if gap <= burst.airTime * 1.1 { (stage, gap) = (.free, .zero) }
      } else if burst.tookAsLong(as: gap) {
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

  /// How long the device took for each.
  private func estimate(_ burst: Burst) -> Duration {
    max(.zero, burst.time - burst.roundTrip - burst.interval / 2) / max(1, burst.segments)
  }
}

extension TransferPace.Burst {
  /// - Parameter part: of a connection interval.
  fileprivate func isInTime(within part: Double) -> Bool { lateness.map { $0 <= interval * part } ?? false }

  /// An application may always tell a little later of what it has got than it gets it: the gap has no part in that.
  fileprivate func tookAsLong(as gap: Duration) -> Bool {
    lateness == nil && time - roundTrip - interval * 2 <= gap * Double(segments) * 1.1
  }
}
