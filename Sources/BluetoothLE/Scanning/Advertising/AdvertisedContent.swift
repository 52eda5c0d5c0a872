// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The content of a device's advertisements, as a user describes it. `advertising()` lays it out in AD structures (CSS Part A §1).
package struct AdvertisedContent: Sendable, Equatable {
  /// The complete local name. Nil for none.
  package var name: String?
  package var services: [UUID] = []
  package var manufacturerData: [ManufacturerData] = []
  package var beacon: IBeacon?
  /// Measurements in BTHome v2, each as `NAME=VALUE`: `temperature=21.5`, `door=open`, `mass=70kg`.
  package var measurements: [String] = []
  /// The whole advertising data, which replaces the content above. Nil to lay the content out.
  package var raw: [UInt8]?
  /// The whole scan response data. Nil if the content may use the scan response.
  package var scanResponse: [UInt8]?
  package var isConnectable = true
  package var isExtended = false

  package struct ManufacturerData: Sendable, Equatable {
    package var company: UInt16
    /// The data after the company identifier.
    package var data: [UInt8]

    package init(company: UInt16, data: [UInt8]) { (self.company, self.data) = (company, data) }
  }

  package init() {}

  /// The maximum length of the data in legacy PDUs, and of that in extended ones (Vol 6 Part B §2.3.1, §2.3.4.9).
  static let (legacyLimit, extendedLimit) = (31, ExtendedReportReassembler.maximumData)

  /// Lays out the content: Flags first, then the other structures. A structure that does not fit in the advertising data is in the scan
  /// response. Extended advertising data holds all of them. An extended advertisement with a scan response has no data, not even Flags.
  /// - Throws: AdvertisedContentError for content that does not fit, or that no structure can hold.
  package func advertising() throws(AdvertisedContentError) -> Advertising {
    var advertising = Advertising()
    (advertising.isConnectable, advertising.isExtended) = (isConnectable, isExtended)
    let limit = isExtended ? Self.extendedLimit : Self.legacyLimit
    for (item, data) in [("the raw data", raw), ("the scan response", scanResponse)] {
      if let data, data.count > limit { throw .tooLong(item, bytes: data.count, limit: limit) }
    }
    advertising.scanResponse = scanResponse ?? []
    let parts = try structures()
    if isExtended, scanResponse?.isEmpty == false {
      guard !isConnectable, parts.isEmpty, raw?.isEmpty ?? true else { throw .extendedScanResponse }
      return advertising
    }
    if let raw {
      guard parts.isEmpty else { throw .rawAndContent }
      advertising.data = raw
      return advertising
    }
    let flags: [UInt8] = [2, ADType.flags, 0x06]
    let rooms = (limit - flags.count, isExtended || scanResponse != nil ? 0 : Self.legacyLimit)
    guard let isInData = Self.places(of: parts.map(\.bytes.count)[...], rooms) else { throw Self.misfit(parts, rooms, isExtended) }
    advertising.data = flags
    for (part, isInData) in zip(parts, isInData) {
      if isInData { advertising.data += part.bytes } else { advertising.scanResponse += part.bytes }
    }
    return advertising
  }

  private typealias Part = (name: String, bytes: [UInt8])

  /// Returns the structures after Flags, in order, and their names for messages.
  private func structures() throws(AdvertisedContentError) -> [Part] {
    var parts: [Part] = []
    func add(_ name: String, _ type: UInt8, _ data: [UInt8]) throws(AdvertisedContentError) {
      guard let bytes = ADStructure(type: type, data: data).encoded else { throw .tooLong(name, bytes: data.count, limit: 254) }
      parts.append((name, bytes))
    }
    func add(_ item: ManufacturerData, _ name: String) throws(AdvertisedContentError) {
      try add(name, ADType.manufacturerData, [UInt8(truncatingIfNeeded: item.company), UInt8(item.company >> 8)] + item.data)
    }
    if let beacon { try add(beacon.manufacturerData, "the iBeacon") }
    if !measurements.isEmpty {
      try add("the BTHome data", ADType.serviceData16, UUID(0xFCD2).attBytes + (try BTHome.encode(measurements)))
    }
    let (short, long) = (services.filter { $0.short != nil }, services.filter { $0.short == nil })
    if !short.isEmpty { try add("the list of 16-bit services", ADType.serviceUUIDs16, short.flatMap(\.attBytes)) }
    if !long.isEmpty { try add("the list of 128-bit services", ADType.serviceUUIDs128, long.flatMap(\.littleEndianBytes)) }
    for item in manufacturerData { try add(item, "the manufacturer data of 0x\(Hex.encode(item.company))") }
    if let name { try add("the name", ADType.completeLocalName, Array(name.utf8)) }
    return parts
  }

  /// Finds a place for each structure, in the advertising data (true) if possible. Nil if they do not fit.
  private static func places(of sizes: ArraySlice<Int>, _ rooms: (data: Int, response: Int)) -> [Bool]? {
    guard let size = sizes.first else { return [] }
    guard sizes.reduce(0, +) <= rooms.data + rooms.response else { return nil }
    if size <= rooms.data, let rest = places(of: sizes.dropFirst(), (rooms.data - size, rooms.response)) { return [true] + rest }
    guard size <= rooms.response else { return nil }
    return places(of: sizes.dropFirst(), (rooms.data, rooms.response - size)).map { [false] + $0 }
  }

  /// Returns the error that names the first structure without a place.
  private static func misfit(_ parts: [Part], _ rooms: (data: Int, response: Int), _ isExtended: Bool) -> AdvertisedContentError {
    var (data, response) = rooms
    for part in parts {
      if part.bytes.count <= data {
        data -= part.bytes.count
      } else if part.bytes.count <= response {
        response -= part.bytes.count
      } else {
        return .doesNotFit(part.name, bytes: part.bytes.count, freeInData: data, freeInScanResponse: response, isExtended: isExtended)
      }
    }
    return .tooLong("the content", bytes: parts.reduce(0) { $0 + $1.bytes.count }, limit: rooms.data + rooms.response)
  }
}

/// The content of an iBeacon (Apple, Proximity Beacon Specification 1.0).
package struct IBeacon: Sendable, Equatable {
  package var uuid: UUID
  package var major: UInt16
  package var minor: UInt16
  /// The RSSI at a distance of 1 m, in dBm.
  package var power: Int8

  package init(uuid: UUID, major: UInt16, minor: UInt16, power: Int8 = -59) {
    (self.uuid, self.major, self.minor, self.power) = (uuid, major, minor, power)
  }

  /// Parses `UUID/MAJOR/MINOR` or `UUID/MAJOR/MINOR/POWER`.
  package init(parsing text: String) throws(AdvertisedContentError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (3...4).contains(parts.count), let uuid = UUID(parts[0]), let major = UInt16(parts[1]), let minor = UInt16(parts[2]),
      let power = parts.count == 4 ? Int8(parts[3]) : -59
    else { throw .invalidBeacon(text) }
    self.init(uuid: uuid, major: major, minor: minor, power: power)
  }

  var manufacturerData: AdvertisedContent.ManufacturerData {
    let numbers = [major, minor].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    return .init(company: 0x004C, data: [0x02, 0x15] + uuid.littleEndianBytes.reversed() + numbers + [UInt8(bitPattern: power)])
  }
}

/// The reason why advertisements cannot have the described content.
package enum AdvertisedContentError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A structure has no place. The number of its bytes includes length and type.
  case doesNotFit(String, bytes: Int, freeInData: Int, freeInScanResponse: Int, isExtended: Bool)
  case tooLong(String, bytes: Int, limit: Int)
  /// The content has raw advertising data and also structures.
  case rawAndContent
  /// An extended advertisement that is connectable or has data also has a scan response (Vol 4 Part E §7.8.53).
  case extendedScanResponse
  case invalidBeacon(String)
  case unknownMeasurement(String, names: [String])
  /// A value that no object with this name can hold.
  case invalidMeasurement(name: String, value: String, allowed: [String])

  package var description: String {
    switch self {
    case .doesNotFit(let part, let bytes, let data, let response, let isExtended):
      let rooms = "\(data) free in the advertisement" + (isExtended ? "" : " and \(response) in the scan response")
      return "Cannot advertise \(part): it has \(bytes) bytes, with \(rooms)."
        + (isExtended ? "" : " Advertise less, or use extended advertising.")
    case .tooLong(let part, let bytes, let limit): return "Cannot advertise \(part): \(bytes) bytes (maximum \(limit))."
    case .rawAndContent: return "Raw advertising data replaces all other content. Give one of them."
    case .extendedScanResponse: return "An extended advertisement cannot have a scan response if it is connectable or has data."
    case .invalidBeacon(let text):
      return "Invalid iBeacon \(DisplayText.quote(text)). Use UUID/MAJOR/MINOR, and perhaps /POWER in dBm."
    case .unknownMeasurement(let text, let names):
      return "Unknown measurement \(DisplayText.quote(text)). Use NAME=VALUE with: \(names.joined(separator: ", "))."
    case .invalidMeasurement(let name, let value, let allowed):
      return "Cannot advertise \(DisplayText.quote(value)) as \(name). Use \(allowed.joined(separator: ", or "))."
    }
  }
}
