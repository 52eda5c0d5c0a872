package import Bluetooth
package import GATT

/// What a device file says: how a device is recognised, which commands it takes and how it answers them.
package struct DeviceDescription: Sendable {
  /// For people, and when several fit.
  package var name: String
  /// As errors call it.
  package var file: String
  package var summary: String?
  package var match = DeviceMatch()
  package var names: [UUID: String] = [:]
  package var advertisement: DeviceAdvertisement?
  package var commands: [DeviceCommand] = []
  package var events: [DeviceEvent] = []
  /// What a simulation of it has besides; not read yet.
  package var simulation: FileEntry?

  package func command(_ name: String) -> DeviceCommand? { commands.first { $0.name == name } }
}

/// What a device is recognised by: all that is given.
package struct DeviceMatch: Sendable, Equatable {
  /// Patterns, of which one has to match.
  package var names: [String] = []
  /// All of them.
  package var services: [UUID] = []
  /// What the data of a company begin with.
  package var manufacturerData: [Manufacturer] = []

  package init() {}

  package struct Manufacturer: Sendable, Equatable {
    package let company: UInt16
    /// Nil: any octet.
    package let prefix: [UInt8?]

    package init(company: UInt16, prefix: [UInt8?]) {
      self.company = company
      self.prefix = prefix
    }

    package func matches(_ data: [UInt8]) -> Bool { data.count >= prefix.count && zip(prefix, data).allSatisfy { $0 == nil || $0 == $1 } }
  }

  package var isEmpty: Bool { names.isEmpty && services.isEmpty && manufacturerData.isEmpty }
}

/// What the device tells before anybody is connected.
package struct DeviceAdvertisement: Sendable, Equatable {
  /// Where its MAC is, as `mac-from-adv` takes it; not checked here.
  package var macRule: String?
  package var macRuleEntry: FileEntryError?
  /// The layout of manufacturer data by company.
  package var manufacturerData: [UInt16: Frame] = [:]
}

/// A characteristic as a device file names it.
package struct DeviceCharacteristic: Sendable, Hashable, CustomStringConvertible {
  package let service: UUID?
  package let uuid: UUID

  package var description: String { service.map { "\($0)/\(uuid)" } ?? "\(uuid)" }

  /// - Throws: GATTError, which a UUID never is.
  package var selector: Selector { get throws(GATTError) { try Selector(description) } }

  /// They may be the same.
  package func isLike(_ other: Self) -> Bool { uuid == other.uuid && (service == nil || other.service == nil || service == other.service) }
}

/// A frame that the device sends by itself.
package struct DeviceEvent: Sendable, Equatable {
  package var name: String
  package var summary: String?
  package var from: DeviceCharacteristic
  package var frame: Frame
}
