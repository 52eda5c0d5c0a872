package import ATT
package import Bluetooth
package import Finding
package import GATT
package import Text
package import Values

/// The attributes found by the last full discovery of each device, for use without a connection. Stored as a log like `ScannedDevices`.
package struct KnownAttributes: Sendable, Equatable {
  package struct Item: Sendable, Equatable {
    package let service: UUID
    package let uuid: UUID
    /// The handle of the characteristic's value.
    package let handle: AttributeHandle
    package let properties: Properties
    /// The contents of the characteristic's descriptors. Empty if unread, or beyond the limits.
    package let description: ValueDescription

    package init(
      service: UUID, uuid: UUID, handle: AttributeHandle, properties: Properties, description: ValueDescription = ValueDescription()
    ) {
      self.service = service
      self.uuid = uuid
      self.handle = handle
      self.properties = properties
      let name = description.userDescription.flatMap { $0.utf8.count > ScannedDevices.longestName ? nil : $0 }
      self.description = ValueDescription(
        userDescription: name, formats: description.formats.count > KnownAttributes.mostFormats ? [] : description.formats)
    }
  }

  /// The attributes of one device.
  package struct Record: Sendable, Equatable {
    /// The adapter's air. On another air, the address may belong to another device.
    package let air: String
    package let peer: PeerAddress
    /// The name that the device advertised.
    package let name: UntrustedText?
    /// The selector that found the device, if not the device's address.
    package let selector: PeerSelector?
    /// The characteristics in the order of their handles.
    package let items: [Item]

    package init(air: String, peer: PeerAddress, name: UntrustedText?, selector: PeerSelector?, items: [Item]) {
      self.air = air
      self.peer = peer
      self.name = name.flatMap { $0.raw.utf8.count > ScannedDevices.longestName ? nil : $0 }
      if case .address? = selector { self.selector = nil } else { self.selector = selector }
      self.items = Array(items.prefix(KnownAttributes.longest))
    }

    /// Whether a selector means this device.
    package func isMeant(by selector: PeerSelector) -> Bool {
      selector.means(peer, named: name) || self.selector.map { selector.isSame(as: $0) } ?? false
    }
  }

  /// The records, latest first. Each device of an air has one record.
  package private(set) var records: [Record] = []

  /// The maximum number of characteristics of a device. A record omits further ones.
  package static let longest = 256
  /// The maximum number of formats of a value.
  static let mostFormats = 8
  /// The maximum number of devices.
  package static let capacity = 64
  /// The maximum size of the log in bytes, below the size at which `StateLog` rewrites a log.
  static let size = 48 << 10

  /// Parses a log, latest record first, up to `limit` records.
  package init(parsing log: [UInt8], limit: Int = KnownAttributes.capacity, where isWanted: (Record) -> Bool = { _ in true }) {
    for line in log.split(separator: 0x0A).reversed() where records.count < limit {
      guard Record.head(of: line).map(isWanted) ?? true, let record = Record(parsing: line), isWanted(record),
        !records.contains(where: { $0.air == record.air && $0.peer == record.peer })
      else { continue }
      records.append(record)
    }
  }

  /// The shortest equivalent log, up to `size` bytes.
  package var log: [UInt8] {
    var (lines, size): ([[UInt8]], Int) = ([], 0)
    for line in records.lazy.map(\.line) {
      size += line.count
      guard size <= Self.size else { break }
      lines.append(line)
    }
    return lines.reversed().flatMap(\.self)
  }
}

extension KnownAttributes.Record {
  /// Parses a log line without its attributes, to identify the device. Nil if the line is not a record.
  fileprivate static func head(of line: ArraySlice<UInt8>) -> Self? {
    let mark = Array(#","attributes":["#.utf8)
    // Strings cannot contain the mark, because JSON escapes quotation marks.
    guard let place = line.indices.first(where: { line[$0] == mark[0] && line[$0...].starts(with: mark) }) else { return nil }
    return Self(parsing: line[..<place] + mark + Array("]}".utf8))
  }

  /// Parses a log line. Nil if the line is not a record.
  init?(parsing line: some Collection<UInt8>) {
    guard let tree = try? JSONTree.parse(Array(line)), let air = tree["air"]?.string, case .array(let entries)? = tree["attributes"]?.kind,
      case .address(let address, let type?)? = tree["peer"]?.string.flatMap({ PeerSelector($0) })
    else { return nil }
    let items = entries.prefix(KnownAttributes.longest).compactMap { entry -> KnownAttributes.Item? in
      guard let service = entry["service"]?.string.flatMap({ UUID($0) }), let uuid = entry["uuid"]?.string.flatMap({ UUID($0) }),
        let handle = entry["handle"]?.integer.flatMap({ UInt16(exactly: $0) }), handle > 0,
        let properties = entry["properties"]?.integer.flatMap({ UInt8(exactly: $0) })
      else { return nil }
      var formats: [PresentationFormat] = []
      if case .array(let values)? = entry["formats"]?.kind {
        formats = values.compactMap { $0.string.flatMap { Hex.decode($0) }.flatMap { PresentationFormat($0) } }
        // A list with a missing part would have another meaning.
        if formats.count != values.count { formats = [] }
      }
      return .init(
        service: service, uuid: uuid, handle: AttributeHandle(rawValue: handle), properties: Properties(rawValue: properties),
        description: ValueDescription(userDescription: entry["user_description"]?.string, formats: formats))
    }
    self.init(
      air: air, peer: PeerAddress(address, type), name: tree["name"]?.string.map { UntrustedText($0) },
      selector: tree["found_by"]?.string.flatMap { PeerSelector($0) }, items: items)
  }

  /// The record as a line of the log.
  package var line: [UInt8] {
    var json = RecordWriter()
    json.string("air", air)
    json.string("peer", peer.description)
    if let name { json.string("name", name.raw) }
    if let selector { json.string("found_by", selector.description) }
    json.objects("attributes", items) { json, item in
      json.uuid("service", item.service)
      json.uuid("uuid", item.uuid)
      json.integer("handle", item.handle.rawValue)
      json.integer("properties", item.properties.rawValue)
      if let name = item.description.userDescription { json.string("user_description", name) }
      if !item.description.formats.isEmpty { json.strings("formats", item.description.formats.map { Hex.encode($0.value) }) }
    }
    return json.finished()
  }
}

extension KnownAttributes.Item {
  /// Returns the characteristics of a table. `description` provides the known description of each.
  package static func all(of table: AttributeTable, _ description: (Characteristic) -> ValueDescription) -> [Self] {
    table.services.flatMap { service in
      service.characteristics.map {
        .init(service: service.uuid, uuid: $0.uuid, handle: $0.valueHandle, properties: $0.properties, description: description($0))
      }
    }
  }
}
