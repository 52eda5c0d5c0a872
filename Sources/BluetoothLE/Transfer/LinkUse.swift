// SPDX-License-Identifier: Apache-2.0
/// The use of links by a transfer: the parameters of the last link, and the capacity and the time of all links.
package struct LinkUse {
  /// The number of links so far.
  package private(set) var count = 0
  /// The ATT_MTU of the last link, in bytes.
  package private(set) var mtu = 0
  /// The parameters of the last link, updated with each change.
  package private(set) var parameters = LinkParameters()
  /// The capacity model of the last link, refined by measurements.
  private(set) var model = LinkCapacity()
  /// The number of bytes that the links could have carried so far. Nil if unknown.
  package private(set) var capacity: Double? = 0
  /// The time of the first segment. Nil before the first segment.
  package private(set) var begin: LoopClock.Instant?
  /// The time up to which `capacity` includes the link. Nil before the first segment.
  private var accounted: LoopClock.Instant?
  /// The byte position in the file from which the current link parameters apply.
  private var origin = 0

  /// The duration of the transfer so far in seconds, including time without a link.
  package var seconds: Double { begin.flatMap { begin in accounted.map { begin.duration(to: $0).inSeconds } } ?? 0 }

  /// Stores the parameters of a new link, before its first segment at byte `position` of the file.
  mutating func connect(_ parameters: LinkParameters, mtu: Int, at position: Int) {
    (self.parameters, self.mtu) = (parameters, mtu)
    (model, origin) = (LinkCapacity(parameters), position)
  }

  /// Counts a link and starts its time. The caller then sends the first segment on the link.
  mutating func start(at now: LoopClock.Instant) {
    count += 1
    begin = begin ?? now
    accounted = now
  }

  /// Adds to `capacity` the number of bytes that the link could have carried since the last call.
  mutating func account(until now: LoopClock.Instant) {
    let seconds = (accounted ?? now).duration(to: now).inSeconds
    accounted = now
    guard let limit = model.limit(mtu: mtu) else {
      capacity = nil
      return
    }
    capacity? += limit * seconds
  }

  /// Stores changed parameters, which apply from byte `position` of the file.
  mutating func change(to parameters: LinkParameters, at position: Int, _ now: LoopClock.Instant) {
    account(until: now)
    var parameters = parameters
    // Events contain the PHY only if it changed.
    parameters.phy = parameters.phy ?? self.parameters.phy
    connect(parameters, mtu: mtu, at: position)
  }

  /// Estimates from the rate whether the coded PHY uses S=2. Returns whether the estimate changed the model.
  mutating func learn(_ position: Int, _ now: LoopClock.Instant) -> Bool {
    let before = model
    model.learn(bytes: position - origin, in: (accounted ?? now).duration(to: now))
    return model != before
  }

  /// Returns the air time of a segment of `chunk` bytes. Nil means the fastest segment size. Zero before the first link.
  func airTime(chunk: Int?) -> Duration { mtu > 0 ? model.airTime(chunk ?? model.fastestSegment(mtu: mtu)) : .zero }
}

extension LinkCapacity {
  package init(_ link: LinkParameters) { self.init(dataLength: link.maxTxOctets, phy: link.phy, interval: link.interval) }
}
