// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
package import BluetoothLEFirmware

/// The mode in which MCUboot was built (`boot_mode` of `bootutil`).
package enum BootMode: Int, Sendable, CaseIterable {
  case singleSlot, swapScratch, overwrite, swapMove, directXIP, directXIPRevert, ramLoad, firmwareLoader, singleSlotRAMLoad, swapOffset

  var canRevert: Bool { [.swapScratch, .swapMove, .directXIPRevert, .swapOffset].contains(self) }
  var hasTwoSlots: Bool { ![.singleSlot, .firmwareLoader, .singleSlotRAMLoad].contains(self) }
  /// Whether the image with the highest version runs, without any mark.
  var startsHighest: Bool { self == .directXIP || self == .ramLoad }
}

/// The properties of a device with MCUmgr: the keys of a device file.
package struct ManagementSettings: Sendable {
  /// The first image, and the bytes of its code.
  package var version = ImageVersion(major: 1, minor: 0, revision: 0)
  package var imageSize = 20_000
  package var slotSize = 262_144
  package var mode = BootMode.swapScratch
  package var refusesDowngrade = false
  /// Whether the device joins the writes of a message.
  package var reassembles = true
  /// The size of the buffers in bytes, and their number.
  package var (bufferSize, buffers) = (384, 4)
  package var reportsParameters = true
  /// Whether the device only knows the first version of the protocol.
  package var isOld = false
  /// The security that a client needs.
  package var access = ServerSession.Security.none
  /// Whether uploads may name the slot.
  package var allowsDirectUpload = false
  /// Whether an image that does not run can be confirmed.
  package var confirmsOthers = true
  package var (pageEraseTime, pageSwapTime, hashTime, requestTime) = (Duration.zero, Duration.zero, Duration.zero, Duration.zero)
  package var (resetTime, bootTime) = (Duration.milliseconds(250), Duration.seconds(1))

  static let characteristic = UUID(high: 0xDA2E_7828_FBCE_4E01, low: 0xAE9E_2611_7499_7C48)

  var service: AttributeDatabase.ServiceDescription {
    var characteristic = AttributeDatabase.CharacteristicDescription(Self.characteristic, [.writeWithoutResponse, .notify])
    if access != .none { characteristic.protect([.writeWithoutResponse, access == .encrypted ? .writeEncrypted : .writeAuthenticated]) }
    return AttributeDatabase.ServiceDescription(UUID(high: 0x8D53_DC1D_1DB7_4CD3, low: 0x868B_8A52_7460_AA84), [characteristic])
  }
}
