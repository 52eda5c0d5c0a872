package import BluetoothLE
package import BluetoothLEDeviceFiles
import BluetoothLEText

/// The text of `scan -v`, with one line for each AD structure that a device advertises.
package enum AdvertisingDetail {
  /// Returns a line with facts about a device, then the AD structures of its latest payload of each PDU type. `paint` colors the facts.
  package static func lines(_ device: DeviceView, _ formats: AdvertisingFormats, paint: (String) -> String) -> [String] {
    var facts = [device.peer.type.rawValue]
    if device.isConnectable { facts.append("connectable") }
    if let interval = device.signal.interval { facts.append("every \(ScanTable.interval(interval))") }
    if let level = device.signal.level { facts.append("\(Int(level.rounded())) dBm") }
    if let power = device.txPower ?? device.reportTxPower { facts.append("tx \(power) dBm") }
    let name = device.name.map { "\($0)  " } ?? ""
    return [paint("\(name)\(device.peer.address)") + "  " + facts.joined(separator: " · ")]
      + device.payloadsInOrder.flatMap { lines($0.data, isCut: device.truncated.contains($0.pdu), of: device.peer, pdu: $0.pdu, formats) }
  }

  /// Returns one line for each AD structure of a payload. Puts the PDU type before the first line.
  static func lines(
    _ data: [UInt8], isCut: Bool, of peer: PeerAddress?, pdu: AdvertisingReport.PDU, _ formats: AdvertisingFormats
  ) -> [String] {
    let label = pdu.rawValue
    return parts(data, isCut: isCut, of: peer, formats, remarks: true).enumerated().map {
      "  " + ($0 == 0 ? label : String(repeating: " ", count: label.utf8.count)) + "  " + $1
    }
  }

  /// Returns one text for each AD structure of a payload, for its format error, and for each MAC inside.
  /// - Parameters:
  ///   - isCut: Whether the end of the data is missing. The last text is then the beginning of the incomplete structure, if any.
  ///   - remarks: Whether to remark on the order of BTHome objects.
  package static func parts(
    _ data: [UInt8], isCut: Bool = false, of peer: PeerAddress?, _ formats: AdvertisingFormats, remarks: Bool = false
  ) -> [String] {
    let advertisement = Advertisement(data)
    let deviceName = advertisement.displayName?.raw
    var parts = advertisement.structures.map { line($0, sender: peer?.address, formats, name: deviceName) }
    if isCut { parts.append(contentsOf: cut(advertisement)) }
    if parts.isEmpty { parts = ["(empty)"] }
    if remarks { parts += advertisement.serviceData.compactMap { remark(formats.service($0.uuid, $0.data, sender: peer?.address)) } }
    if let error = advertisement.error(isCut: isCut) { parts.append("(malformed: \(error))") }
    if let peer, case .found(let macs) = MACFinder.find(in: advertisement, sender: peer) {
      // Omit guesses, which would look like facts.
      parts += macs.filter { $0.confidence > .low }.map { "→ MAC \($0.text) in \($0.source), offset \($0.offset), \($0.rule)" }
    }
    return parts
  }

  /// Returns the beginning of the structure whose end is missing, and how much of it is there.
  private static func cut(_ advertisement: Advertisement) -> [String] {
    guard let (beginning, length) = advertisement.incomplete else { return ["(cut)"] }
    guard let beginning else { return ["(cut: 1 of \(length + 1) bytes)"] }
    let isName = [ADType.shortenedLocalName, ADType.completeLocalName, ADType.broadcastName].contains(beginning.type)
    let text = isName ? "\"\(DisplayText.escape(beginning.data))\"" : Hex.encode(beginning.data)
    return ["\(name(beginning.type))  \(text)", "(cut: \(beginning.data.count + 2) of \(length + 1) bytes)"]
  }

  private static func name(_ type: UInt8) -> String { ADType.name(type) ?? "AD type 0x\(Hex.encode(type))" }

  private static func line(_ structure: ADStructure, sender: Address?, _ formats: AdvertisingFormats, name local: String?) -> String {
    "\(name(structure.type))  \(value(structure, sender, formats, local))"
  }

  /// Returns the meaning of an AD structure and its bytes. Omits the bytes if the meaning contains all information.
  private static func value(_ structure: ADStructure, _ sender: Address?, _ formats: AdvertisingFormats, _ local: String?) -> String {
    // The parser needs an advertisement, so wrap the structure in one.
    let alone = Advertisement(structures: [structure]) ?? Advertisement([])
    let bytes = Hex.encode(structure.data)
    switch structure.type {
    case ADType.flags: return alone.flags.map { "\(flags($0)) (\(bytes))" } ?? bytes
    case ADType.shortenedLocalName, ADType.completeLocalName, ADType.broadcastName: return "\"\(DisplayText.escape(structure.data))\""
    case ADType.txPowerLevel: return alone.txPower.map { "\($0) dBm" } ?? bytes
    case ADType.appearance:
      return alone.appearance.flatMap { AssignedNumbers.appearance($0) }.map { "\($0) (\(bytes))" } ?? bytes
    case ADType.classOfDevice: return ClassOfDevice(structure.data).map { "\($0) (\(bytes))" } ?? bytes
    case ADType.manufacturerData:
      guard let (company, data) = alone.manufacturerData.first else { return bytes }
      let id = Hex.encode(company)
      return "\(id) \(AssignedNumbers.company(company) ?? "(unknown company)")  \(Hex.encode(data))"
        + meaning(DecodedData.manufacturer(company, data, name: local)) + meaning(formats.described(company, data))
    case ADType.serviceData16, ADType.serviceData32, ADType.serviceData128:
      guard let (uuid, data) = alone.serviceData.first else { return bytes }
      return "\(named(uuid))  \(Hex.encode(data))" + meaning(formats.service(uuid, data, sender: sender))
    default:
      let uuids = alone.serviceUUIDs + alone.solicitedUUIDs
      if !uuids.isEmpty { return uuids.map(named).joined(separator: ", ") }
      return ADStructureText.meaning(structure).map { "\($0) (\(bytes))" } ?? bytes
    }
  }

  /// Returns what the format of BTHome forbids or leaves to receivers: objects out of order, and repeated ones.
  private static func remark(_ data: DecodedData?) -> String? {
    guard let ids = data?.objectIDs, ids.count > 1 else { return nil }
    func list(_ ids: [UInt8]) -> String { ids.map { "0x" + Hex.encode($0) }.joined(separator: ", ") }
    let repeated = Set(ids.filter { id in ids.count { $0 == id } > 1 }).sorted()
    let texts = [
      ids == ids.sorted() ? nil : "The BTHome objects are out of order (\(list(ids))). Some receivers ignore them.",
      repeated.isEmpty ? nil : "BTHome objects are repeated (\(list(repeated))). Receivers number them in order.",
    ].compactMap(\.self)
    return texts.isEmpty ? nil : "→ " + texts.joined(separator: " ")
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
    // §1.19. Trailing zeros may be left out.
    case (ADType.leSupportedFeatures, 1...):
      let names = LEFeatures.names(data)
      return names.isEmpty ? "none" : names.joined(separator: ", ")
    default: return nil
    }
  }

  /// Decodes bytes as a little-endian unsigned number.
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

  private static func interval(_ number: UInt64, _ unit: Double) -> String { "\((Double(number) * unit).plainText) ms" }
}
