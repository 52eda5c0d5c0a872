// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// How the bootloader of a device starts a new image (`mcuboot_mode` of MCUboot).
package enum BootloaderMode: Int, Hashable, Sendable, CaseIterable {
  /// The device does not tell its mode, or has one that is not in this list.
  case unknown = -1
  case singleApplication, swapScratch, overwriteOnly, swapMove, directXIP, directXIPRevert, ramLoad
  /// An application of its own receives the images. The main application has no image commands.
  case firmwareLoader
  case singleRAMLoad
  /// The default since Zephyr 4.3.
  case swapOffset

  /// Whether the device returns to the old image by itself if the new one is not confirmed.
  package var canRevert: Bool { [.swapScratch, .swapMove, .directXIPRevert, .swapOffset].contains(self) }

  /// Whether images are marked for test. In other modes, the highest version runs, or the only image.
  var hasTrials: Bool { ![.singleApplication, .directXIP, .firmwareLoader].contains(self) }
}

package struct BootloaderInfo: Hashable, Sendable {
  /// The name of the bootloader, usually `MCUboot`. Nil if the device does not tell it.
  package var name: String?
  package var mode = BootloaderMode.unknown
  /// Whether the bootloader refuses lower versions than that of the running image.
  package var forbidsDowngrade = false

  /// Reads the answer to a query for the mode, which has its values at the top.
  init(name: String?, mode answer: CBOR?) {
    self.name = name
    mode = answer?["mode"]?.integer.flatMap { BootloaderMode(rawValue: $0) } ?? .unknown
    forbidsDowngrade = answer?["no-downgrade"]?.bool ?? false
  }
}
