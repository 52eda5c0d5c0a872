// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// The characteristics that the last full discovery of each device found, for use without a connection. A log stores one record per line.
package struct KnownAttributes: Sendable, Equatable {
  package struct Item: Sendable, Equatable {
    package let service: UUID
    package let uuid: UUID
    /// The handle of the characteristic's value.
    package let handle: AttributeHandle
    package let properties: Properties
    /// The contents of the characteristic's descriptors. Empty if no client read them, or if they exceed the limits.
    package let description: ValueDescription

    package init(
      service: UUID, uuid: UUID, handle: AttributeHandle, properties: Properties, description: ValueDescription = ValueDescription()
    ) {
      (self.service, self.uuid, self.handle, self.properties) = (service, uuid, handle, properties)
      let name = description.userDescription.flatMap { $0.utf8.count > HeardDevices.longestName ? nil : $0 }
      self.description = ValueDescription(
        userDescription: name, formats: description.formats.count > KnownAttributes.mostFormats ? [] : description.formats)
    }
  }

  /// The known characteristics of one device.
  package struct Record: Sendable, Equatable {
    /// The name of the adapter's air (radio environment). In another air, the address may belong to another device.
    package let air: String
    package let peer: PeerAddress
    /// The name that the device advertised. Nil if unknown or longer than `HeardDevices.longestName` bytes.
    package let name: UntrustedText?
    /// The selector that found the device. Nil if that selector was an address.
    package let selector: PeerSelector?
    /// The characteristics in the order of their handles, at most `KnownAttributes.longest`.
    package let items: [Item]

    package init(air: String, peer: PeerAddress, name: UntrustedText?, selector: PeerSelector?, items: [Item]) {
      self.air = air
      self.peer = peer
      self.name = name.flatMap { $0.raw.utf8.count > HeardDevices.longestName ? nil : $0 }
      if case .address? = selector { self.selector = nil } else { self.selector = selector }
      self.items = Array(items.prefix(KnownAttributes.longest))
    }

    /// Returns whether a selector means this device, by its address, its name or the selector that found it.
    package func isMeant(by selector: PeerSelector) -> Bool {
      selector.means(peer, named: name) || self.selector.map { selector.isSame(as: $0) } ?? false
    }
  }

  /// The records, latest first. Each device of an air has one record.
  package private(set) var records: [Record] = []

  /// The maximum number of characteristics of a device. A record omits further characteristics.
  package static let longest = 256
  /// The maximum number of presentation formats of a stored characteristic.
  static let mostFormats = 8
  /// The maximum number of records that `init(parsing:)` keeps by default.
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

  /// The records as a log, latest record last. Omits the oldest records if the log would exceed `size` bytes.
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
  /// Parses a log line without its attributes, to identify the device. Returns nil if the line is not a record.
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
  /// Returns the characteristics of a table, each with the description that `description` returns.
  package static func all(of table: AttributeTable, _ description: (Characteristic) -> ValueDescription) -> [Self] {
    table.services.flatMap { service in
      service.characteristics.map {
        .init(service: service.uuid, uuid: $0.uuid, handle: $0.valueHandle, properties: $0.properties, description: description($0))
      }
    }
  }
}
