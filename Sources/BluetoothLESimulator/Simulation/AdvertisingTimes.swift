// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A device in the simulated air, with its advertising timer and its link.
@LoopActor
final class Station {
  let advertiser: any Advertiser
  let start = EventLoop.shared.now
  var connections = 0
  var random: SeededRandom
  var timer: LoopTimer?
  var link: VirtualLink?

  init(_ advertiser: any Advertiser, random: SeededRandom) { (self.advertiser, self.random) = (advertiser, random) }

  /// Returns the time until the next advertising event.
  /// - Parameter isFirst: Whether the event follows after a random part of the interval instead of a whole interval.
  func pause(isFirst: Bool) -> Duration {
    let interval = min(max(advertiser.advertising.interval.wholeNanoseconds, 20_000_000), 10_240_000_000)
    // advDelay, Vol 6 Part B §4.4.2.2.
    return .nanoseconds(Int64(isFirst ? random.fraction() * Double(interval) : Double(interval) + random.fraction() * 10_000_000))
  }
}
