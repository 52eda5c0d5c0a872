package import ATT
package import Bluetooth
package import EventLoop

/// A device as a radio uses it: its advertisements, and the connections to it.
/// The radio provides the link layer. The device gets whole ATT PDUs on a channel.
@LoopActor
package protocol Advertiser: AnyObject {
  var address: PeerAddress { get }
  var advertising: AdvertisingSettings { get }
  var linkLimits: LinkLimits { get }
  /// Serves a central that connected, until `channel` reports `.closed`.
  func connected(_ channel: any ATT.Channel)
}

/// The description of a device that a radio can run.
package protocol AdvertiserDescription {
  /// Creates the device with a seed for its random numbers.
  @LoopActor func advertiser(seed: UInt64) -> any Advertiser
}

/// A channel whose radio lets a device misbehave.
@LoopActor
package protocol DeviceChannel: ATT.Channel {
  /// Keeps the firmware busy: received PDUs wait in its buffers.
  func keepBusy(for time: Duration)
  /// Makes the central's controller fail with a vendor-specific hardware code.
  func failController(_ code: UInt8)
  /// Loses radio contact: both sides notice after the supervision timeout.
  func cut()
  /// Disconnects with a reason.
  func terminate(reason: ControllerErrorCode)
}

/// The advertisements of a device, and how it sends them.
package struct AdvertisingSettings: Sendable, Equatable {
  /// The advertising data: at most 31 bytes in legacy PDUs.
  package var data: [UInt8] = []
  package var scanResponse: [UInt8] = []
  package var isConnectable = true
  /// Whether the device advertises now.
  package var isOn = true
  /// The advertising interval, 20 ms to 10.24 s. The radio adds 0–10 ms (Vol 6 Part B §4.4.2.2).
  package var interval: Duration = .milliseconds(100)
  /// The time from the creation of the device until it switches on.
  package var startsAfter: Duration = .zero
  /// The RSSI at the scanner, in dBm.
  package var rssi: Int8 = -60

  package init() {}
}
