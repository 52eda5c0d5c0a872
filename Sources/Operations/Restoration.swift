package import Bluetooth
package import EventLoop
package import GATT

/// How a lost link is restored.
package struct RestorationOptions: Sendable, Equatable {
  /// Before the first try; doubled after each, up to `longestPause`.
  package var firstPause = Duration.milliseconds(500)
  package var longestPause = Duration.seconds(30)
  /// How long one try may look for the device: less than a user's own connection attempt, which waits for it on the same controller.
  package var search = PeerSearch.usualLimit
  /// Give up then; nil: never.
  package var deadline: LoopClock.Instant?

  package init() {}
}

package enum RestorationEvent: Sendable {
  /// Why the link is down.
  case lost(any Error)
  /// The number of the try, from 1, which begins after this pause; and why the one before has failed.
  case trying(Int, in: Duration, after: (any Error)?)
  case restored(Restoration)
}

/// A link that was restored.
package struct Restoration: Sendable {
  package enum Discovery: Sendable, Equatable {
    /// Nothing had been discovered.
    case notNeeded
    /// The peer's Database Hash is the same.
    case skipped
    case done
  }

  /// A subscription that was not restored.
  package struct Missing: Sendable {
    /// As it was.
    package let characteristic: Characteristic
    /// Nil: there is none any more.
    package let reason: (any Error)?
  }

  /// May have another address than before.
  package let peer: PeerAddress
  /// Since the restoration began.
  package let time: Duration
  package let tries: Int
  package let discovery: Discovery
  /// How many subscriptions were restored.
  package let subscriptions: Int
  package let missing: [Missing]
}

package enum RestorationError: Error, Sendable {
  /// The deadline is over; with why the last try has failed.
  case gaveUp(after: Duration, tries: Int, last: (any Error)?)
  /// The connection was ended meanwhile, or before.
  case ended
  /// Someone else is restoring it.
  case isUnderWay
}
