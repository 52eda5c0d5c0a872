package import Bluetooth
import GAP
import Text

/// Which devices of a scan are of interest. What is nil does not matter; the rest must all hold.
package struct ScanFilter: Sendable, Equatable {
  /// A glob, case-insensitive.
  package var name: String?
  /// Advertised, or with data in the advertisement.
  package var service: UUID?
  package var address: Address?
  package var manufacturer: Manufacturer?
  /// dBm, of the report itself.
  package var minimumRSSI: Int?

  /// A company, and how its data begins.
  package struct Manufacturer: Sendable, Equatable {
    package let company: UInt16
    package let prefix: [UInt8]

    package init(company: UInt16, prefix: [UInt8] = []) {
      self.company = company
      self.prefix = prefix
    }
  }

  package init() {}

  /// - Parameter device: all that was heard of its sender, this report included.
  func passes(_ report: AdvertisingReport, of device: DeviceView) -> Bool {
    if let minimumRSSI { guard let rssi = report.rssi, Int(rssi) >= minimumRSSI else { return false } }
    if let address { guard report.peer?.address == address else { return false } }
    if let name { guard let heard = device.name, Glob.matches(name, heard) else { return false } }
    if let service { guard device.services.contains(service) else { return false } }
    if let manufacturer {
      guard device.manufacturerData.contains(where: { $0.company == manufacturer.company && $0.data.starts(with: manufacturer.prefix) })
      else { return false }
    }
    return true
  }
}
