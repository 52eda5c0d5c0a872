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
    let text = beginning.isName ? "\"\(DisplayText.escape(beginning.data))\"" : Hex.encode(beginning.data)
    return ["\(name(beginning.type))  \(text)", "(cut: \(beginning.data.count + 2) of \(length + 1) bytes)"]
  }

  private static func name(_ type: UInt8) -> String { ADType.name(type) ?? "AD type 0x\(Hex.encode(type))" }

  private static func line(_ structure: ADStructure, sender: Address?, _ formats: AdvertisingFormats, name local: String?) -> String {
    "\(name(structure.type))  \(value(structure, sender, formats, local))"
  }

  /// Returns the meaning of an AD structure and its bytes. Omits the bytes if the meaning contains all information.
  private static func value(_ structure: ADStructure, _ sender: Address?, _ formats: AdvertisingFormats, _ local: String?) -> String {
    let octets = Hex.encode(structure.data)
    if structure.isName { return "\"\(DisplayText.escape(structure.data))\"" }
    if let power = structure.txPower { return "\(power) dBm" }
    if let (company, data) = structure.manufacturerData {
      return "\(Hex.encode(company)) \(AssignedNumbers.company(company) ?? "(unknown company)")  \(Hex.encode(data))"
        + meaning(DecodedData.manufacturer(company, data, name: local)) + meaning(formats.described(company, data))
    }
    if let (uuid, data) = structure.serviceData {
      return "\(named(uuid))  \(Hex.encode(data))" + meaning(formats.service(uuid, data, sender: sender))
    }
    let uuids = structure.serviceUUIDs + structure.solicitedUUIDs
    if !uuids.isEmpty { return uuids.map(named).joined(separator: ", ") }
    return meaning(structure).map { "\($0) (\(octets))" } ?? octets
  }

  /// Returns the meaning of an AD structure that the bytes complete. Returns nil for an unknown type, length or value.
  private static func meaning(_ structure: ADStructure) -> String? {
    func interval(_ number: UInt64, _ unit: Double) -> String { "\((Double(number) * unit).plainText) ms" }
    if let bits = structure.flags { return flags(bits) }
    if let appearance = structure.appearance { return AssignedNumbers.appearance(appearance) }
    if let device = structure.classOfDevice { return device.description }
    if let (least, greatest) = structure.connectionInterval {
      let bounds = [least, greatest].map { $0 == 0xFFFF ? "any" : interval($0, 1.25) }
      return bounds[0] == bounds[1] ? bounds[0] : "\(bounds[0]) to \(bounds[1])"
    }
    if let number = structure.advertisingInterval { return interval(number, 0.625) }
    if let (peer, _) = structure.leDeviceAddress { return peer.description }
    if let role = structure.role {
      let roles = [
        "peripheral only", "central only", "peripheral and central, peripheral preferred", "peripheral and central, central preferred",
      ]
      return Int(role) < roles.count ? roles[Int(role)] : nil
    }
    if let (scheme, rest) = structure.uri { return DisplayText.isPrintable(rest) ? scheme + DisplayText.escape(rest) : nil }
    guard let names = structure.leFeatures.map(LEFeatures.names) else { return nil }
    return names.isEmpty ? "none" : names.joined(separator: ", ")
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
