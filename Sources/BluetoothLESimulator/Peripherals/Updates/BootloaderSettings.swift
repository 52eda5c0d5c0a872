// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLEFirmware

/// The properties of a device with a bootloader of the nRF5 SDK.
package struct BootloaderSettings: Sendable, Equatable {
  /// How the application starts the bootloader.
  package enum Buttonless: String, Sendable {
    case bonds
    case noBonds = "no_bonds"
  }

  /// A request that the bootloader refuses, whatever it holds.
  package struct Refusal: Sendable, Equatable {
    package var operation: DFUOperation = .execute
    /// The kind of object. Nil for both.
    package var object: DFUObjectType?
    package var result: UInt8 = 0x0B
    package var extended: UInt8?
    /// The number of refusals.
    package var times = Int.max
  }

  /// Nil if only a button starts the bootloader. The device then begins in its bootloader.
  package var buttonless: Buttonless?
  package var (applicationVersion, bootloaderVersion, hardwareVersion): (UInt32, UInt32, UInt32) = (1, 1, 52)
  /// The identifier of the SoftDevice. 0x0100 is S132 6.1.1.
  package var softdevice: UInt32 = 0x0100
  package var requiresSignature = true
  /// The greatest sizes of objects, in bytes, and of the firmware.
  package var (objectSize, initPacketSize, flashSize) = (4096, 512, 0x60000)
  /// Whether the old application stays until the new one is complete.
  package var hasTwoBanks = true
  package var (pageEraseTime, bootTime) = (Duration.zero, Duration.seconds(1))
  package var refusal: Refusal?

  package init() {}

  static func uuid(_ number: UInt64) -> UUID { UUID(high: (0x8EC9_0000 + number) << 32 | 0xF315_4F60, low: 0x9FB8_8388_30DA_EA50) }

  /// The characteristic with which the application starts the bootloader.
  var button: UUID { Self.uuid(buttonless == .bonds ? 4 : 3) }

  static let service = UUID(0xFE59)

  /// The service of the application. Nil for a device with a button.
  var applicationService: AttributeDatabase.ServiceDescription? {
    guard let buttonless else { return nil }
    var characteristic = AttributeDatabase.CharacteristicDescription(button, [.write, .indicate])
    if buttonless == .bonds {
      characteristic.permissions = [.write, .writeEncrypted]
      var configuration = AttributeDatabase.DescriptorDescription(.clientCharacteristicConfiguration)
      configuration.permissions = [.read, .write, .writeEncrypted]
      characteristic.descriptors = [configuration]
    }
    var service = AttributeDatabase.ServiceDescription(Self.service)
    service.characteristics = [characteristic]
    return service
  }

  /// The services of the bootloader: the names, the notice of changed services, and the update.
  static var services: [AttributeDatabase.ServiceDescription] {
    typealias Characteristic = AttributeDatabase.CharacteristicDescription
    let contents: [(UUID, [Characteristic])] = [
      (UUID(0x1800), [Characteristic(UUID(0x2A00), .read), Characteristic(UUID(0x2A01), .read)]),
      (UUID(0x1801), [Characteristic(UUID(0x2A05), .indicate)]),
      (service, [Characteristic(uuid(1), [.write, .notify]), Characteristic(uuid(2), .writeWithoutResponse)]),
    ]
    return contents.map { uuid, characteristics in
      var service = AttributeDatabase.ServiceDescription(uuid)
      service.characteristics = characteristics
      return service
    }
  }
}
