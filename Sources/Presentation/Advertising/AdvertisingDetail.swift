package import Bluetooth
package import Finding
import GAP
import Text

/// The lines of `scan -v`: one for each advertised AD structure.
package enum AdvertisingDetail {
  /// Lists a device with the last payload of each PDU type. `paint` colors the first line.
  package static func lines(_ device: DeviceView, _ formats: AdvertisingFormats, paint: (String) -> String) -> [String] {
    var facts = [device.peer.type.rawValue]
    if device.isConnectable { facts.append("connectable") }
    if let interval = device.signal.interval { facts.append("every \(ScanTable.interval(interval))") }
    if let level = device.signal.level { facts.append("\(Int(level.rounded())) dBm") }
    if let power = device.txPower { facts.append("tx \(power) dBm") }
    let name = device.name.map { "\($0)  " } ?? ""
    return [paint("\(name)\(device.peer.address)") + "  " + facts.joined(separator: " · ")]
      + device.payloadsInOrder.flatMap { lines($0.data, of: device.peer, pdu: $0.pdu, formats) }
  }

  /// Lists the AD structures of a payload, with the PDU type on the first line.
  static func lines(_ data: [UInt8], of peer: PeerAddress?, pdu: AdvertisingReport.PDU, _ formats: AdvertisingFormats) -> [String] {
    let label = pdu.rawValue
    return parts(data, of: peer, formats).enumerated().map {
      "  " + ($0 == 0 ? label : String(repeating: " ", count: label.utf8.count)) + "  " + $1
    }
  }

  /// Lists the AD structures of a payload, their errors, and the MACs inside.
  package static func parts(_ data: [UInt8], of peer: PeerAddress?, _ formats: AdvertisingFormats) -> [String] {
    let advertisement = Advertisement(data)
    var parts = advertisement.structures.map { line($0, sender: peer?.address, formats) }
    if parts.isEmpty { parts = ["(empty)"] }
    if let error = advertisement.error { parts.append("(malformed: \(error))") }
    if let peer, case .found(let macs) = MACFinder.find(in: advertisement, sender: peer) {
      // Omit guesses, which would look like facts.
      parts += macs.filter { $0.confidence > .low }.map { "→ MAC \($0.text) in \($0.source), offset \($0.offset), \($0.rule)" }
    }
    return parts
  }

  static func line(_ structure: ADStructure, sender: Address?, _ formats: AdvertisingFormats) -> String {
    let name = ADType.name(structure.type) ?? "AD type 0x\(Hex.encode([structure.type]))"
    return "\(name)  \(value(structure, sender, formats))"
  }

  /// Returns the meaning of an AD structure if known, with its bytes if they add information.
  private static func value(_ structure: ADStructure, _ sender: Address?, _ formats: AdvertisingFormats) -> String {
    // The parser needs an advertisement, so wrap the structure in one.
    let alone = Advertisement(structures: [structure]) ?? Advertisement([])
    let octets = Hex.encode(structure.data)
    switch structure.type {
    case ADType.flags: return alone.flags.map { "\(flags($0)) (\(octets))" } ?? octets
    case ADType.shortenedLocalName, ADType.completeLocalName: return "\"\(DisplayText.escape(structure.data))\""
    case ADType.txPowerLevel: return alone.txPower.map { "\($0) dBm" } ?? octets
    case ADType.appearance:
      return alone.appearance.flatMap { AssignedNumbers.appearance($0) }.map { "\($0) (\(octets))" } ?? octets
    case ADType.classOfDevice: return ClassOfDevice(structure.data).map { "\($0) (\(octets))" } ?? octets
    case ADType.manufacturerData:
      guard let (company, data) = alone.manufacturerData.first else { return octets }
      let id = Hex.encode(company)
      return "\(id) \(AssignedNumbers.company(company) ?? "(unknown company)")  \(Hex.encode(data))"
        + meaning(DecodedData.manufacturer(company, data)) + meaning(formats.described(company, data))
    case ADType.serviceData16, ADType.serviceData32, ADType.serviceData128:
      guard let (uuid, data) = alone.serviceData.first else { return octets }
      return "\(named(uuid))  \(Hex.encode(data))" + meaning(formats.service(uuid, data, sender: sender))
    default:
      let uuids = alone.serviceUUIDs + alone.solicitedUUIDs
      if !uuids.isEmpty { return uuids.map(named).joined(separator: ", ") }
      return ADStructureText.meaning(structure).map { "\($0) (\(octets))" } ?? octets
    }
  }

  private static func named(_ uuid: UUID) -> String { AssignedNumbers.name(of: uuid).map { "\(uuid) \($0)" } ?? uuid.description }

  private static func meaning(_ data: DecodedData?) -> String { data.map { "  \(DisplayText.escape(AdvertisedText.line($0)))" } ?? "" }

  /// Lists the names of the flags (Core Specification Supplement, Part A §1.3).
  private static func flags(_ bits: UInt8) -> String {
    let names = [
      "LE Limited Discoverable", "LE General Discoverable", "BR/EDR Not Supported", "LE and BR/EDR Controller", "LE and BR/EDR Host",
    ]
    let set = names.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
    return set.isEmpty ? "none" : set.joined(separator: ", ")
  }
}
