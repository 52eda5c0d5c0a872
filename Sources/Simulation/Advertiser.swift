package import ATT
package import Bluetooth
package import EventLoop

/// What the virtual air asks of a virtual device: how it advertises and what happens when a central connects.
/// The air makes the link layer; the device gets whole ATT PDUs on a channel.
@LoopActor
package protocol Advertiser: AnyObject {
  var address: PeerAddress { get }
  var advertising: AdvertisingSettings { get }
  var linkLimits: LinkLimits { get }
  /// A central connected. The device serves `channel` until that reports `.closed`.
  func connected(_ channel: any ATT.Channel)
}

package struct AdvertisingSettings: Sendable, Equatable {
  /// At most 31 octets with legacy PDUs.
  package var data: [UInt8] = []
  package var scanResponse: [UInt8] = []
  package var isConnectable = true
  /// False while the device is silent.
  package var isOn = true
  /// Advertising interval, 20 ms…10.24 s; the air adds the 0…10 ms of Vol 6 Part B §4.4.2.2.
  package var interval: Duration = .milliseconds(100)
  /// How long after it came into the air the device is switched on.
  package var startsAfter: Duration = .zero
  /// dBm at the scanner.
  package var rssi: Int8 = -60

  package init() {}
}
