package import Bluetooth
package import Finding
import GAP
import Text

/// The text of `scan -v`, with one line for each AD structure that a device advertises.
package enum AdvertisingDetail {
  /// Returns a line with facts about a device, then the AD structures of its latest payload of each PDU type. `paint` colors the facts.
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

  /// Returns one line for each AD structure of a payload. Puts the PDU type before the first line.
  static func lines(_ data: [UInt8], of peer: PeerAddress?, pdu: AdvertisingReport.PDU, _ formats: AdvertisingFormats) -> [String] {
    let label = pdu.rawValue
    return parts(data, of: peer, formats).enumerated().map {
      "  " + ($0 == 0 ? label : String(repeating: " ", count: label.utf8.count)) + "  " + $1
    }
  }

  /// Returns one text for each AD structure of a payload, for its format error, and for each MAC inside.
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

  /// Returns the meaning of an AD structure and its bytes. Omits the bytes if the meaning contains all information.
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

  /// Returns the names of the flags that are set in `bits` (Core Specification Supplement, Part A §1.3).
  private static func flags(_ bits: UInt8) -> String {
    let names = [
      "LE Limited Discoverable", "LE General Discoverable", "BR/EDR Not Supported", "LE and BR/EDR Controller", "LE and BR/EDR Host",
    ]
    let set = names.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
    return set.isEmpty ? "none" : set.joined(separator: ", ")
  }
}

/// The meaning of AD structures without a JSON field of their own (Core Specification Supplement, Part A).
enum ADStructureText {
  /// Returns the meaning of an AD structure. Returns nil for an unknown type, length or value.
  static func meaning(_ structure: ADStructure) -> String? {
    let data = structure.data
    switch (structure.type, data.count) {
    // §1.9. 0xFFFF means no specific value.
    case (0x12, 4):
      let bounds = [number(data[..<2]), number(data[2...])].map { $0 == 0xFFFF ? "any" : interval($0, 1.25) }
      return bounds[0] == bounds[1] ? bounds[0] : "\(bounds[0]) to \(bounds[1])"
    // §1.15. The long form has 3 or 4 bytes.
    case (0x1A, 2), (0x2F, 3), (0x2F, 4): return interval(number(data[...]), 0.625)
    // §1.16: bit 0 of the last byte is set for a random address.
    case (ADType.leDeviceAddress, 7):
      return "\(PeerAddress(Address(rawValue: number(data[..<6])), data[6] & 1 == 0 ? .public : .random))"
    // §1.17.
    case (0x1C, 1):
      let roles = [
        "peripheral only", "central only", "peripheral and central, peripheral preferred",
        "peripheral and central, central preferred",
      ]
      return Int(data[0]) < roles.count ? roles[Int(data[0])] : nil
    // §1.18: the first byte is a code for the scheme. 1 marks a complete URI.
    case (ADType.uri, 1...):
      let schemes: [UInt8: String] = [0x01: "", 0x16: "http:", 0x17: "https:"]
      guard let scheme = schemes[data[0]], DisplayText.isPrintable(data[1...]) else { return nil }
      return scheme + DisplayText.escape(data[1...])
    default: return nil
    }
  }

  /// Decodes bytes as a little-endian unsigned number.
  private static func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

  private static func interval(_ number: UInt64, _ unit: Double) -> String { "\((Double(number) * unit).plainText) ms" }
}
