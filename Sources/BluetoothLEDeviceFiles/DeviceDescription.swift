// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The content of a device file: how to recognize a device, its commands and their answers.
package struct DeviceDescription: Sendable {
  /// The device name that messages show, 1–64 bytes.
  package var name: String
  /// The name of the device file that error messages show.
  package var file: String
  package var summary: String?
  package var match = DeviceMatch()
  package var names: [UUID: String] = [:]
  package var advertisement: DeviceAdvertisement?
  package var commands: [DeviceCommand] = []
  package var events: [DeviceEvent] = []
  /// The unparsed `simulate` entry of the file. Nil if the file has no such entry.
  package var simulation: FileEntry?

  package func command(_ name: String) -> DeviceCommand? { commands.first { $0.name == name } }
}

/// The properties that identify a device. A device must match each list that is not empty.
package struct DeviceMatch: Sendable, Equatable {
  /// The glob patterns for the device name. One pattern must match. An empty list allows any name.
  package var names: [String] = []
  /// The UUIDs of the services that a device must have.
  package var services: [UUID] = []
  /// The manufacturer data that a device must advertise. Each item must match.
  package var manufacturerData: [Manufacturer] = []

  package struct Manufacturer: Sendable, Equatable {
    package let company: UInt16
    /// The first bytes of the data after the company identifier. A nil element matches any byte.
    package let prefix: [UInt8?]

    package func matches(_ data: [UInt8]) -> Bool { data.count >= prefix.count && zip(prefix, data).allSatisfy { $0 == nil || $0 == $1 } }
  }

  package var isEmpty: Bool { names.isEmpty && services.isEmpty && manufacturerData.isEmpty }
}

/// The rules by which blectl decodes a device's advertisements.
package struct DeviceAdvertisement: Sendable, Equatable {
  /// The unvalidated rule to find the MAC in an advertisement, such as `mfg:0305@-6:le`. Nil if the file has none.
  package var macRule: String?
  package var macRuleEntry: FileEntryError?
  /// The layouts of manufacturer data, by company identifier.
  package var manufacturerData: [UInt16: Frame] = [:]
}

/// The UUID of a characteristic in a device file, optionally with the UUID of its service.
package struct DeviceCharacteristic: Sendable, Hashable, CustomStringConvertible {
  package let service: UUID?
  package let uuid: UUID

  package var description: String { service.map { "\($0)/\(uuid)" } ?? "\(uuid)" }

  /// The selector that finds the characteristic among a device's attributes.
  /// - Throws: `GATTError` for an invalid selector. A selector that consists of UUIDs is always valid.
  package var selector: Selector { get throws(GATTError) { try Selector(description) } }

  /// Returns whether the UUIDs are equal, and the services are equal or at least one service is nil.
  package func isLike(_ other: Self) -> Bool { uuid == other.uuid && (service == nil || other.service == nil || service == other.service) }
}

/// A frame that the device sends without a request.
package struct DeviceEvent: Sendable, Equatable {
  package var name: String
  package var summary: String?
  package var from: DeviceCharacteristic
  package var frame: Frame
}
