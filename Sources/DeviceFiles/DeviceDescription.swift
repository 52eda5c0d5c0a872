package import Bluetooth
package import GATT

/// The description of a device from its file: how to recognize it, its commands and their answers.
package struct DeviceDescription: Sendable {
  /// The name of the device, for people.
  package var name: String
  /// The name of the file, for errors.
  package var file: String
  package var summary: String?
  package var match = DeviceMatch()
  package var names: [UUID: String] = [:]
  package var advertisement: DeviceAdvertisement?
  package var commands: [DeviceCommand] = []
  package var events: [DeviceEvent] = []
  /// The unparsed description of the simulation.
  package var simulation: FileEntry?

  package func command(_ name: String) -> DeviceCommand? { commands.first { $0.name == name } }
}

/// The properties that identify a device. A device must match all that the file gives.
package struct DeviceMatch: Sendable, Equatable {
  /// The patterns for the name. One must match.
  package var names: [String] = []
  /// The services. All must match.
  package var services: [UUID] = []
  /// The prefixes of manufacturer data.
  package var manufacturerData: [Manufacturer] = []

  package init() {}

  package struct Manufacturer: Sendable, Equatable {
    package let company: UInt16
    /// The prefix bytes. Nil matches any byte.
    package let prefix: [UInt8?]

    package init(company: UInt16, prefix: [UInt8?]) {
      self.company = company
      self.prefix = prefix
    }

    package func matches(_ data: [UInt8]) -> Bool { data.count >= prefix.count && zip(prefix, data).allSatisfy { $0 == nil || $0 == $1 } }
  }

  package var isEmpty: Bool { names.isEmpty && services.isEmpty && manufacturerData.isEmpty }
}

/// The content of the device's advertisements.
package struct DeviceAdvertisement: Sendable, Equatable {
  /// The rule for the MAC, in the syntax of `mac-from-adv`, without validation.
  package var macRule: String?
  package var macRuleEntry: FileEntryError?
  /// The layout of manufacturer data by company.
  package var manufacturerData: [UInt16: Frame] = [:]
}

/// A characteristic in a device file.
package struct DeviceCharacteristic: Sendable, Hashable, CustomStringConvertible {
  package let service: UUID?
  package let uuid: UUID

  package var description: String { service.map { "\($0)/\(uuid)" } ?? "\(uuid)" }

  /// The selector of the characteristic.
  /// - Throws: GATTError, but never for a UUID.
  package var selector: Selector { get throws(GATTError) { try Selector(description) } }

  /// Returns whether this and another characteristic may be the same one.
  package func isLike(_ other: Self) -> Bool { uuid == other.uuid && (service == nil || other.service == nil || service == other.service) }
}

/// A frame that the device sends without a request.
package struct DeviceEvent: Sendable, Equatable {
  package var name: String
  package var summary: String?
  package var from: DeviceCharacteristic
  package var frame: Frame
}
