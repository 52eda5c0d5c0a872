package import ATT
package import Bluetooth
package import GATT

/// A virtual peripheral: its advertisements, attributes and behavior. `PeripheralFile` creates it, `VirtualPeripheral` runs it.
package struct PeripheralDescription: Sendable {
  package var name: String
  package var address: PeerAddress
  package var advertising = AdvertisingSettings()
  package var linkLimits = LinkLimits()
  /// The Server Rx MTU, 23–517 bytes.
  package var mtu = 517
  package var database: AttributeDatabase
  /// The behavior of each characteristic, by the handle of its value.
  package var behaviours: [AttributeHandle: Behaviour] = [:]
  /// The initial values of the variables.
  package var variables: [PeripheralState.Value] = []
  package var timers: [Timer] = []
  package var onConnect: [Reaction.Action] = []
  package var onDisconnect: [Reaction.Action] = []
  /// The changing forms of `advertising.data` and `.scanResponse`.
  var advertisement: AdvertisementTemplate?
  var scanResponse: AdvertisementTemplate?

  package struct Timer: Sendable, Equatable {
    package var interval: Duration
    /// Whether the timer runs repeatedly from the creation of the device. Otherwise it runs once for each start.
    package var isPeriodic: Bool
    package var actions: [Reaction.Action]
  }

  package struct Behaviour: Sendable {
    /// The reactions to writes. The first that matches runs.
    package var reactions: [Reaction] = []
    /// The reactions to reads. The first that matches runs.
    package var readReactions: [Reaction] = []
    package var onSubscribe: [Reaction.Action] = []
    package var onUnsubscribe: [Reaction.Action] = []
    package var collect: Collect?
    package var periodic: Periodic?
    package var sink: Sink?
    /// The way to send values to clients without a subscription: bit 0 notifications, bit 1 indications.
    package var unasked: UInt16?
  }

  /// The limits up to which the device joins writes before it reacts.
  package struct Collect: Sendable, Equatable {
    /// The number of bytes that completes a value.
    package var octets: Int
    /// The pause after the last write that completes a value.
    package var pause: Duration
  }

  /// A list of values that subscribers receive repeatedly, in order.
  package struct Periodic: Sendable, Equatable {
    package var interval: Duration
    /// The values, at least one.
    package var values: [Template]
  }

  /// A counter of the written bytes. Another characteristic has its value.
  package struct Sink: Sendable, Equatable {
    /// The value handle of the characteristic with the report.
    package var report: AttributeHandle
    /// The pause after the last write before the device sends the report.
    package var pause: Duration
  }
}
