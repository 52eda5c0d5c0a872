// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A simulated device that a radio can run. It advertises and serves connections.
/// The radio provides the link layer, and passes whole ATT PDUs to the device on a channel.
@LoopActor
package protocol Advertiser: AnyObject {
  var address: PeerAddress { get }
  var advertising: AdvertisingSettings { get }
  var linkLimits: LinkLimits { get }
  /// Serves a central that connected, until `channel` reports `.closed`.
  func connected(_ channel: any Channel)
  /// Adds a bond of an earlier process with a central.
  func restore(_ bond: Bond, with central: PeerAddress)
}

extension Advertiser { package func restore(_ bond: Bond, with central: PeerAddress) {} }

/// The description of a device that a radio can run.
package protocol AdvertiserDescription {
  /// Creates the described device. `seed` determines the random numbers of the device.
  @LoopActor func advertiser(seed: UInt64) -> any Advertiser
}

/// A channel through which a device can delay PDUs, lose radio contact or make the central's controller fail.
@LoopActor
package protocol DeviceChannel: Channel {
  /// The central's address on the link.
  var peer: PeerAddress { get }
  /// The Security Manager of the link, as peripheral. It refuses to pair until the device says otherwise. Nil if the kernel pairs.
  var manager: SecurityManager? { get }
  /// The level of the link's encryption, if others than `manager` can change it.
  var securityLevel: SecurityLevel { get }
  var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)? { get set }
  /// Keeps the device's firmware busy for `time`. Received PDUs wait in the buffers of the firmware.
  func keepBusy(for time: Duration)
  /// Makes the central's controller fail with a vendor-specific hardware code.
  func failController(_ code: UInt8)
  /// Interrupts radio contact. The central and the device notice the loss after the supervision timeout.
  func cut()
  /// Interrupts radio contact, as `cut`, and lets the device advertise before the central notices, because it has forgotten the link.
  func abandon()
  /// Disconnects the central, which receives `reason`.
  func terminate(reason: ControllerErrorCode)
}

extension DeviceChannel {
  package var securityLevel: SecurityLevel { .unencrypted }
  package var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)? {
    get { nil }
    set {}
  }
}

/// The content and the schedule of a device's advertisements.
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
  /// The PDUs of a controller's advertising set. Nil lets the data of a device decide.
  package var pdus: AdvertisingPDUs?

  package init() {}

  /// The PDUs in which the advertisements are sent. The data of a device that exceed 31 bytes need extended PDUs.
  package var sentPDUs: AdvertisingPDUs {
    if let pdus { return pdus }
    var pdus = AdvertisingPDUs()
    pdus.isExtended = data.count > 31 || scanResponse.count > 31
    pdus.isScannable = !pdus.isExtended && (isConnectable || !scanResponse.isEmpty)
    return pdus
  }
}

/// The form of advertising PDUs (Vol 6 Part B §2.3.1).
package struct AdvertisingPDUs: Sendable, Equatable {
  package var isExtended = false
  /// Whether scanners may request the scan response.
  package var isScannable = false
  /// The only device that directed advertisements invite. Nil for undirected ones.
  package var target: PeerAddress?
  /// Whether extended PDUs lack the address.
  package var isAnonymous = false
  /// The PHY of the advertising channels, 1M or coded. `secondary` is that of the PDUs with the data, if they are extended.
  package var primary = PHY.le1M
  package var secondary = PHY.le1M
  /// The Advertising Set ID of extended PDUs, 0–15, and the identifier of their data.
  package var sid: UInt8 = 0
  package var dataID: UInt16 = 0
  /// The transmit power in dBm that extended PDUs contain. 127 means none.
  package var txPower: Int8 = 127

  package init() {}
}
