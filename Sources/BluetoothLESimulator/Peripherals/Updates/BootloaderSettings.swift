// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLEFirmware

/// The properties of a device with a bootloader of the nRF5 SDK: the keys of a device file.
package struct BootloaderSettings: UpdateDescription {
  /// How the application starts the bootloader.
  package enum Buttonless: Sendable { case bonds, noBonds }

  /// A request that the bootloader refuses.
  package struct Refusal: Sendable {
    package var operation = DFUOperation.execute
    /// The kind of object. Nil for both.
    package var object: DFUObjectType?
    package var result: UInt8 = 0x0B
    package var extended: UInt8?
    /// The number of refusals.
    package var times = Int.max
  }

  /// The way into the bootloader. Nil if only a button starts it. The device then begins in its bootloader.
  package var buttonless: Buttonless?
  package var (applicationVersion, hardwareVersion): (UInt32, UInt32) = (1, 52)
  /// The identifier of the SoftDevice. 0x0100 is S132 6.1.1.
  package var softdevice: UInt32 = 0x0100
  /// The greatest sizes, in bytes, of an init packet and of the firmware.
  package var (initPacketSize, flashSize) = (512, 0x60000)
  /// Whether the old application stays until the new one is complete.
  package var hasTwoBanks = true
  package var (pageEraseTime, bootTime) = (Duration.zero, Duration.seconds(1))
  package var refusal: Refusal?

  /// The greatest size of an object, in bytes.
  static let objectSize = 4096
  static let (control, packets) = (UUID.dfu(0x8EC9_0001), UUID.dfu(0x8EC9_0002))

  /// The characteristic with which the application starts the bootloader.
  var button: UUID { .dfu(buttonless == .bonds ? 0x8EC9_0004 : 0x8EC9_0003) }

  package func firmware(_ application: PeripheralDescription) -> any UpdatableFirmware { SecureBootloader(self, application) }

  package var service: AttributeDatabase.ServiceDescription? {
    guard let buttonless else { return nil }
    var characteristic = AttributeDatabase.CharacteristicDescription(button, [.write, .indicate])
    if buttonless == .bonds { characteristic.protect([.write, .writeEncrypted]) }
    return AttributeDatabase.ServiceDescription(DFUTarget.service, [characteristic])
  }

  /// The description of the device while the bootloader runs.
  func bootloader(_ application: PeripheralDescription, name text: String) -> PeripheralDescription {
    typealias Service = AttributeDatabase.ServiceDescription
    typealias Characteristic = AttributeDatabase.CharacteristicDescription
    var name = Characteristic(UUID(0x2A00), .read)
    name.value = Array(text.utf8)
    let services = [
      Service(UUID(0x1800), [name, Characteristic(UUID(0x2A01), .read)]),
      Service(UUID(0x1801), [Characteristic(UUID(0x2A05), .indicate)]),
      Service(DFUTarget.service, [Characteristic(Self.control, [.write, .notify]), Characteristic(Self.packets, .writeWithoutResponse)]),
    ]
    var bootloader = PeripheralDescription(
      name: text, address: application.address, database: (try? AttributeDatabase(services: services)) ?? application.database)
    (bootloader.linkLimits, bootloader.mtu, bootloader.advertising) = (application.linkLimits, application.mtu, application.advertising)
    bootloader.advertising.data = [2, 1, 6, UInt8(clamping: name.value.count + 1), 9] + name.value + [3, 3, 0x59, 0xFE]
    bootloader.advertising.scanResponse = []
    if buttonless == .noBonds { bootloader.address = application.address.adding(1) } else { bootloader.security = application.security }
    return bootloader
  }
}
