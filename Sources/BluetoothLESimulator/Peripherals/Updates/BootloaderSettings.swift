// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLEFirmware

/// The properties of a device with a bootloader of the nRF5 SDK: the keys of a device file.
package struct BootloaderSettings: Sendable {
  /// How the application starts the bootloader.
  package enum Buttonless: Sendable { case bonds, noBonds }

  /// A request that the bootloader refuses.
  package struct Refusal: Sendable {
    package var operation: DFUOperation = .execute
    /// The kind of object. Nil for both.
    package var object: DFUObjectType?
    package var result: UInt8 = 0x0B
    package var extended: UInt8?
    /// The number of refusals.
    package var times = Int.max
  }

  /// The way into the bootloader. Nil if only a button starts it. The device then begins in its bootloader.
  package var buttonless: Buttonless?
  package var (applicationVersion, bootloaderVersion, hardwareVersion): (UInt32, UInt32, UInt32) = (1, 1, 52)
  /// The identifier of the SoftDevice. 0x0100 is S132 6.1.1.
  package var softdevice: UInt32 = 0x0100
  package var requiresSignature = true
  /// The greatest sizes, in bytes, of objects and of the firmware.
  package var (objectSize, initPacketSize, flashSize) = (4096, 512, 0x60000)
  /// Whether the old application stays until the new one is complete.
  package var hasTwoBanks = true
  package var (pageEraseTime, bootTime) = (Duration.zero, Duration.seconds(1))
  package var refusal: Refusal?

  static func uuid(_ number: UInt64) -> UUID { UUID(high: (0x8EC9_0000 + number) << 32 | 0xF315_4F60, low: 0x9FB8_8388_30DA_EA50) }

  /// The characteristic with which the application starts the bootloader.
  var button: UUID { Self.uuid(buttonless == .bonds ? 4 : 3) }

  /// The service of the application. Nil for a device with a button.
  var applicationService: AttributeDatabase.ServiceDescription? {
    guard let buttonless else { return nil }
    var characteristic = AttributeDatabase.CharacteristicDescription(button, [.write, .indicate])
    if buttonless == .bonds { characteristic.protect([.write, .writeEncrypted]) }
    return AttributeDatabase.ServiceDescription(UUID(0xFE59), [characteristic])
  }

  /// What the device shows while the bootloader runs.
  func bootloader(_ application: PeripheralDescription, name: String) -> PeripheralDescription {
    typealias Service = AttributeDatabase.ServiceDescription
    typealias Characteristic = AttributeDatabase.CharacteristicDescription
    let services = [
      Service(UUID(0x1800), [Characteristic(UUID(0x2A00), .read), Characteristic(UUID(0x2A01), .read)]),
      Service(UUID(0x1801), [Characteristic(UUID(0x2A05), .indicate)]),
      Service(UUID(0xFE59), [Characteristic(Self.uuid(1), [.write, .notify]), Characteristic(Self.uuid(2), .writeWithoutResponse)]),
    ]
    var bootloader = PeripheralDescription(
      name: name, address: application.address, database: (try? AttributeDatabase(services: services)) ?? application.database)
    (bootloader.linkLimits, bootloader.mtu, bootloader.advertising) = (application.linkLimits, application.mtu, application.advertising)
    bootloader.rename(name, services: [3, 3, 0x59, 0xFE])
    if buttonless == .noBonds { bootloader.address = application.address.next } else { bootloader.security = application.security }
    return bootloader
  }
}
