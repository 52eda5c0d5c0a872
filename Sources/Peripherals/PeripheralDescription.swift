package import ATT
package import Bluetooth
package import GATT

/// A virtual peripheral: what it advertises, what it serves and how it behaves. Made by `PeripheralFile`, run by `VirtualPeripheral`.
package struct PeripheralDescription: Sendable {
  package var name: String
  package var address: PeerAddress
  package var advertising = AdvertisingSettings()
  package var linkLimits = LinkLimits()
  /// Server Rx MTU, 23…517.
  package var mtu = 517
  package var database: AttributeDatabase
  /// By the handle of the characteristic value that they belong to.
  package var behaviours: [AttributeHandle: Behaviour] = [:]
  /// What the variables hold at first.
  package var variables: [PeripheralState.Value] = []
  package var timers: [Timer] = []
  package var onConnect: [Reaction.Action] = []
  package var onDisconnect: [Reaction.Action] = []
  /// In place of `advertising.data` and `.scanResponse`, where they change.
  var advertisement: AdvertisementTemplate?
  var scanResponse: AdvertisementTemplate?

  package struct Timer: Sendable, Equatable {
    package var interval: Duration
    /// Runs from the beginning, over and over; else once for each start.
    package var isPeriodic: Bool
    package var actions: [Reaction.Action]
  }

  package struct Behaviour: Sendable {
    /// The first that matches is performed.
    package var reactions: [Reaction] = []
    /// The same for reads.
    package var readReactions: [Reaction] = []
    package var onSubscribe: [Reaction.Action] = []
    package var onUnsubscribe: [Reaction.Action] = []
    package var collect: Collect?
    package var periodic: Periodic?
    package var sink: Sink?
    /// Its values are sent to clients that have not subscribed, too: bit 0 by notifications, bit 1 by indications.
    package var unasked: UInt16?
  }

  /// Writes are put together before the reactions see them.
  package struct Collect: Sendable, Equatable {
    /// Complete as soon as there are this many octets.
    package var octets: Int
    /// Complete when nothing was written for so long.
    package var pause: Duration
  }

  /// Values sent one after the other, over and over, to those who subscribed.
  package struct Periodic: Sendable, Equatable {
    package var interval: Duration
    /// Not empty.
    package var values: [Template]
  }

  /// Everything written is counted; the count is the value of another characteristic.
  package struct Sink: Sendable, Equatable {
    /// Value handle of the characteristic that reports.
    package var report: AttributeHandle
    /// The report is notified when nothing was written for so long.
    package var pause: Duration
  }
}
