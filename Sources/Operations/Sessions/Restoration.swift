package import Bluetooth
import EventLoop
package import GATT

package enum RestorationEvent: Sendable {
  /// The reason why the link is down.
  case lost(any Error)
  /// An attempt starts after this pause. Includes its number, from 1, and the reason for the previous failure.
  case trying(Int, in: Duration, after: (any Error)?)
  case restored(Restoration)
}

/// A restored link.
package struct Restoration: Sendable {
  package enum Discovery: Sendable, Equatable {
    /// No discovery had run on the lost link.
    case notNeeded
    /// The peer's Database Hash is the same.
    case skipped
    case done
  }

  /// A subscription that could not be restored.
  package struct Missing: Sendable {
    /// The characteristic before the loss.
    package let characteristic: Characteristic
    /// The reason. Nil if the characteristic no longer exists.
    package let reason: (any Error)?
  }

  /// The peer, possibly with a new address.
  package let peer: PeerAddress
  /// The duration of the restoration.
  package let time: Duration
  package let tries: Int
  package let discovery: Discovery
  /// The number of restored subscriptions.
  package let subscriptions: Int
  package let missing: [Missing]
}

package enum RestorationError: Error, Sendable {
  /// The deadline passed. Includes the reason of the last failure.
  case gaveUp(after: Duration, tries: Int, last: (any Error)?)
  /// The connection was ended.
  case ended
  /// Another task is restoring it.
  case isUnderWay
}
