// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A device or a controller's advertising set in the simulated air, with its advertising timer and its link.
@LoopActor
final class Station {
  /// When an advertising event follows: the set was enabled, a radio began to listen, or an event went before.
  enum Cause { case enabled, heard, repeated }

  let advertiser: any Advertiser
  /// The advertising set. Nil for a device.
  let set: AdvertisingSet?
  let start = EventLoop.shared.now
  var connections = 0
  var random: SeededRandom
  var timer: LoopTimer?
  var link: VirtualLink?

  /// Whether the set ended. It then neither advertises nor accepts a central.
  var isRemoved = false

  init(_ advertiser: any Advertiser, set: AdvertisingSet? = nil, random: SeededRandom) {
    (self.advertiser, self.set, self.random) = (advertiser, set, random)
  }

  /// Whether the station advertises and accepts a central.
  var isFree: Bool { link == nil && !isRemoved }
  /// Whether a limit counts the advertising events. They then happen while no radio listens too.
  var isCounted: Bool { self.set?.maxEvents ?? 0 > 0 }

  /// Returns the time until the next advertising event. A radio that begins to listen hears it after a random part of the interval.
  func pause(_ cause: Cause) -> Duration {
    // The longest interval is that of the extended commands.
    let interval = Double(min(max(advertiser.advertising.interval.wholeNanoseconds, 20_000_000), 0xFF_FFFF * 625_000))
    let random = random.fraction()
    // advDelay, Vol 6 Part B §4.4.2.2.
    return switch cause {
    case .enabled: .nanoseconds(Int64(random * 10_000_000))
    case .heard: .nanoseconds(Int64(random * interval))
    case .repeated: .nanoseconds(Int64(interval + random * 10_000_000))
    }
  }
}
