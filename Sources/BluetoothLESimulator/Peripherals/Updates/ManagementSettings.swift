// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
package import BluetoothLEFirmware

/// The properties of a device with MCUmgr: the keys of a device file.
package struct ManagementSettings: UpdateDescription {
  /// The version of the first image, and the bytes of its code.
  package var version = ImageVersion(major: 1, minor: 0, revision: 0)
  package var imageSize = 20_000
  package var slotSize = 262_144
  /// One of `modes`.
  package var mode = BootloaderMode.swapScratch
  package var refusesDowngrade = false
  /// Whether the device joins the writes of a message.
  package var reassembles = true
  /// The size of the buffers in bytes, and their number.
  package var (bufferSize, buffers) = (384, 4)
  /// The security that a client needs.
  package var access = ServerSession.Security.none
  package var (pageEraseTime, pageSwapTime, hashTime, requestTime) = (Duration.zero, Duration.zero, Duration.zero, Duration.zero)
  package var (resetTime, bootTime) = (Duration.milliseconds(250), Duration.seconds(1))

  static let modes: [BootloaderMode] = [.singleApplication, .swapScratch, .overwriteOnly, .swapOffset]

  package func firmware(_ application: PeripheralDescription) -> any UpdatableFirmware { ManagementDevice(self, application) }

  package var service: AttributeDatabase.ServiceDescription? {
    var characteristic = AttributeDatabase.CharacteristicDescription(ManagementClient.characteristic, [.writeWithoutResponse, .notify])
    if access != .none { characteristic.protect([.writeWithoutResponse, access == .encrypted ? .writeEncrypted : .writeAuthenticated]) }
    return AttributeDatabase.ServiceDescription(ManagementClient.service, [characteristic])
  }
}
