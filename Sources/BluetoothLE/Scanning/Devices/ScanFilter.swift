// SPDX-License-Identifier: Apache-2.0
/// A filter for scanned devices. Each list that is not empty must match with at least one entry.
package struct ScanFilter: Sendable, Equatable {
  package var names: [NamePattern] = []
  /// The wanted service UUIDs, each in the device's service list or with service data.
  package var services: [UUID] = []
  package var devices: [PeerSelector] = []
  /// The wanted MACs inside the advertising data.
  package var macs: [Address] = []
  package var manufacturers: [Manufacturer] = []
  /// The minimum RSSI of a report in dBm. Weaker reports do not count for the displayed strength and age. Nil means no minimum.
  package var minimumRSSI: Int?

  /// A glob for the whole name, or a text anywhere in the name. Ignores case.
  package struct NamePattern: Sendable, Equatable {
    package let text: String
    private let glob: Glob

    package init(_ text: String) {
      self.text = text
      glob = Glob(text.contains { "*?[\\".contains($0) } ? text : "*\(text)*")
    }

    package static func == (one: Self, other: Self) -> Bool { one.text == other.text }

    func matches(_ name: String) -> Bool { glob.matches(name) }
  }

  /// A company identifier, and the first bytes of the manufacturer data after the identifier.
  package struct Manufacturer: Sendable, Equatable {
    package let company: UInt16
    package let prefix: [UInt8]

    package init(company: UInt16, prefix: [UInt8] = []) { (self.company, self.prefix) = (company, prefix) }

    func matches(_ item: (company: UInt16, data: [UInt8])) -> Bool { item.company == company && item.data.starts(with: prefix) }
  }

  /// Whether the filter passes every report.
  package var isEmpty: Bool { self == Self() }

  func isStrongEnough(_ report: AdvertisingReport) -> Bool { minimumRSSI.map { limit in report.rssi.map { $0 >= limit } ?? false } ?? true }

  /// Returns whether a report passes the filter.
  /// - Parameter device: The facts from all reports of the sender, including this report.
  func passes(_ report: AdvertisingReport, of device: DeviceView) -> Bool {
    guard isStrongEnough(report) else { return false }
    if !devices.isEmpty { guard report.peer != nil, devices.contains(where: { $0.matches(device) }) else { return false } }
    if !macs.isEmpty { guard macs.contains(where: { PeerSelector.mac($0).matches(device) }) else { return false } }
    if !names.isEmpty { guard let name = device.name, names.contains(where: { $0.matches(name.raw) }) else { return false } }
    if !services.isEmpty { guard services.contains(where: { device.services.contains($0) }) else { return false } }
    return manufacturers.isEmpty || device.hasWantedManufacturer
  }
}
