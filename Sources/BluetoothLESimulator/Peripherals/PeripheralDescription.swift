// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A description of a virtual peripheral: its advertisements, attributes and behavior. A `VirtualPeripheral` runs the description.
package struct PeripheralDescription: Sendable {
  package var name: String
  package var address: PeerAddress
  package var advertising = AdvertisingSettings()
  package var linkLimits = LinkLimits()
  /// How the device pairs. Nil if it does not.
  package var security: DeviceSecurity?
  /// The Server Rx MTU, 23–517 bytes.
  package var mtu = 517
  package var database: AttributeDatabase
  /// The behavior of each characteristic, by the handle of its value.
  package var behaviours: [AttributeHandle: Behaviour] = [:]
  /// The initial values of the variables, by the zero-based index of the variable.
  package var variables: [PeripheralState.Value] = []
  package var timers: [Timer] = []
  package var onConnect: [Reaction.Action] = []
  package var onDisconnect: [Reaction.Action] = []
  /// The template from which the device computes `advertising.data`. Nil if the data never changes.
  var advertisement: AdvertisementTemplate?
  var scanResponse: AdvertisementTemplate?
  /// The faults that the device makes from the beginning.
  package var faults: [PeripheralLine.Fault] = []
  /// How the device takes updates of its firmware. Nil if it does not.
  package var update: (any UpdateDescription)?
  /// The keys of the file that only a simulated controller can follow.
  package var simulatorKeys: [String] = []

  package struct Timer: Sendable, Equatable {
    package var interval: DeviceTime
    /// Whether the timer runs repeatedly from the creation of the device. Otherwise it runs once for each start.
    package var isPeriodic: Bool
    package var actions: [Reaction.Action]
  }

  package struct Behaviour: Sendable {
    /// The reactions to writes. The device runs the first reaction that matches.
    package var reactions: [Reaction] = []
    /// The reactions to reads. The device runs the first reaction that matches.
    package var readReactions: [Reaction] = []
    package var onSubscribe: [Reaction.Action] = []
    package var onUnsubscribe: [Reaction.Action] = []
    package var collect: Collect?
    package var periodic: Periodic?
    package var sink: Sink?
    /// The ways to send values to clients without a subscription: bit 0 notifications, bit 1 indications. Nil sends only to subscribers.
    package var unasked: UInt16?
  }

  /// The limits up to which the device joins writes before it reacts.
  package struct Collect: Sendable, Equatable {
    /// The number of collected bytes at which the device reacts.
    package var bytes: Int
    /// The time without a write after which the device reacts to fewer bytes.
    package var pause: Duration
  }

  /// A list of values that subscribers receive repeatedly, in order.
  package struct Periodic: Sendable, Equatable {
    package var interval: DeviceTime
    /// The values that the device sends in turn, at least one.
    package var values: [Template]
  }

  /// A counter of the bytes that clients write to a characteristic. Another characteristic reports the count.
  package struct Sink: Sendable, Equatable {
    /// The value handle of the characteristic that reports the count.
    package var report: AttributeHandle
    /// The pause after the last write before the device sends the report.
    package var pause: Duration
  }
}
