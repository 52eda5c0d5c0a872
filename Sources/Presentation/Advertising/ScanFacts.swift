package import BluetoothLE
package import BluetoothLEDeviceFiles
import BluetoothLEText

/// The facts in a device's advertisements, the most specific first. The company is last, because many devices share it.
package struct ScanFacts {
  /// The MAC inside the advertisement, or `same` if that MAC is the sender's address. Nil without a MAC of medium or high confidence.
  package private(set) var mac: String?
  package private(set) var others: [String] = []

  package init(_ device: DeviceView, _ formats: AdvertisingFormats) {
    let advertisements = device.advertisements
    mac = Self.mac(of: device).flatMap { $0.matchesSender == true ? ($0.isPartial ? nil : "same") : $0.text }
    var decoded: [String] = []
    var services: [String] = []
    var data: [String] = []
    var companies: [String] = []
    for advertisement in advertisements {
      for uuid in advertisement.serviceUUIDs { Self.add(AssignedNumbers.name(of: uuid) ?? uuid.description, to: &services) }
      for item in advertisement.serviceData {
        if let known = formats.service(item.uuid, item.data, sender: device.peer.address) {
          Self.add(AdvertisedText.line(known), to: &decoded)
        } else {
          Self.add("\(item.uuid)=\(Hex.encode(item.data))", to: &data)
        }
      }
      for item in advertisement.manufacturerData {
        let (known, described) = (
          DecodedData.manufacturer(item.company, item.data, name: device.name?.raw), formats.described(item.company, item.data)
        )
        if let known { Self.add(AdvertisedText.line(known), to: &decoded) }
        if let described { Self.add(AdvertisedText.line(described), to: &decoded) }
        // Show the bytes of data that do not fit the device file.
        if known != nil || described.map({ $0.problem == nil }) ?? false { continue }
        let id = Hex.encode(item.company)
        Self.add("\(id):\(Hex.encode(item.data))", to: &data)
        if let name = AssignedNumbers.company(item.company) { Self.add(name, to: &companies) }
      }
    }
    others += decoded
    if !services.isEmpty { others.append(services.joined(separator: ", ")) }
    others += data
    if let power = device.txPower ?? device.reportTxPower { others.append("tx \(power) dBm") }
    others += companies
  }

  private static func add(_ text: String, to list: inout [String]) { if !list.contains(text) { list.append(text) } }

  /// Finds the MAC inside the advertisements of a device. Returns nil without a MAC of medium or high confidence.
  static func mac(of device: DeviceView) -> FoundMAC? {
    let advertisements = device.advertisements
    return advertisements.lazy.compactMap { advertisement in
      // Omit guesses, which would look like facts.
      guard case .found(let macs) = MACFinder.find(in: advertisement, beside: advertisements, sender: device.peer), let mac = macs.first,
        mac.confidence > .low
      else { return nil }
      return mac
    }.first
  }
}
